import json

import pytest

from agent_judge.images import encode_png
from tests.cli.calls import call
from tests.pictures import scene


@pytest.fixture
def folders(tmp_path):
    data = encode_png(scene((40, 30)).pixels)
    for name in ("sources/cat.png", "sources/dog.png", "outputs/cat.png"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    (tmp_path / "t.csv").write_text("source,instruction\ncat,Make it red.\ndog,Remove it.\n")
    return tmp_path


def test_folders_become_a_manifest_that_validates(folders, capsys):
    out = folders / "m.jsonl"
    paths = [folders / name for name in ("sources", "outputs", "t.csv")]
    assert call("import", "folder", *paths, "-o", out, "--editor", "mine") == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(r["id"], r["editor"], r["instruction"]) for r in rows] == [
        ("cat", "mine", "Make it red."),
        ("dog", "mine", "Remove it."),
    ]
    assert "missing  1: dog" in capsys.readouterr().out
    assert call("validate", out, "--no-images") == 0


def test_next_command_names_the_roots_that_it_needs(folders, capsys):
    (folders / "manifests").mkdir()
    out = folders / "manifests" / "m.jsonl"
    paths = [folders / name for name in ("sources", "outputs", "t.csv")]
    assert call("import", "folder", *paths, "-o", out) == 0
    shown = capsys.readouterr().out
    assert f"--root {folders / 'sources'} --root {folders / 'outputs'}" in shown


def test_faults_of_the_table_write_nothing(folders, capsys):
    (folders / "t.csv").write_text("source,instruction\nowl,Make it red.\n")
    paths = [folders / name for name in ("sources", "outputs", "t.csv")]
    assert call("import", "folder", *paths, "-o", folders / "m.jsonl") == 2
    assert "no source has the stem 'owl'" in capsys.readouterr().err
    assert not (folders / "m.jsonl").exists()
