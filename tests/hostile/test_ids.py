"""Ids, editors and instructions are data: no part of the program may read them as anything else."""

import csv
import io
import json

import pytest

from agent_judge.images import encode_png
from tests.cli.calls import call
from tests.pictures import backdrop

IDS = (
    *("x/1", "x_1", "..", "/", "a b", "%2e%2e%2f", "-rf", "--help", "null", "=1+1", "🇩🇪 é"),
    *("[/x]", "[red]x[/]", ":smile:", "'; drop table records; --", '<b>&"</b>', "x" * 10_000),
)
EDITORS = ("[/m]", ":smile:", "<script>alert(1)</script>", "a\x1b[31mb\u202e")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ids")
    (folder / "p.png").write_bytes(encode_png(backdrop((40, 30))))
    rows = [
        {
            "id": id_,
            "source": "p.png",
            "edited": "p.png",
            "editor": EDITORS[n % len(EDITORS)],
            "item": f"[/i] {id_}",
            "instruction": "paint it [/red] </script><script>alert(2)</script>",
        }
        for n, id_ in enumerate(IDS)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "m.jsonl").write_text(text, encoding="utf-8")
    assert call("run", folder / "m.jsonl", "--out", folder / "run") == 0
    return folder / "run"


def test_a_resumed_run_shows_editors_as_they_are_but_steers_no_terminal(run, capsys):
    assert call("run", run.parent / "m.jsonl", "--out", run) == 0
    told = capsys.readouterr().out
    assert "[/m]" in told
    assert ":smile:" in told
    assert "\x1b[31m" not in told
    assert "\u202e" not in told


def test_every_id_comes_back_from_every_export(run, tmp_path, capsys):
    for form in ("jsonl", "csv", "parquet"):
        assert call("export", run, "--format", form, "-o", tmp_path / f"x.{form}") == 0
    lines = (tmp_path / "x.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    cells = csv.DictReader(io.StringIO((tmp_path / "x.csv").read_text(encoding="utf-8")))
    assert [row["id"] for row in rows[::2]] == list(IDS)
    assert [row["id"] for row in cells][::2] == list(IDS)


@pytest.mark.parametrize("id_", IDS)
@pytest.mark.slow
def test_every_id_can_be_shown(run, id_, capsys):
    assert call("show", run, "--criterion", "VC", "--json", "--", id_) == 0
    assert json.loads(capsys.readouterr().out)["id"] == id_


def test_no_text_of_a_row_becomes_code_of_the_report(run, capsys):
    assert call("report", run) == 0
    pages = [path.read_text(encoding="utf-8") for path in (run / "report").rglob("*.html")]
    assert pages
    assert not any("<script>alert" in page or "</script><script>" in page for page in pages)
