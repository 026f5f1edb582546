"""What comes from files, models and endpoints reaches no terminal as a command to it."""

import pytest

from agent_judge.cli.terminal import shown, shown_lines
from agent_judge.testing import LoopbackEndpoint, says
from tests.cli.calls import call
from tests.report.runs import drawn_rows, make_run

STEERS = "\x1b[2J\x9b1m\u202e"


def harmless(text: str) -> bool:
    return not any(char in text for char in "\x1b\x9b\u202e")


@pytest.mark.parametrize("char", ["\x00", "\x07", "\r", "\x1b", "\x7f", "\x9b", "\u202e", "\u2066"])
def test_characters_that_steer_are_replaced(char):
    assert shown(f"a{char}b") == shown_lines(f"a{char}b") == "a\ufffdb"


def test_only_lines_keep_their_ends():
    assert (shown("a\n\tb"), shown_lines("a\n\tb")) == ("a\ufffd\ufffdb", "a\n\tb")


def test_a_manifest_names_its_columns_without_steering(tmp_path, capsys):
    name = "\\u001b[2J\\u009b1m\\u202e"
    (tmp_path / "m.jsonl").write_text(f'{{"{name}": 1, "{name}": 2}}\n')
    assert call("validate", tmp_path / "m.jsonl") == 2
    told = capsys.readouterr().err
    assert "the key appears twice" in told
    assert harmless(told)


def test_an_editor_that_misses_a_mark_is_named_without_steering(tmp_path, capsys):
    rows = [{**row, "editor": f"e{STEERS}"} for row in drawn_rows(tmp_path, 2)]
    make_run(tmp_path / "run", rows)
    assert call("report", tmp_path / "run", "-o", tmp_path / "out", "--fail-under", "IF=100") == 4
    told = capsys.readouterr().err
    assert "100 asked for" in told
    assert harmless(told)


def test_a_model_that_an_endpoint_lists_is_named_without_steering(capsys):
    with LoopbackEndpoint(lambda request: says("OK"), models=[f"m{STEERS}", "n"]) as endpoint:
        assert call("doctor", "--base-url", endpoint.base_url) == 2
    told = capsys.readouterr().err
    assert "name a model with --judge" in told
    assert harmless(told)
