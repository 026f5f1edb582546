import pytest

from agent_judge.records import Evidence
from agent_judge.report.steps import steps_of, summary_of, text_of
from agent_judge.store import Saved
from tests.report.runs import record, scored

ROW = {"id": "a", "instruction": "x"}


def evidence(*tools: str) -> tuple[Evidence, ...]:
    return tuple(Evidence(tool=tool, args={}, text="{}") for tool in tools)


def calls(*names: str, said: str | None = None):
    entries = [
        {"id": f"c{i}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for i, name in enumerate(names)
    ]
    return {"role": "assistant", "content": said, "tool_calls": entries}


def saved(found: tuple[Evidence, ...], *replies, status: str = "scored") -> Saved:
    made = (
        scored(ROW, "IF", evidence=found)
        if status == "scored"
        else record(ROW, "IF", status="unscored", reason="step_limit", evidence=found)
    )
    stored = tuple({"vote": v, "look": k, "message": m} for v, k, m in replies)
    return Saved(record=made, round=0, inputs={}, replies=stored)


def told(steps):
    return [(s.vote, s.look, s.said, [e.tool for e in s.evidence]) for s in steps]


def test_each_message_stands_with_the_replies_to_its_calls():
    one = saved(
        evidence("zoom_in", "difference", "enhance"),
        (0, 0, calls("zoom_in", "difference", said="I look.")),
        (0, 0, calls("enhance")),
        (0, 0, {"role": "assistant", "content": "done"}),
    )
    assert told(steps_of(one)) == [
        (0, 0, "I look.", ["zoom_in", "difference"]),
        (0, 0, "", ["enhance"]),
        (0, 0, "done", []),
    ]


def test_calls_of_a_last_message_were_not_run_and_take_no_evidence_of_the_next_vote():
    one = saved(
        evidence("zoom_in", "difference"),
        (0, 0, calls("zoom_in")),
        (0, 0, calls("enhance")),
        (1, 0, calls("difference")),
        (1, 0, {"role": "assistant", "content": "done"}),
        status="unscored",
    )
    assert [row[3] for row in told(steps_of(one))] == [["zoom_in"], [], ["difference"], []]


def test_evidence_without_its_message_is_not_lost():
    assert told(steps_of(saved(evidence("zoom_in")))) == [(0, 0, "", ["zoom_in"])]


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "plain"}, "plain"),
        ({"content": None, "refusal": "no"}, "no"),
        ({"content": None}, ""),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, 3]}, "ab"),
    ],
)
def test_text_of_a_message(message, text):
    assert text_of(message) == text


@pytest.mark.parametrize(
    ("reply", "summary"),
    [
        ('{"summary": "two regions", "x": 1}', "two regions"),
        ('{"error": "no such box", "summary": "x"}', "no such box"),
        ('{"x": 1}', '{"x": 1}'),
        ("[1]", "[1]"),
        ("no json", "no json"),
    ],
)
def test_summary_of_a_tool_reply(reply, summary):
    assert summary_of(reply) == summary
