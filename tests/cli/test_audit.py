"""`agent-judge audit`: the exam, its scores and the card."""

import json

import pytest

from tests.cli.runs import agent_judge


@pytest.mark.slow
def test_a_judge_sits_an_exam_and_gets_its_card(tmp_path):
    out, cards = tmp_path / "audit", tmp_path / "cards"
    args = ("audit", "--out", out, "--cards", cards, "--rows", "6", "--modes", "oracle")
    done = agent_judge(*args, "--json")
    assert done.returncode == 0, done.stderr
    scores = json.loads(done.stdout)["oracle"]
    assert scores["VC"]["overall"]["n_planned"] == 6
    assert json.loads((out / "scores.json").read_text(encoding="utf-8"))["oracle"] == scores
    [card] = cards.glob("measured*.json")
    assert json.loads(card.read_text(encoding="utf-8"))["judge"] == "measured"
    table = agent_judge(*args).stdout
    assert [line.split()[:2] for line in table.splitlines() if line.startswith("oracle")] == [
        ["oracle", "IF"],
        ["oracle", "VC"],
    ]
    exam = out / "exam" / "manifest.jsonl"
    told = agent_judge("run", exam, "--out", tmp_path / "run", "--limit", "2", "--cards", cards)
    assert "of the planted edits that it scored" in told.stdout
    report = agent_judge("report", tmp_path / "run", "--cards", cards)
    assert report.returncode == 0, report.stderr
    page = (tmp_path / "run" / "report" / "index.html").read_text(encoding="utf-8")
    assert "of the planted edits that it scored" in page
    other = agent_judge(*args, "--seed", "7")
    assert other.returncode == 2
    assert "another exam" in other.stderr
