from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agent_judge.stats.compare import compare
from agent_judge.stats.intervals import Estimate
from tests.stats.rows import record, rows

A = [4, 4, 3, 2, 1, 1, 2, 3]
B = [4, 1, 3, 4, 1, 2, 2, 4]


def only(comparisons):
    (one,) = comparisons
    return one


def test_two_models_are_paired_by_item_and_agree_with_a_table_worked_by_hand():
    found = only(compare(rows(A, editor="x"), rows(B, editor="y"), n_resamples=200))

    assert (found.editor_a, found.editor_b, len(found.pairs)) == ("x", "y", 8)
    assert found.mean_a_100 == pytest.approx((sum(A) / 8 - 1) * 100 / 3)
    assert found.difference_100.value == pytest.approx((sum(B) - sum(A)) / 8 * 100 / 3)
    assert found.difference_100.value == pytest.approx(found.mean_b_100 - found.mean_a_100)
    assert found.transitions == ((1, 1, 0, 0), (0, 1, 0, 1), (0, 0, 1, 1), (1, 0, 0, 1))
    changes = np.subtract(B, A) * 100 / 3
    assert found.sd_100 == pytest.approx(np.std(changes, ddof=1))
    # Changes -3 2 1 1: of 16 sign patterns those with |sum| >= 1 are all but the two with sum 0.
    signs = [(s >> np.arange(4) & 1) * 2 - 1 for s in range(16)]
    assert found.p_value == np.mean([abs(s @ [-3, 2, 1, 1]) >= 1 for s in signs])


def test_the_rows_that_changed_most_come_first_and_worse_before_better():
    found = only(compare(rows(A), rows(B), n_resamples=10))

    assert [(p.a.item, p.change) for p in found.changed] == [
        ("r1", -3),
        ("r3", 2),
        ("r5", 1),
        ("r7", 1),
    ]


def test_rows_that_one_run_did_not_score_are_counted_and_left_out():
    a = [*rows([4, 2, "refused", 3]), record(3, id="only_a")]
    b = [*rows([3, "missing_output", 4, 3]), record(3, id="only_b"), record(1, id="also_b")]
    found = only(compare(a, b, n_resamples=10))

    assert len(found.pairs) == 2
    assert (found.n_only_a, found.n_only_b) == (2, 3)


def test_criteria_come_in_the_protocols_order():
    run = [record(0, criterion=name) for name in ("modify", "position", "preserve", "size")]
    found = [one.criterion for one in compare(run, run, n_resamples=10)]
    assert found == ["size", "position", "modify", "preserve"]


def test_criteria_and_modes_are_compared_apart():
    def run(shift: int) -> list[Any]:
        return [
            *rows([2 + shift, 2], mode="oracle"),
            *rows([3, 3], criterion="VC", mode="oracle"),
            record(1 + shift, id="x", mode="tool"),
        ]

    found = compare(run(0), run(1), n_resamples=10)

    assert [(c.criterion, c.mode_a, c.mode_b, len(c.pairs)) for c in found] == [
        ("IF", "oracle", "oracle", 2),
        ("IF", "tool", "tool", 1),
        ("VC", "oracle", "oracle", 2),
    ]


def test_two_judges_on_several_models_are_compared_model_by_model():
    def run(level):
        return [
            record(level, id=f"{editor}{i}", item=f"i{i}", editor=editor)
            for editor in "xy"
            for i in range(3)
        ]

    found = compare(run(2), run(3), n_resamples=10)

    assert [(c.editor_a, c.editor_b, len(c.pairs)) for c in found] == [("x", "x", 3), ("y", "y", 3)]


def test_an_item_twice_in_one_run_is_refused():
    with pytest.raises(ValueError, match="'i' comes twice"):
        compare([record(1, id="a", item="i"), record(2, id="b", item="i")], [])


def test_rows_of_one_source_picture_make_the_spread_larger():
    a = [record(2, id=f"{s}{k}", source_sha256=s) for s in "abcdef" for k in range(4)]
    b = [
        record(2 + (s in "abcd"), id=f"{s}{k}", source_sha256=s) for s in "abcdef" for k in range(4)
    ]
    found = only(compare(a, b, n_resamples=100))

    assert found.n_clusters == 6
    # Four equal rows a picture tell what one would: twice the deviation of the six pictures.
    assert found.sd_100 == pytest.approx(2 * np.std(np.array([1, 1, 1, 1, 0, 0]) * 100 / 3, ddof=1))


def test_differences_are_given_by_type():
    a = [*rows([1, 1], type="color"), record(4, id="z", type=None)]
    b = [*rows([2, 3], type="color"), record(1, id="z", type=None)]
    found = only(compare(a, b, n_resamples=10))

    assert {name: round(e.value, 9) for name, e in found.by_type.items()} == {
        "(untyped)": -100,
        "color": 50,
    }


def test_runs_without_a_common_item_have_nothing_to_compare():
    assert compare(rows([1, 2]), []) == []
    assert compare([], []) == []


def test_a_single_pair_has_a_difference_and_nothing_else():
    found = only(compare(rows([1]), rows([3]), n_resamples=10))

    assert found.difference_100 == Estimate(value=found.difference_100.value)
    assert found.difference_100.value == pytest.approx(200 / 3)
    assert (found.sd_100, found.p_value) == (None, 1.0)
