"""BPM's overall figures come from four records a row, over the whole set."""

import pytest

from agent_judge.stats.balance import absolute_by_row, parts_of_rows, setwise_by_row
from agent_judge.stats.summary import summarize
from tests.stats.rows import record

LEVELS = {
    ("a", "1"): {"size": 1, "position": 1, "modify": 0.2, "preserve": -0.4},
    ("a", "2"): {"size": 1, "position": 0.5, "modify": 0.4, "preserve": -0.2},
    ("b", "3"): {"size": 0, "position": 1, "modify": 0.3, "preserve": -0.1},
}


def bpm(levels=LEVELS):
    return [
        record(level, criterion=criterion, editor=editor, id=id)
        for (editor, id), row in levels.items()
        for criterion, level in row.items()
    ]


def test_the_set_is_all_editors_rows():
    figures = setwise_by_row(parts_of_rows(bpm()))
    # by hand: modify 0.2..0.4 and preserve -0.4..-0.1 onto 0..1
    assert figures["tool", "1"] == pytest.approx(0.7 * (0 + 0) + 0.3 * 2)
    assert figures["tool", "2"] == pytest.approx(0.7 * (1 + 2 / 3) + 0.3 * 1.5)
    assert figures["tool", "3"] == pytest.approx(0.7 * (0.5 + 1) + 0.3 * 1)


def test_the_absolute_figure_does_not_move_with_the_set():
    alone = absolute_by_row(parts_of_rows([r for r in bpm() if r.id == "2"]))
    assert alone["tool", "2"] == absolute_by_row(parts_of_rows(bpm()))["tool", "2"]
    assert alone["tool", "2"] == pytest.approx(0.7 * (1.4 / 2 + 0.8) + 0.3 * 1.5)


def test_an_editors_figure_is_the_mean_of_its_rows():
    further = summarize(bpm())["by_editor"]["a"]["further"]
    rows = setwise_by_row(parts_of_rows(bpm()))
    assert further["overall_in_this_set"] == pytest.approx(
        (rows["tool", "1"] + rows["tool", "2"]) / 2
    )
    assert further["overall_absolute"] is not None


def test_there_is_no_overall_figure_where_a_part_has_no_headline():
    without = [r for r in bpm() if r.criterion != "modify"]
    further = summarize(without)["by_editor"]["a"]["further"]
    assert further == {"overall_in_this_set": None, "overall_absolute": None}
