import json
from typing import Any

import pytest

from agent_judge.report.plots import diagnose_runs, plots_of
from agent_judge.report.standing import labelled_records, planned_of, row_key, summary_of_runs
from agent_judge.run import Run
from agent_judge.store import Store
from tests.report.runs import BINDING, drawn_rows, make_run, plan_rows


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("standing")
    rows = drawn_rows(folder, 4)
    return {name: Run.open(make_run(folder / name, rows)) for name in ("one", "two")}


def test_runs_of_one_kind_add_up(runs):
    summary = summary_of_runs(runs)
    assert set(summary["by_editor"]) == {"editor 0", "editor 1"}
    assert summary["by_editor"]["editor 0"]["IF"]["n_planned"] == 4
    assert sum(planned_of(runs).values()) == 16


def test_rows_of_two_runs_keep_apart(runs):
    ids = {record.id for record in labelled_records(runs)}
    assert ids == {row_key(name, f"row {i}") for name in ("one", "two") for i in range(4)}


def test_one_run_stands_as_it_says_itself(runs):
    assert summary_of_runs({"one": runs["one"]}) == runs["one"].summary()


def test_plots_hold_every_scored_row_with_a_box_and_a_known_size(runs):
    one = {"one": runs["one"]}
    sizes_wh = {row_key("one", f"row {i}"): (160, 120) for i in range(4)}
    plots = plots_of(diagnose_runs(one, sizes_wh))
    json.dumps(plots)
    assert [plot["editor"] for plot in plots] == ["editor 0", "editor 1"]
    points = plots[0]["scale"]["IF"]["points"]
    # A disc 24 px across in a picture 160 px wide and 120 px high.
    assert points == [
        ["one/row 0", 4, pytest.approx(-0.8239), pytest.approx(-0.699)],
        ["one/row 2", 2, pytest.approx(-0.8239), pytest.approx(-0.699)],
    ]
    assert plots[0]["levels"]["IF"] == {"n_at_level": [0, 1, 0, 1], "n_planned": 2}


def test_editors_are_told_apart_where_two_kinds_of_runs_share_a_mode(tmp_path):
    boxed = drawn_rows(tmp_path, 1)
    unboxed = [{k: v for k, v in row.items() if k != "boxes"} for row in boxed]

    def editors(*kinds: tuple[list[dict[str, Any]], dict[str, str]]) -> set[str]:
        folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        runs = {}
        for name, (rows, change) in zip("ab", kinds, strict=True):
            with Store.create(folder / name, {**BINDING, **change}) as store:
                plan_rows(store, rows)
            runs[name] = Run.open(folder / name)
        return {cell.editor for cell in planned_of(runs)}

    apart = {"editor 0 in a", "editor 0 in b"}
    assert editors((boxed, {}), (boxed, {"rubric": "another"})) == apart
    assert editors((boxed, {}), (boxed, {"mode": "oracle"})) == {"editor 0"}
    assert editors((boxed, {}), (unboxed, {"rubric": "another"})) == {"editor 0"}
