"""Instructions taken apart: read right, or refused with the exact fault."""

import json
from contextlib import suppress
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_judge.errors import ReplyError
from agent_judge.judges.answers import answer_schema, read_answer
from agent_judge.metrics.parsed_instruction import ParsedInstruction
from agent_judge.rubrics.prompts import system_prompt
from agent_judge.rubrics.protocol import rubric_of
from tests.rubrics.contexts import PLAIN

PARSE = rubric_of("size").first_step

CUP = {
    "original_parts": ["the red cup"],
    "edited_parts": ["a blue cup"],
    "whole_picture": False,
    "edit_type": "change color",
    "reference_object": None,
    "size": "none",
    "position": "none",
}
ADD = {
    **CUP,
    "original_parts": [],
    "edited_parts": ["a cat"],
    "edit_type": "add",
    "reference_object": "the sofa",
    "position": "left",
}
GLOBAL = {**CUP, "original_parts": [], "edited_parts": [], "whole_picture": True}
READ = ParsedInstruction(
    original_parts=("the red cup",),
    edited_parts=("a blue cup",),
    whole_picture=False,
    edit_type="change color",
    reference_object=None,
    size="none",
    position="none",
)
BARE = json.dumps(CUP)


def read_parse(text):
    return read_answer(text, PARSE, to_box=None)


def read(values, **changes):
    return read_parse(json.dumps({**values, **changes}))


@pytest.mark.parametrize(
    "text",
    [
        BARE,
        f"Sure.\n```json\n{BARE}\n```\nThat is all.",
        f"<think>Perhaps edit_type add?</think>{BARE}",
        [{"type": "text", "text": BARE}],
        json.dumps(BARE),
        json.dumps({"result": CUP}),
        f"{BARE}\n{BARE}",
        BARE.replace('"edit_type"', '"Edit_Type"'),
        BARE.replace("change color", "Change_Colour."),
        BARE.replace("change color", "color change"),
        BARE.replace('"size": "none"', '"size": null'),
        BARE.replace('"size": "none"', '"size": "N/A"'),
        BARE.replace("false", '"no"'),
        BARE.replace('["the red cup"]', '"the red  cup"'),
        BARE.replace('["the red cup"]', '["the red cup", "", null, "none"]'),
        BARE.replace("null", '"none"'),
        BARE.replace("null", '"the table"'),
    ],
)
def test_spellings_with_one_meaning_are_read(text):
    assert read_parse(text) == READ


def test_addition_keeps_what_it_is_placed_by():
    found = read(ADD)
    assert (found.reference_object, found.position) == ("the sofa", "left")
    assert found.original_parts == ()


@pytest.mark.parametrize("nothing", [[], None, "none", ["None"], "N/A"])
def test_nothing_by_any_name_is_no_part(nothing):
    assert read(ADD, original_parts=nothing).original_parts == ()


@pytest.mark.parametrize("everything", [[], "all", ["All"], ["everything"]])
def test_everything_by_any_name_is_the_whole_picture(everything):
    found = read(GLOBAL, original_parts=everything, edited_parts=everything)
    assert found.whole_picture
    assert found.original_parts == found.edited_parts == ()


@pytest.mark.parametrize(("word", "means"), [("larger", "bigger"), ("Same", "unchanged")])
def test_words_for_a_size_on_offer_are_read(word, means):
    assert read(CUP, edit_type="change size", size=word).size == means


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "empty"),
        ("I'd say it recolours a cup.", "no JSON object was given"),
        ('{"edit_type": "add", ', "JSON"),
        ('{"kind": "add"}', "'edit_type' is missing"),
        (f"{BARE} or {json.dumps(ADD)}", "two different JSON objects"),
        (BARE.replace("change color", "recolour"), "'edit_type' must be exactly one of 'add', "),
        (BARE.replace("change color", "add or remove"), "but was 'add or remove'"),
        (BARE.replace('"size": "none"', '"size": 3'), "'size' must be exactly one of .* but was 3"),
        (BARE.replace('"position": "none"', '"position": "near"'), "'position' must .* 'near'"),
        (BARE.replace('"size": "none"', '"size": "none", "size": "bigger"'), "given twice, differ"),
        (BARE.replace('["the red cup"]', "[3]"), "'original_parts' must hold text, but was 3"),
        (BARE.replace('["the red cup"]', '{"a": 1}'), "'original_parts' must hold text"),
        (BARE.replace("the red cup", "x" * 201), "has 201 characters"),
        (BARE.replace("false", "null"), "'whole_picture' must be true or false, but it is missing"),
        (BARE.replace("null", "[1]"), "'reference_object' must hold text"),
    ],
)
def test_fault_is_told_exactly(text, told):
    with pytest.raises(ReplyError, match=told):
        read_parse(text)


@pytest.mark.parametrize("key", sorted(set(CUP) - {"reference_object"}))
def test_missing_field_is_told(key):
    with pytest.raises(ReplyError, match=f"'{key}' (is missing|must)"):
        read_parse(json.dumps({k: v for k, v in CUP.items() if k != key}))


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({**GLOBAL, "edited_parts": ["snow"]}, "names no parts"),
        ({**CUP, "edited_parts": "all"}, "everything means"),
        ({**CUP, "original_parts": "all", "edited_parts": "all"}, "everything means"),
        ({**ADD, "edited_parts": []}, "'edited_parts' of an edit 'add'"),
    ],
)
def test_fields_that_contradict_each_other_are_told(values, told):
    with pytest.raises(ReplyError, match=told):
        read_parse(json.dumps(values))


def test_phrases_hold_no_control_characters_or_lone_surrogates():
    (phrase,) = read(CUP, edited_parts=["a\u0000 blue\n\ud800cup"]).edited_parts
    assert phrase == "a blue cup"


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text() | st.sampled_from(["all", "none", "add"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(values=st.fixed_dictionaries({key: _JSON for key in CUP}), text=st.text())
def test_any_reply_is_read_or_refused(values, text):
    for reply in (text, json.dumps(values), text + json.dumps({**CUP, "size": values["size"]})):
        with suppress(ReplyError):
            read_parse(reply)


def test_schema_names_every_field_and_allows_no_other():
    schema = answer_schema(PARSE, boxes=True)
    assert set(schema["properties"]) == {field.name for field in fields(ParsedInstruction)}
    assert schema["required"] == list(schema["properties"])
    assert schema["additionalProperties"] is False


def test_question_names_every_field_and_every_word_on_offer_in_the_order_of_the_schema():
    properties = answer_schema(PARSE, boxes=True)["properties"]
    question = system_prompt(PARSE, PLAIN)
    places = [question.index(f"`{name}`") for name in properties]
    assert places == sorted(places)
    for values in properties.values():
        for word in values.get("enum", ()):
            assert f"`{word}`" in question
    form = question[question.rindex("\n{") :]
    for name, values in properties.items():
        assert f'"{name}"' in form
        assert " | ".join(values.get("enum", ())) in form
