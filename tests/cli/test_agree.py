import csv
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from agent_judge.images import encode_png
from agent_judge.rubrics.protocol import load_ladder
from agent_judge.run import Run
from agent_judge.store import Store
from tests.cli.calls import call
from tests.cli.runs import write_rows
from tests.report.runs import BINDING, plan_rows, record, save, scored

RATINGS = Path(__file__).parents[2].parent / "shared" / "data" / "ratings"
PEOPLE = [(4, 4), (4, 3), (3, 3), (2, 2), (1, 2), (1, 1), (2, 3), (4, 4)]
"""IF by ann and by bob, a row each."""
JUDGE = [4, 3, 3, 2, 1, 2, 4, 1]


def make(folder, levels, *, boxes=(), labels=True, binding=BINDING):
    """A run of one row a level: None is unscored; the rows in `boxes` are judged in oracle mode."""
    rows = [
        {
            "id": f"row {i}",
            "editor": "model",
            "source": "s.png",
            "edited": "e.png",
            "instruction": "Paint it.",
            "type": "color" if i % 2 else "removal",
            **({"boxes": [[0, 0, 9, 9]]} if i in boxes else {}),
            **({"labels": [{"by": "ann", "IF": a}, {"by": "bob", "IF": b}]} if labels else {}),
        }
        for i, (a, b) in enumerate(PEOPLE)
    ]
    with Store.create(folder, binding) as store:
        plan_rows(store, rows)
        for row, level in zip(rows, levels, strict=True):
            if level is None:
                save(store, record(row, "IF", status="unscored", reason="refused"))
            else:
                save(store, scored(row, "IF", level=level, label=load_ladder("IF").label_of(level)))
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make(tmp_path_factory.mktemp("agree") / "run", JUDGE)


def agreed(capsys, *args):
    assert call("agree", *args, "--json") == 0
    return json.loads(capsys.readouterr().out)


def overall(found, run=0):
    (group,) = [g for g in found["runs"][run]["groups"] if g["grouping"] == "all"]
    return group["agreement"]


def test_the_figures_are_those_of_the_manifests_labels(run, capsys):
    found = overall(agreed(capsys, run))
    means = [(a + b) / 2 for a, b in PEOPLE]

    assert (found["n"], found["n_raters"]) == (8, 2)
    assert found["spearman"]["value"] == pytest.approx(stats.spearmanr(JUDGE, means).statistic)
    gaps = [j - m for j, m in zip(JUDGE, means, strict=True)]
    assert found["bias"]["value"] == pytest.approx(sum(gaps) / 8)
    assert found["mae"]["value"] == pytest.approx(sum(map(abs, gaps)) / 8)


def test_the_terminal_shows_figures_parts_confusion_and_the_worst_rows(run, capsys):
    assert call("agree", run, "--rows", 2) == 0
    shown = capsys.readouterr().out
    for text in (
        "gpt-test (answered as gpt-test-2026-01-01)",
        "8 rows rated by 2 people, 8 of them scored by the judge",
        "Spearman of raters: ann and bob 0.885",
        "tool, type: color",
        "tool: people's median",
        "1 Localization Failure",
        f"agent-judge show {run} ID",
    ):
        assert text in shown
    worst = shown.split("largest disagreements")[1].splitlines()[2:4]
    assert [line.split()[:3] for line in worst] == [["-3", "row", "7"], ["+1.5", "row", "6"]]


def test_a_label_table_replaces_the_manifests_labels(run, tmp_path, capsys):
    table = tmp_path / "cy.csv"
    table.write_text("id,IF\n" + "".join(f"row {i},{n}\n" for i, n in enumerate(JUDGE)), "utf-8")
    found = agreed(capsys, run, "--labels", table)

    assert overall(found)["exact"]["value"] == 1
    assert found["runs"][0]["n_rated_rows"] == {"IF": 8, "VC": 0}
    assert found["runs"][0]["disagreements"] == []


def test_ids_of_a_label_table_that_no_row_has_are_told(run, tmp_path, capsys):
    table = tmp_path / "cy.csv"
    table.write_text("id,IF\nrow 1,3\nrow1,4\nrow 99,2\n", "utf-8")
    assert call("agree", run, "--labels", table) == 0
    assert capsys.readouterr().err == "--labels: ids that no row has, 2: row 99, row1\n"


def test_rows_that_the_judge_left_out_are_counted(tmp_path, capsys):
    run = make(tmp_path / "run", [*JUDGE[:6], None, None])
    found = agreed(capsys, run)

    assert found["runs"][0]["n_rated_rows"]["IF"] == 8
    assert overall(found)["n"] == 6
    call("agree", run)
    assert "8 rows rated by 2 people, 6 of them scored by the judge" in capsys.readouterr().out


def test_shared_rows_are_shown_for_the_criteria_that_they_change(tmp_path, capsys):
    runs = [make(tmp_path / "a", JUDGE), make(tmp_path / "b", [*JUDGE[:-1], None])]
    table = tmp_path / "cy.csv"
    lines = [f"row {i},{n},{n}\n" for i, n in enumerate(JUDGE)]
    table.write_text("id,IF,VC\n" + "".join(lines), "utf-8")
    for folder in runs:
        opened = Run.open(folder)
        with opened.store:
            for row in list(opened.rows()):
                label = load_ladder("VC").label_of(4)
                save(opened.store, scored(row.row, "VC", level=4, label=label))
    assert call("agree", *runs, "--labels", table) == 0
    shown = capsys.readouterr().out
    assert shown.count("over the rows that all runs scored:") == 1


