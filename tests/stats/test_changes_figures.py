"""Figures over named changes: how many, how many outside the targets, how well they fit."""

import pytest

from agent_judge.stats.summary import summarize
from tests.stats.rows import record

TARGET = (10.0, 10.0, 20.0, 20.0)


def change(box, inside):
    named = {"command": "EDIT", "element": "cup", "inside_target": inside}
    return {"box": list(box), "level": 1, "label": "Coherent", **named}


def row(id, *changes, boxes=(TARGET,), outcome=1.0):
    return record(
        outcome,
        id=id,
        criterion="coherence",
        per_target=changes,
        target_boxes=boxes,
        box_origin="given" if boxes else None,
    )


HIT, LOOSE = change(TARGET, True), change((10, 10, 20, 31), True)
STRAY = change((50, 50, 60, 60), False)


def figures(*rows):
    further = summarize(rows)["overall"]["further"]
    return {name.removeprefix("coherence_"): value for name, value in further.items()}


def test_changes_are_counted_a_row_and_by_where_they_lie():
    found = figures(row("a", HIT, STRAY), row("b", HIT), row("c"), row("d", STRAY, STRAY))
    assert found["changes_a_row"] == pytest.approx(5 / 4)
    assert found["changes_outside_a_row"] == pytest.approx(3 / 4)
    assert found["changes_outside_pct"] == pytest.approx(60)


def test_rows_without_boxes_count_for_the_number_of_changes_alone():
    free = row("b", change(TARGET, None), change(TARGET, None), boxes=())
    found = figures(row("a", STRAY), free)
    assert (found["changes_a_row"], found["changes_outside_pct"]) == (1.5, 100)
    assert figures(free)["changes_outside_pct"] is None


def test_named_boxes_are_matched_with_the_rows_own_over_all_rows():
    two = row("b", HIT, boxes=(TARGET, (70, 70, 80, 80)))
    found = figures(row("a", HIT, LOOSE, STRAY), two)
    assert found["detection_precision_pct"] == pytest.approx(100 * 2 / 4)
    assert found["detection_recall_pct"] == pytest.approx(100 * 2 / 3)


def test_without_a_headline_no_figure_is_known():
    found = figures(row("a", HIT), row("b", outcome="transport"))
    assert set(found.values()) == {None}
