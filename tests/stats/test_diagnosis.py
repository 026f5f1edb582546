from __future__ import annotations

from agent_judge.levels import Scale
from agent_judge.stats.coverage import Cell
from agent_judge.stats.diagnosis import diagnose
from tests.stats.rows import record, rows

EVIL = '<script>alert("x")</script>'


def test_editors_and_modes_each_have_their_own_diagnosis():
    records = [
        *rows([1, 1], editor="a", mode="tool"),
        *rows([4, 4], editor="a", mode="oracle"),
        *rows([2, 2], editor="b", mode="tool", criterion="VC"),
    ]
    found = diagnose(records)

    assert [(one.editor, one.mode) for one in found.editors] == [
        ("a", "oracle"),
        ("a", "tool"),
        ("b", "tool"),
    ]
    assert found.editors[0].tallies["IF"].mean_level == 4
    assert found.editors[1].tallies["IF"].mean_level == 1
    assert found.editors[2].tallies["IF"].n_planned == 0
    assert list(found.failures["IF"].groups) == [one.name for one in found.editors]


def test_rows_are_split_by_type_and_by_size():
    records = [
        record(1, id="a", type="count", area_pct=0.01),
        record(4, id="b", type="count", area_pct=5.0),
        record(4, id="c", type=None),
    ]
    (found,) = diagnose(records).editors

    assert {name: t.n_in_bins(Scale(1, 4)) for name, t in found.by_type["IF"].groups.items()} == {
        "(untyped)": (0, 0, 0, 1),
        "count": (1, 0, 0, 1),
    }
    assert {name: t.n_scored for name, t in found.by_size["IF"].groups.items()} == {
        "< 0.07 %": 1,
        "> 0.8 %": 1,
        "(no box)": 1,
    }


def test_planned_rows_without_a_record_are_not_run():
    planned = {
        Cell("m", "tool", "color", "IF"): 5,
        Cell("m", "tool", "color", "VC"): 5,
        Cell("quiet", "tool", None, "IF"): 2,
    }
    first, second = diagnose(rows([4, 4]), planned).editors

    assert first.by_type["IF"].groups["color"].n_not_run == 3
    assert first.tallies["VC"].n_not_run == 5
    assert second.tallies["IF"].n_not_run == 2
    assert "too little is scored" in second.bottleneck.sentence


def test_the_html_escapes_every_text_from_data():
    html = diagnose([record(1, editor=EVIL, type=EVIL, area_pct=1.0)])._repr_html_()

    assert "<script" not in html
    assert html.count("&lt;script&gt;") >= 3


def test_picture_sizes_give_points():
    row = record(3, area_pct=1.0, target_boxes=((0.0, 0.0, 5.0, 5.0),))
    (found,) = diagnose([row], sizes_wh={"a": (50, 50)}).editors

    assert [point.id for point in found.scale["IF"].points] == ["a"]


def test_printed_it_is_one_sentence_for_each_editor():
    printed = str(diagnose([record(1, editor="a"), record(4, editor="b")]))

    assert [line.split(" (")[0] for line in printed.splitlines()] == ["a", "b"]
    assert "localisation" in printed.splitlines()[0]


def test_nothing_gives_nothing():
    found = diagnose([])

    assert found.editors == ()
    assert found._repr_html_() == ""