def test_runs_stand_side_by_side_over_their_own_and_over_shared_rows(run, tmp_path, capsys):
    other = make(tmp_path / "other", [None, *JUDGE[1:]])
    found = agreed(capsys, run, other)

    assert [overall(found, i)["n"] for i in (0, 1)] == [8, 7]
    shared = [of_run[0]["agreement"] for of_run in found["over_shared_rows"]]
    assert [one["n"] for one in shared] == [7, 7]
    assert shared[0] == shared[1]
    call("agree", run, other)
    shown = capsys.readouterr().out
    assert "A tool" in shown
    assert "over the rows that all runs scored:" in shown


def test_modes_of_one_run_are_never_pooled(tmp_path, capsys):
    run = make(tmp_path / "run", JUDGE, boxes=range(4))
    groups = agreed(capsys, run)["runs"][0]["groups"]

    counts = {g["mode"]: g["agreement"]["n"] for g in groups if g["grouping"] == "all"}
    assert counts == {"oracle": 4, "tool": 4}


def test_people_on_another_scale_leave_only_correlations(run, tmp_path, capsys):
    table = tmp_path / "rater1.tsv"
    cells = "".join(f"row {i}\t[{(n - 1) / 3}, 1]\n" for i, n in enumerate(JUDGE))
    table.write_text("uid\tmodel\n" + cells, "utf-8")
    found = overall(agreed(capsys, run, "--labels", table))

    assert found["spearman"]["value"] == pytest.approx(1)
    assert found["mae"]["value"] is None
    assert call("agree", run, "--labels", table) == 0
    assert "people's median" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("id,IF\nno such row,3\n", "nobody rated a row of"),
        ("id,IF\nrow 1,9\n", "line 2: IF must be a level from 1 to 4"),
    ],
)
def test_a_table_of_no_use_is_one_line_and_exit_2(run, tmp_path, capsys, text, complaint):
    table = tmp_path / "t.csv"
    table.write_text(text, "utf-8")
    assert call("agree", run, "--labels", table) == 2
    assert complaint in capsys.readouterr().err


def test_a_run_without_labels_says_where_they_come_from(tmp_path, capsys):
    run = make(tmp_path / "run", JUDGE, labels=False)
    assert call("agree", run) == 2
    assert "agent-judge annotate" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(not RATINGS.is_dir(), reason=f"needs the ImagenHub ratings in {RATINGS}")
def test_classical_columns_stand_beside_the_judge(tmp_path, capsys):
    folder = make(tmp_path / "run", JUDGE)
    with Store.open(folder) as store:
        rows = [dict(planned.row) for planned in store.planned()]
    grey = np.full((30, 30, 3), 100, np.uint8)
    shifts = [1, 3, 5, 20, 60, 90, 30, 2]
    for number, (row, shift) in enumerate(zip(rows, shifts, strict=True)):
        paths = {name: str(tmp_path / f"{name}{number}.png") for name in ("source", "edited")}
        Path(paths["source"]).write_bytes(encode_png(grey))
        Path(paths["edited"]).write_bytes(encode_png(grey + np.uint8(shift)))
        row.update(paths)
    with Store.create(folder, BINDING) as store:
        plan_rows(store, rows)
    found = agreed(capsys, folder, "--classical")["runs"][0]["classical"]
    by_column = {one["column"]: one for one in found}
    people = [(a + b) / 2 for a, b in PEOPLE]
    assert by_column["l1"]["with_people"] == pytest.approx(
        stats.spearmanr(shifts, people).statistic
    )
    assert by_column["psnr"]["with_judge"] == pytest.approx(
        -stats.spearmanr(shifts, JUDGE).statistic
    )
    assert call("agree", folder, "--classical") == 0
    assert "Spearman with people, with the judge" in capsys.readouterr().out


def test_imagenhubs_raters_agree_as_published(tmp_path, capsys):
    tables = sorted((RATINGS / "imagenhub_text_guided").glob("*.tsv"))
    with tables[0].open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file, delimiter="\t"))
    rows = [
        {
            "id": f"{editor}/{row['uid']}",
            "item": row["uid"],
            "editor": editor,
            "source": "s",
            "edited": "e",
            "instruction": "Edit it.",
        }
        for row in table
        for editor in row
        if editor not in ("uid", "Imagic")
    ]
    with Store.create(tmp_path / "run", BINDING) as store:
        plan_rows(store, rows)
        for i, row in enumerate(rows[:200]):
            save(store, scored(row, "IF", level=1 + i % 4))
    found = agreed(
        capsys, tmp_path / "run", *(arg for path in tables for arg in ("--labels", path))
    )["runs"][0]

    assert found["n_rated_rows"]["IF"] == 1432
    pairs = [pair["spearman"] for pair in found["rater_pairs"]["IF"]]
    assert pairs == pytest.approx([0.728, 0.668, 0.747], abs=5e-4)


def test_labels_that_are_no_levels_are_said(tmp_path, capsys):
    """As further keys of the manifest they are kept, and would otherwise be left out in silence."""
    labels = [{"by": "ann", "IF": 4, "following": "4"}, {"by": "bob", "quality": 11}]
    manifest = write_rows(tmp_path, 1, labels=labels)
    call("run", manifest, "--out", tmp_path / "run", "--protocol", "multi-reward")
    assert call("agree", tmp_path / "run") == 0  # IF stands for following
    told = capsys.readouterr().err
    assert "1 label is no level of following from 0 to 5 (row 'r0': '4')" in told
    assert "1 label is no level of quality from 0 to 5 (row 'r0': 11)" in told
