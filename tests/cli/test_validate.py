import json

import pytest

from tests.cli.calls import call
from tests.report.runs import drawn_rows


@pytest.fixture
def manifest(tmp_path):
    def write(*rows):
        path = tmp_path / "m.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return write


@pytest.fixture
def rows(tmp_path):
    return drawn_rows(tmp_path, 3)


def test_good_manifest_exits_0(manifest, rows, capsys):
    assert call("validate", manifest(*rows)) == 0
    assert "3 rows: 0 faults, 0 warnings" in capsys.readouterr().out


def test_structure_faults_are_listed_together_with_their_lines(manifest, rows, capsys):
    rows[0]["boxes"] = []
    rows[2]["instruction"] = ""
    assert call("validate", manifest(*rows), "--no-images") == 2
    shown = capsys.readouterr().err
    assert "m.jsonl:1: boxes" in shown
    assert "m.jsonl:3: instruction" in shown


def test_row_faults_exit_2_and_do_not_matter_without_pictures(manifest, rows, tmp_path, capsys):
    (tmp_path / "bad.png").write_bytes(b"no picture")
    rows[1]["edited"] = "bad.png"
    rows[2]["boxes"] = [[1000, 1000, 1010, 1010]]
    path = manifest(*rows)
    assert call("validate", path) == 2
    shown = capsys.readouterr()
    assert "fault: line 2 (id 'row 1'): invalid_image" in shown.err
    assert "fault: line 3 (id 'row 2'): invalid_box" in shown.err
    assert call("validate", path, "--no-images") == 0
    assert call("validate", path, "--limit", "1") == 0
    assert "the first 1 only" in capsys.readouterr().out


def test_warnings_alone_exit_0(manifest, rows, capsys):
    rows[0]["edited"] = rows[0]["source"]
    assert call("validate", manifest(*rows)) == 0
    assert "warning: line 1 (id 'row 0'): identical" in capsys.readouterr().out


def test_paths_outside_need_a_root(manifest, rows, tmp_path, capsys):
    inside = tmp_path / "deep"
    inside.mkdir()
    path = inside / "m.jsonl"
    path.write_text(json.dumps(rows[0]) + "\n")
    assert call("validate", path) == 2
    assert "--root" in capsys.readouterr().err
    assert call("validate", path, "--root", tmp_path) == 0


@pytest.mark.slow
def test_deep_names_suspect_rows_and_exits_0(manifest, rows, capsys):
    rows[1]["bbox"] = rows[1].pop("boxes", [[1, 1, 9, 9]])
    rows[2]["instruction"] = "None"
    path = manifest(*rows)
    assert call("validate", path, "--deep") == 0
    shown = capsys.readouterr().out
    assert "warning: line 2 (id 'row 1'): the column 'bbox' is not read" in shown
    assert "warning: line 3 (id 'row 2'): the instruction 'None' says nothing" in shown
    assert call("validate", path) == 0
    assert "0 warnings" in capsys.readouterr().out
