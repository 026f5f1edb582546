"""The verb as a program: started, killed, started again."""

import json
import urllib.request

import pytest

from tests.annotate.program import running
from tests.annotate.sessions import said, write_rows
from tests.cli.calls import call


def get(url):
    with urllib.request.urlopen(url, timeout=20) as reply:
        return json.load(reply)


def put(url, number, data):
    request = urllib.request.Request(
        f"{url}entries/{number}",
        json.dumps(data).encode(),
        {"Content-Type": "application/json"},
        method="PUT",
    )
    with urllib.request.urlopen(request, timeout=20) as reply:
        assert reply.status == 200


@pytest.mark.slow
def test_ratings_of_two_people_survive_a_kill_and_are_gone_on_with(tmp_path, capsys):
    manifest = write_rows(tmp_path, 3)
    with running(manifest) as (url, process):
        put(url, 0, said())
        put(url, 0, said("bob"))
        process.kill()
        process.wait()
    with running(manifest) as (again, _):
        assert again != url
        assert get(f"{again}about")["raters"] == ["ann", "bob"]
        assert get(f"{again}entries?by=bob")["0"]["levels"] == {"IF": 4, "VC": 4}
        put(again, 1, said())
    table = (tmp_path / "manifest-labels.csv").read_text(encoding="utf-8")
    assert len(table.splitlines()) == 4

    assert call("annotate", manifest, "--merge-into", tmp_path / "merged.jsonl") == 0
    assert "ann 2 rows, bob 1 rows" in capsys.readouterr().out
    merged = (tmp_path / "merged.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in merged.splitlines()]
    assert sorted(len(row["labels"]) for row in rows) == [1, 2, 3]
    assert call("validate", tmp_path / "merged.jsonl") == 0


@pytest.mark.slow
def test_a_sample_is_what_is_served(tmp_path):
    manifest = write_rows(tmp_path, 6)
    with running(manifest, "--sample", 2, "--calibration", 1) as (url, _):
        about = get(f"{url}about")
    assert (about["n_rows"], about["n_calibration"]) == (2, 1)


def test_a_table_of_someone_else_is_left_alone(tmp_path, capsys):
    manifest = write_rows(tmp_path, 1)
    mine = tmp_path / "mine.csv"
    mine.write_text("id,by,IF\n", encoding="utf-8")
    assert call("annotate", manifest, "--out", mine) == 2
    assert "was not written by annotate" in capsys.readouterr().err
    assert mine.read_text(encoding="utf-8") == "id,by,IF\n"


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (("--out", "labels.txt"), "expected a .csv file"),
        (("--root", "none"), "no such folder"),
        (("--merge-into", "none/merged.jsonl"), "cannot write 'none/merged.jsonl'"),
    ],
)
def test_mistakes_are_one_line_and_exit_2(tmp_path, monkeypatch, capsys, args, complaint):
    monkeypatch.chdir(tmp_path)
    assert call("annotate", write_rows(tmp_path, 1), *args) == 2
    assert complaint in capsys.readouterr().err


def test_a_manifest_without_pictures_has_nothing_to_rate(tmp_path, capsys):
    manifest = write_rows(tmp_path, 1)
    (tmp_path / "source.png").unlink()
    assert call("annotate", manifest) == 2
    assert "nothing to rate" in capsys.readouterr().err
