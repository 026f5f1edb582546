"""What a manifest may name instead of a picture: each row ends alone, with its own fate."""

import json
import os
import socket

import pytest

from agent_judge.images import encode_png
from agent_judge.run import Run
from tests.cli.calls import call
from tests.pictures import backdrop

NO_PICTURES = ("pipe.png", "folder.png", "socket.png", "empty.png", "cut.png", "page.png")
NO_FILES = ("nowhere.png", "dangling.png", "loop.png")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd ünï 😀")
    good = encode_png(backdrop((64, 48)))
    (folder / "good.png").write_bytes(good)
    os.mkfifo(folder / "pipe.png")
    (folder / "folder.png").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "socket.png"))
    (folder / "empty.png").touch()
    (folder / "cut.png").write_bytes(good[: len(good) // 2])
    (folder / "page.png").write_bytes(b"<html>404 not found</html>")
    (folder / "dangling.png").symlink_to("nowhere.png")
    (folder / "loop.png").symlink_to("loop.png")
    rows = [
        {"id": f"{column} {name}", "instruction": "paint it red", **pair(column, name)}
        for column in ("source", "edited", "reference")
        for name in (*NO_PICTURES, *NO_FILES)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "m.jsonl").write_text(text, encoding="utf-8")
    return folder


def pair(column, name):
    return {"source": "good.png", "edited": "good.png", column: name}


@pytest.mark.slow
def test_no_odd_file_stops_a_run_or_is_judged_again(folder, capsys):
    assert call("run", folder / "m.jsonl", "--out", folder / "run") == 3
    for record in Run.open(folder / "run").records():
        column, name = record.id.split(" ")
        assert (record.level, record.status) == (None, fate(column, name)), record
        assert "\n" not in record.explanation
    capsys.readouterr()
    assert call("run", folder / "m.jsonl", "--out", folder / "run") == 3
    assert f"{record.id} {record.criterion}" not in capsys.readouterr().out
    assert call("report", folder / "run") == 0


def fate(column, name):
    if column != "edited":
        return "unscored"
    return "missing_output" if name in NO_FILES else "invalid_image"
