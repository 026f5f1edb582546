import json

import pytest

from tests.cli.calls import call
from tests.report.runs import drawn_rows, make_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    return make_run(folder / "run", drawn_rows(folder, 2))


def test_report_lies_in_the_run_folder_unless_told_otherwise(run, tmp_path, capsys):
    assert call("report", run) == 0
    page = run / "report" / "index.html"
    assert f"2 rows: open {page}" in capsys.readouterr().out
    assert page.is_file()
    assert call("report", run, "-o", tmp_path / "r") == 0
    assert set(json.loads((tmp_path / "r" / "summary.json").read_text())) >= {
        "overall",
        "by_editor",
        "by_type",
        "reasons",
    }


def test_report_says_when_the_judge_was_never_audited(run, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert call("report", run, "-o", tmp_path / "r") == 0
    assert "This judge was never audited." in (tmp_path / "r" / "index.html").read_text()


def test_missed_mark_exits_4_and_names_the_editor(run, tmp_path, capsys):
    out = tmp_path / "r"
    assert call("report", run, "-o", out, "--fail-under", "VC=90,IF=50") == 0
    assert call("report", run, "-o", out, "--fail-under", "IF=80") == 4
    assert capsys.readouterr().err == "editor 1 (oracle mode): IF is 66.7, 80 asked for\n"
    assert call("report", run, "-o", out, "--fail-under", "IF") == 2


def test_folder_of_something_else_is_not_overwritten(run, tmp_path, capsys):
    (tmp_path / "thesis.tex").write_text("x")
    assert call("report", run, "-o", tmp_path) == 2
    assert "holds other files" in capsys.readouterr().err


def test_a_file_in_the_place_of_the_folder_stays_and_is_one_line(run, tmp_path, capsys):
    (tmp_path / "file").write_text("x")
    for out in (tmp_path / "file", tmp_path / "file" / "r", tmp_path / ("x" * 256)):
        assert call("report", run, "-o", out) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert (tmp_path / "file").read_text() == "x"
