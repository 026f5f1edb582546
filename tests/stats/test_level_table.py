from __future__ import annotations

from agent_judge.stats.level_table import level_table
from tests.stats.rows import rows


def table(**planned):
    records = [
        *rows([4, 4, 1, "refused"], type="<b>ocr</b>"),
        *rows(["missing_output"], type="color"),
        *rows([2], criterion="VC"),
    ]
    return level_table("edit type", "IF", records, lambda r: r.type or "", planned or None)


def test_shares_are_of_the_scored_rows_best_level_first():
    found = table()

    assert found.labels == (
        "Flawless Execution",
        "Over Modification",
        "Wrong Action",
        "Localization Failure",
    )
    assert found.shares("<b>ocr</b>") == (2 / 3, 0, 0, 1 / 3)
    assert found.shares("color") is None
    assert list(found.groups) == ["<b>ocr</b>", "color"]


def test_planned_groups_without_a_record_are_there_as_not_run():
    found = table(shape=3, color=2)

    assert found.groups["shape"].n_not_run == 3
    assert found.groups["color"].n_not_run == 1


def test_the_html_escapes_names_and_withholds_means_under_ninety_per_cent():
    html = table()._repr_html_()

    assert "<b>" not in html
    assert "&lt;b&gt;ocr&lt;/b&gt;" in html
    assert "<caption>edit type: IF</caption>" in html
    # 3 of 4 scored: counts and shares, but a dash for the score.
    assert "<td>2 (67%)</td><td>0 (0%)</td><td>0 (0%)</td><td>1 (33%)</td>" in html
    assert "<td>0</td><td>1</td><td>0</td><td>-</td>" in html
