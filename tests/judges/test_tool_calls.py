"""Whatever an endpoint makes of tool calls, the history stays valid and each call is answered."""

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_judge.judges.tool_calls import MAX_CALLS, read_tool_calls, written_call


def message(*calls, **fields):
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **fields}


def call(arguments="{}", call_id="call_a", name="zoom_in", **fields):
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function, **fields}


def test_a_good_message_is_replayed_verbatim_with_unknown_fields():
    signed = {"google": {"thought_signature": "c2ln"}}
    came = message(call(' {"picture":"source"}', extra_content=signed, index=0), reasoning="hm")
    repaired, calls = read_tool_calls(came)
    assert repaired is came
    assert [(c.id, c.name, c.args, c.fault) for c in calls] == [
        ("call_a", "zoom_in", {"picture": "source"}, None)
    ]


@pytest.mark.parametrize("ids", [["call_0", "call_0"], [None, None], ["", "x"], [3, "call00000"]])
def test_ids_are_made_unique_in_message_and_answers(ids):
    calls = [call(call_id=i, extra_content={"n": n}) for n, i in enumerate(ids)]
    calls[0] = {k: v for k, v in calls[0].items() if ids[0] is not None or k != "id"}
    came = message(*calls)
    before = copy.deepcopy(came)
    repaired, read = read_tool_calls(came, taken={"call00001"})
    made = [c.id for c in read]
    assert len({*made, "call00001"}) == 3
    assert [c["id"] for c in repaired["tool_calls"]] == made
    assert [c["extra_content"]["n"] for c in repaired["tool_calls"]] == [0, 1]
    assert came == before


def test_an_id_of_an_earlier_turn_is_not_used_again():
    _, calls = read_tool_calls(message(call(call_id="call_0")), taken=["call_0"])
    assert calls[0].id != "call_0"


@pytest.mark.parametrize("arguments", ["", None, "null", " ", "{}", {}, '"{}"', '""'])
def test_no_arguments_are_an_empty_object(arguments):
    repaired, calls = read_tool_calls(message(call(arguments)))
    assert (calls[0].args, calls[0].fault) == ({}, None)
    assert json.loads(repaired["tool_calls"][0]["function"]["arguments"]) == {}


@pytest.mark.parametrize(
    "arguments",
    [
        {"box": [1, 2]},
        '{"box": [1, 2]}',
        json.dumps('{"box": [1, 2]}'),
        json.dumps(json.dumps('{"box": [1, 2]}')),
        '```json\n{"box": [1, 2]}\n```',
    ],
)
def test_arguments_are_read_from_every_encoding_and_replayed_as_json(arguments):
    repaired, calls = read_tool_calls(message(call(arguments)))
    assert (calls[0].args, calls[0].fault) == ({"box": [1, 2]}, None)
    assert json.loads(repaired["tool_calls"][0]["function"]["arguments"]) == {"box": [1, 2]}


def test_a_control_character_in_arguments_is_no_fault_and_is_escaped_in_the_replay():
    repaired, calls = read_tool_calls(message(call('{"phrases": "a\nb"}')))
    assert calls[0].args == {"phrases": "a\nb"}
    assert json.loads(repaired["tool_calls"][0]["function"]["arguments"]) == {"phrases": "a\nb"}


@pytest.mark.parametrize(
    "arguments",
    [
        '{"box": [1, 2',
        "{'a': 1}",
        "[1]",
        "7",
        '{"a": NaN}',
        "{" * 9000,
        "9" * 5000,
        '{"a":"\\ud800"}',
        "x" * 30_000,
        '{"a": 1}{"b": 2}',
        [1],
        '"' * 7,
    ],
)
def test_broken_arguments_are_told_and_replayed_as_valid_json(arguments):
    repaired, calls = read_tool_calls(message(call(arguments)))
    assert "not valid JSON" in (calls[0].fault or "")
    assert calls[0].args == {}
    replayed = json.loads(repaired["tool_calls"][0]["function"]["arguments"])
    assert isinstance(replayed, dict)


