from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
import scipy.stats

from agent_judge.stats.coverage import Cell, tally
from agent_judge.stats.summary import UNNAMED_EDITOR, UNTYPED, score_estimates, summarize
from tests.stats.rows import rows


def test_j03_an_unparseable_reply_is_unscored_and_half_coverage_gives_bounds_only():
    found = summarize(rows([4, "unparseable"]))["overall"]["IF"]

    assert found["n_scored"] == 1
    assert found["n_planned"] == 2
    assert found["coverage_01"] == 0.5
    assert found["reasons"] == {"unparseable": 1}
    assert found["n_at_level"] == [0, 0, 0, 1]
    assert found["score_100"] is found["mean_level"] is found["missing_at_1_100"] is None
    assert (found["worst_100"], found["best_100"]) == (50.0, 100.0)


def test_j14_a_failed_request_leaves_the_other_rows_and_its_reason_in_the_summary():
    found = summarize(rows([4, "transport", 3]))

    assert found["overall"]["IF"]["n_scored"] == 2
    assert found["reasons"] == {"transport": 1}
    assert found["overall"]["IF"]["score_100"] is None  # 2 of 3 is under 90 %
    assert found["overall"]["IF"]["worst_100"] == pytest.approx((100 + 200 / 3 + 0) / 3)
    assert found["overall"]["IF"]["best_100"] == pytest.approx((100 + 200 / 3 + 100) / 3)


def test_j16_a_missing_output_is_left_out_of_the_mean_with_the_other_figure_beside_it():
    found = summarize(rows([4, 4, "missing_output", 4]))["overall"]["IF"]

    assert (found["n_planned"], found["n_scored"], found["n_missing_output"]) == (4, 3, 1)
    assert found["coverage_01"] == 1.0
    assert found["score_100"] == 100.0
    assert found["missing_at_1_100"] == 75.0
    assert (found["worst_100"], found["best_100"]) == (100.0, 100.0)


def test_j18_per_sample_and_per_type_means_are_both_there_with_the_formula():
    records = [
        *rows([4, 4, 4, 4], type="color"),
        *rows([1], type="removal"),
        *rows([4, 4, 4, 4], type="color", criterion="VC"),
        *rows([4], type="removal", criterion="VC"),
    ]

    found = summarize(records)

    assert found["overall"]["IF"]["mean_level"] == pytest.approx(3.4)
    assert found["overall"]["IF"]["score_100"] == pytest.approx(80)
    assert found["overall"]["IF"]["per_type_100"] == pytest.approx(50)
    assert found["overall"]["score_100"] == pytest.approx(90)
    assert found["overall"]["per_type_100"] == pytest.approx(75)
    assert found["by_type"]["removal"]["IF"]["score_100"] == 0
    assert found["by_type"]["color"]["score_100"] == 100
    assert "(level - 1) / 3 * 100" in found["rules"]["score_100"]


@pytest.mark.parametrize(
    ("n_scored", "n_lost", "has_headline"),
    [(9, 1, True), (8, 1, False), (90, 10, True), (89, 11, False), (1, 0, True), (0, 3, False)],
)
def test_the_headline_needs_ninety_per_cent_of_what_could_be_judged(n_scored, n_lost, has_headline):
    counts = tally(rows([2] * n_scored + ["refused"] * n_lost + ["invalid_image"] * 50))

    assert (counts.mean_level is not None) == has_headline
    assert counts.n_invalid_image == 50


@pytest.mark.parametrize(
    "outcomes",
    [[], ["missing_output"], ["refused", "missing_output"], ["needs_lmm"]],
    ids=["no rows", "only missing", "unscored and missing", "only unscored"],
)
def test_where_nothing_was_scored_there_is_no_figure_at_all(outcomes):
    found = summarize(rows(outcomes))["overall"]["IF"]

    for name in ("score_100", "mean_level", "missing_at_1_100", "best_100", "worst_100"):
        assert found[name] is None
    assert found["per_type_100"] is None


def test_rows_without_a_record_are_not_run_and_widen_the_bounds():
    planned = {Cell("m", "tool", "color", "IF"): 4}

    found = summarize(rows([3, 3]), planned)["overall"]["IF"]

    assert (found["n_planned"], found["n_scored"], found["n_not_run"]) == (4, 2, 2)
    assert found["score_100"] is None
    assert found["worst_100"] == pytest.approx(100 / 3)
    assert found["best_100"] == pytest.approx(250 / 3)


def test_a_record_outside_the_plan_counts_as_planned():
    assert tally(rows([3, 3]), n_planned=1).n_planned == 2


def test_overall_is_the_mean_of_both_criteria_and_null_when_either_is():
    both = summarize([*rows([4, 4]), *rows([1, 4], criterion="VC")])["overall"]
    one = summarize([*rows([4, 4]), *rows([1, "timeout"], criterion="VC")])["overall"]

    assert both["score_100"] == pytest.approx(75)
    assert one["score_100"] is None
    assert one["IF"]["score_100"] == 100
    assert (one["worst_100"], one["best_100"]) == (50, 75)


