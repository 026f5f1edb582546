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


@pytest.fixture
def benchmark(tmp_path):
    """ImgEdit's layout: two edits, one output."""
    data = encode_png(scene((40, 30)).pixels)
    for name in ("before/animal/1.png", "after/7.png"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    edits = {key: {"id": "animal/1.png", "prompt": "Make it red."} for key in ("7", "8")}
    (tmp_path / "edits.json").write_text(json.dumps(edits))
    return [tmp_path / name for name in ("edits.json", "before", "after")]


def test_a_benchmark_becomes_a_manifest(benchmark, tmp_path, capsys):
    out = tmp_path / "m.jsonl"
    assert call("import", "imgedit", *benchmark, "-o", out, "--editor", "mine") == 0
    shown = capsys.readouterr().out
    assert "missing  1: 8" in shown
    assert f"agent-judge run {out}" in shown
    assert call("validate", out, "--no-images") == 0


def test_without_an_output_file_nothing_is_written(benchmark, tmp_path, capsys):
    before = sorted(tmp_path.rglob("*"))
    assert call("import", "imgedit", *benchmark) == 0
    assert "matched  1" in capsys.readouterr().out
    assert sorted(tmp_path.rglob("*")) == before


def test_faults_of_a_benchmark_write_nothing_and_exit_2(benchmark, tmp_path, capsys):
    benchmark[0].write_text('{"7": {"id": "animal/1.png"}}')
    out = tmp_path / "m.jsonl"
    assert call("import", "imgedit", *benchmark, "-o", out) == 2
    shown = capsys.readouterr()
    assert "keys     id -> source" in shown.out
    assert "edits.json:1: instruction: expected a key prompt" in shown.err
    assert not out.exists()


def test_a_missing_table_is_one_line(benchmark, tmp_path, capsys):
    benchmark[0].unlink()
    assert call("import", "imgedit", *benchmark, "-o", tmp_path / "m.jsonl") == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--map", "instruction"], "expected NAME=VALUE"),
        (["--map", "colour=x"], "expected one of source, instruction, type"),
        (["--map", "instruction=text"], "no entry has that key; found id, prompt"),
        (["--map", "type=a", "--map", "type=b"], "type was given before"),
    ],
)
def test_a_map_that_fits_nothing_is_told(benchmark, capsys, flags, told):
    assert call("import", "imgedit", *benchmark, *flags) == 2
    assert told in capsys.readouterr().err.splitlines()[-1]


def test_a_map_names_another_key(benchmark, tmp_path, capsys):
    benchmark[0].write_text('{"7": {"file": "animal/1.png", "prompt": "x"}}')
    out = tmp_path / "m.jsonl"
    assert call("import", "imgedit", *benchmark, "--map", "source=file", "-o", out) == 0


def test_boxes_of_coco_come_into_a_manifest(benchmark, tmp_path, capsys):
    out, boxed = tmp_path / "m.jsonl", tmp_path / "boxed.jsonl"
    call("import", "imgedit", *benchmark, "-o", out)
    coco = {
        "images": [{"id": 1, "file_name": "1.png"}],
        "annotations": [{"image_id": 1, "bbox": [3, 4, 10, 10]}],
        "categories": [],
    }
    (tmp_path / "coco.json").write_text(json.dumps(coco))
    assert call("import", "boxes-coco", out, tmp_path / "coco.json", "-o", boxed) == 0
    assert "'8' has the boxes of '7'" in capsys.readouterr().out
    assert json.loads(boxed.read_text().splitlines()[0])["boxes"] == [[3, 4, 10, 10]]
    assert call("validate", boxed, "--no-images") == 0


@pytest.mark.slow
def test_each_verb_has_its_help(capsys):
    verbs = "folder dlebench gedit imgedit kris rise giebench magicbrush bpm dice"
    for verb in [*verbs.split(), "boxes-coco", "boxes-label-studio", "boxes-masks"]:
        assert call("import", verb, "--help") == 0
    assert "--map" in capsys.readouterr().out