def test_calls_over_the_limit_are_answered_as_not_run():
    came = message(*(call(call_id=f"c{n}") for n in range(MAX_CALLS + 2)))
    repaired, calls = read_tool_calls(came)
    assert [c.fault is None for c in calls] == [True] * MAX_CALLS + [False] * 2
    assert "at most" in (calls[-1].fault or "")
    assert repaired is came


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("functions.zoom_in", "zoom_in"),
        ("default_api:zoom_in", "zoom_in"),
        (" zoom_in\n", "zoom_in"),
        ("zoom in", "zoom_in"),
        ("", "unnamed"),
        (None, "unnamed"),
    ],
)
def test_names_are_freed_of_their_namespace(name, read):
    repaired, calls = read_tool_calls(message(call(name=name)))
    assert calls[0].name == read
    assert repaired["tool_calls"][0]["function"]["name"] == read


@pytest.mark.parametrize("tool_calls", [None, [], "x", 7, [None], {}])
def test_a_message_without_calls_is_an_answer(tool_calls):
    repaired, calls = read_tool_calls(
        {"role": "assistant", "content": "a", "tool_calls": tool_calls}
    )
    if tool_calls == {}:
        assert calls[0].name == "unnamed"
    else:
        assert (repaired, calls) == ({"role": "assistant", "content": "a"}, [])


@settings(max_examples=100, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["id", "function", "name", "arguments", "type"]), inner
            )
        ),
        max_leaves=10,
    )
)
@pytest.mark.slow
def test_any_tool_calls_give_a_history_that_is_valid(tool_calls):
    repaired, calls = read_tool_calls({"role": "assistant", "tool_calls": tool_calls})
    wire = repaired.get("tool_calls", [])
    assert [c["id"] for c in wire] == [c.id for c in calls]
    assert len({c.id for c in calls}) == len(calls)
    for entry in wire:
        assert isinstance(json.loads(entry["function"]["arguments"]), dict)


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "zoom_in", "arguments": {}}</tool_call>',
        "<function=zoom_in><parameter=picture>source</parameter></function>",
        '[TOOL_CALLS] zoom_in {"picture": "source"}',
        '```json\n{"name": "zoom_in", "arguments": {"picture": "source"}}\n```',
        "I look closer:\nzoom_in(picture='source', box=[1,2,3,4])",
        "```tool_code\nprint(default_api.zoom_in(picture='source'))\n```",
        "print(default_api.zoom_in(picture='source'))",
        "<|python_tag|>zoom_in.call(picture='source')",
        "[zoom_in(picture='source', box=[1, 2, 3, 4])]",
        "I need a closer look: zoom_in(source, [1, 2, 3, 4]).",
        "<\uff5ctool\u2581calls\u2581begin\uff5c>function<\uff5ctool\u2581sep\uff5c>zoom_in\n```json",
        '<\uff5cDSML\uff5cinvoke name="zoom_in">',
        "<|channel|>commentary to=functions.zoom_in <|constrain|>json<|message|>{}<|call|>",
        '<minimax:tool_call>\n<invoke name="zoom_in">',
        "<zoom_in><picture>source</picture></zoom_in>",
        'Thought: look closer\nAction: zoom_in\nAction Input: {"picture": "source"}',
        '{"action": "zoom_in", "action_input": {}}',
        '>>>zoom_in\n{"picture": "source"}',
    ],
)
def test_a_call_written_as_text_is_told(text):
    assert "'zoom_in'" in (written_call(text, ["difference", "zoom_in"]) or "")


@pytest.mark.parametrize(
    "text",
    [
        "I used zoom_in and saw it.",
        "The difference (a red cup) is clear; no other difference(s).",
        '{"label": "Wrong Action"}',
        "",
        "\n" * 20_000,
    ],
)
def test_a_mention_of_a_tool_is_no_call(text):
    assert written_call(text, ["zoom_in", "difference"]) is None