@pytest.mark.parametrize(
    ("if_mean_100", "vc_mean_100", "overall"), [(35.55, 86.43, 60.99), (45.32, 35.17, 40.245)]
)
def test_the_rule_reproduces_the_papers_overall_figures(if_mean_100, vc_mean_100, overall):
    """The published means, to the nearest of 2,000 rows; printed are 61.00 and 40.25."""
    records = []
    for criterion, mean_100 in (("IF", if_mean_100), ("VC", vc_mean_100)):
        n_best = round(mean_100 * 20)
        records += rows([4] * n_best + [1] * (2000 - n_best), criterion=criterion)

    assert summarize(records)["overall"]["score_100"] == pytest.approx(overall, abs=0.03)


def test_editors_are_never_pooled():
    found = summarize([*rows([4, 4], editor="a"), *rows([1, 1], editor="b")])

    assert found["overall"]["IF"]["n_scored"] == 4
    assert found["overall"]["IF"]["score_100"] is None
    assert found["overall"]["IF"]["best_100"] is None
    assert found["by_type"]["color"]["IF"]["score_100"] is None
    assert "by_editor" in found["overall"]["note"]
    assert found["by_editor"]["a"]["IF"]["score_100"] == 100
    assert found["by_editor"]["b"]["by_type"]["color"]["IF"]["score_100"] == 0


def test_modes_are_never_pooled():
    found = summarize([*rows([4], mode="oracle"), *rows([1], mode="tool")])["by_editor"]["m"]

    assert found["IF"]["score_100"] is None
    assert "by_mode" in found["note"]
    assert found["by_mode"]["oracle"]["IF"]["score_100"] == 100
    assert found["by_mode"]["tool"]["by_type"]["color"]["IF"]["score_100"] == 0


def test_a_type_under_ninety_per_cent_leaves_no_mean_over_types():
    records = [*rows([4] * 30, type="color"), *rows([1, "refused"], type="count")]

    found = summarize(records)["overall"]["IF"]

    assert found["score_100"] is not None
    assert found["per_type_100"] is None


def test_rows_without_editor_and_type_have_a_name_of_their_own():
    found = summarize(rows([2], editor="", type=None))

    assert list(found["by_editor"]) == [UNNAMED_EDITOR]
    assert list(found["by_type"]) == [UNTYPED]
    assert found["overall"]["IF"]["per_type_100"] == pytest.approx(100 / 3)


def test_every_row_has_exactly_one_fate_and_cells_add_up():
    outcomes: list[int | str] = [1, 2, 3, 4, "refused", "missing_output", "invalid_image", "budget"]
    records = [*rows(outcomes), *rows(outcomes[:3], type="count", criterion="VC")]
    planned = Counter(map(Cell.of, records)) + Counter({Cell("m", "tool", "count", "IF"): 5})

    found = summarize(records, planned)

    assert found["overall"]["n_planned"] == 16
    for standing in (found["overall"], *found["by_type"].values()):
        for criterion in ("IF", "VC"):
            t = standing[criterion]
            lost = t["n_missing_output"] + t["n_invalid_image"]
            assert t["n_planned"] == t["n_scored"] + t["n_unscored"] + lost + t["n_not_run"]
    assert found["by_type"]["count"]["IF"]["n_not_run"] == 5


def test_the_summary_is_plain_json():
    found = summarize(rows([4, "refused"]))

    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_the_interval_of_a_mean_is_the_t_interval_when_every_row_has_its_own_picture():
    levels = [1, 2, 4, 4, 3, 2, 1, 4, 4, 2]
    scores = np.array([(level - 1) / 3 * 100 for level in levels])
    low, high = scipy.stats.t.interval(0.95, 9, scores.mean(), scipy.stats.sem(scores))

    assert summarize(rows(levels))["overall"]["IF"]["interval_100"] == pytest.approx([low, high])


def test_copies_of_a_picture_do_not_narrow_the_interval():
    levels = [1, 2, 4, 4, 3, 2, 1, 4, 4, 2]
    twice = [r for _ in range(2) for r in rows(levels)]

    assert score_estimates(twice)["IF"] == score_estimates(rows(levels))["IF"]


def test_the_interval_of_overall_knows_that_one_picture_moves_both_criteria():
    levels = [1, 2, 4, 4, 3, 2, 1, 4, 4, 2]
    together = score_estimates([*rows(levels), *rows(levels, criterion="VC")])
    opposed = score_estimates([*rows(levels), *rows([5 - x for x in levels], criterion="VC")])

    assert together["overall"].low == pytest.approx(together["IF"].low)
    assert opposed["overall"].low is None  # the two criteria cancel: no spread at all
    assert opposed["overall"].value == pytest.approx(50)


@pytest.mark.parametrize(
    "outcomes",
    [[1, 2, 3, 4, 1], [3] * 20, [1, 2, 3, 4, 1, 2, 3, "refused"]],
    ids=["five pictures", "no spread", "no headline"],
)
def test_there_is_no_interval_where_the_data_carry_none(outcomes):
    assert summarize(rows(outcomes))["overall"]["IF"]["interval_100"] is None
