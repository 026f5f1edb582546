from __future__ import annotations

import pytest

from agent_judge.levels import Scale
from agent_judge.records import Criterion, Record
from agent_judge.stats.bottleneck import bottleneck
from agent_judge.stats.coverage import tally
from tests.stats.rows import rows


def diagnosed(if_outcomes, vc_outcomes):
    by_criterion: dict[Criterion, list[Record]] = {
        "IF": rows(if_outcomes),
        "VC": rows(vc_outcomes, criterion="VC"),
    }
    tallies = {c: tally(records) for c, records in by_criterion.items() if records}
    return bottleneck("m (tool mode)", tallies, [r for rs in by_criterion.values() for r in rs])


@pytest.mark.parametrize(
    ("if_levels", "vc_levels", "failure", "points"),
    [
        ([1] * 6 + [4] * 4, [4] * 10, "localisation", 60),
        ([1] * 2 + [2] * 6 + [4] * 2, [4] * 10, "action", 40),
        ([3] * 9 + [1], [4] * 10, "over-editing", 30),
        ([1] * 2 + [4] * 8, [3] * 5 + [2] * 3 + [1] * 2, "collateral damage", 170 / 3),
        ([1, 1, 2, 2, 2, 3, 3, 4, 4, 4], [4] * 10, "localisation", 20),
    ],
)
def test_the_failure_that_costs_most_points_is_named(if_levels, vc_levels, failure, points):
    found = diagnosed(if_levels, vc_levels)

    assert found.losses[0].failure == failure
    assert found.losses[0].points == pytest.approx(points)
    assert f"loses most to {failure}: " in found.sentence
    assert f"costs {points:.1f} of 100 points" in found.sentence


def test_losses_add_up_to_what_the_means_lack():
    if_levels, vc_levels = [1, 1, 2, 2, 3, 3, 4, 4, 4], [1, 2, 3, 3, 4, 4, 4, 4]
    lost = {loss.failure: loss.points for loss in diagnosed(if_levels, vc_levels).losses}

    of_if = lost["localisation"] + lost["action"] + lost["over-editing"]
    ladder = Scale(1, 4)
    assert of_if == pytest.approx(100 - ladder.score_100(sum(if_levels) / 9))
    assert lost["collateral damage"] == pytest.approx(100 - ladder.score_100(sum(vc_levels) / 8))


def test_the_sentence_carries_the_numbers_behind_it():
    found = diagnosed([1] * 6 + [3] * 2 + [4] * 2, [3] * 1 + [4] * 9)

    assert found.holds_01 is not None
    assert found.holds_01 > 0.99
    assert found.sentence == (
        "m (tool mode) loses most to localisation: 6 of 10 scored IF rows (60%) ended as "
        "Localization Failure, which costs 60.0 of 100 points (over-editing 6.7, collateral damage "
        f"3.3, action 0.0), and does so in {found.holds_01:.0%} of resamples of the sources."
    )


@pytest.mark.parametrize("vc_levels", [[1] * 5 + [4] * 5, [4] * 5 + [1] * 5])
def test_a_tie_holds_half_the_time_whether_the_same_rows_fail_or_others(vc_levels):
    found = diagnosed([1] * 5 + [4] * 5, vc_levels)

    # 1000 resamples: the standard error of one half is 1.6 points.
    assert found.holds_01 == pytest.approx(0.5, abs=0.06)


def test_collateral_damage_is_everything_below_the_best_level():
    found = diagnosed([4] * 4, [1, 2, 3, 4])

    assert "3 of 4 scored VC rows (75%) ended below Perfect Consistency" in found.sentence
    assert found.holds_01 is None  # four pictures are too few to resample


@pytest.mark.parametrize(
    ("if_outcomes", "vc_outcomes", "sentence"),
    [
        ([], [], "m (tool mode): too little is scored to name a bottleneck."),
        (
            [1, "refused"],
            ["refused", "refused"],
            "m (tool mode): too little is scored to name a bottleneck; IF is not ranked, with 1 of "
            "2 rows scored; VC is not ranked, with 0 of 2 rows scored.",
        ),
        ([4, 4], [4], "m (tool mode): nothing is lost (scored rows: 2 IF, 1 VC)."),
        (
            [4, "missing_output"],
            [],
            "m (tool mode): nothing is lost (scored rows: 1 IF); rows without readable output: 1.",
        ),
    ],
    ids=["nothing", "under 90 %", "perfect", "missing"],
)
def test_without_a_bottleneck_the_sentence_says_why(if_outcomes, vc_outcomes, sentence):
    assert diagnosed(if_outcomes, vc_outcomes).sentence == sentence


def test_a_criterion_without_a_headline_is_named_and_not_ranked():
    found = diagnosed([1] * 5 + [4] * 5, [1, "timeout"])

    assert {loss.criterion for loss in found.losses} == {"IF"}
    assert found.sentence.endswith("; VC is not ranked, with 1 of 2 rows scored.")
