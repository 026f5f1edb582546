"""A list of differences is read where its meaning is certain, and told back exactly where not."""

import contextlib
import json
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_judge.errors import ReplyError
from agent_judge.judges.answers import answer_schema, read_answer
from agent_judge.judges.changes_reply import Change, NamedChanges
from agent_judge.judges.coordinates import Convention
from agent_judge.records import Box
from agent_judge.rubrics.changes import Changes
from agent_judge.rubrics.protocol import rubric_of

RUBRIC = cast("Changes", rubric_of("coherence"))
SIZE_WH = (640, 480)
CUP = {"command": "EDIT", "element": "cup", "box": [10, 20, 30, 40]}
ONE = json.dumps({"differences": [CUP]})


def read(text, system="shown_pixels") -> NamedChanges:
    named = read_answer(text, RUBRIC, to_box=Convention(system=system).reader(SIZE_WH))
    assert isinstance(named, NamedChanges)
    return named


def entry(**more):
    return json.dumps({"differences": [{**CUP, **more}]})


@pytest.mark.parametrize(
    "text",
    [
        ONE,
        f"```json\n{ONE}\n```",
        "<think>[{]} maybe two?</think>" + ONE,
        f"I looked closely. {ONE} That is all.",
        json.dumps([CUP]),
        f"```\n{json.dumps([CUP])}\n```",
        json.dumps({"answer": {"differences": [CUP]}}),
        json.dumps({"differences": CUP}),
        json.dumps(ONE),
        f"{ONE}\n{ONE}",
        f'{{"differences": []}} On second thought: {ONE}',
        entry(command="edited"),
        entry(command=" **Edit** "),
        entry(box=[10.0, 20.0, 30.0, 40.0]),
        json.dumps({"Differences": [{"Command": "EDIT", "element": "cup", "bbox": CUP["box"]}]}),
        entry(element="  cup\n"),
        entry(confidence=0.9),
    ],
)
def test_one_change_however_it_is_written(text):
    assert read(text).changes == (Change(command="EDIT", element="cup", box=Box(10, 20, 30, 40)),)


def test_whole_coordinates_and_names_with_commas_are_kept():
    """The published parsers of DICE lose both."""
    (change,) = read(entry(element="red, round vase, left", box=[0, 0, 1, 1])).changes
    assert (change.element, change.box.xyxy) == ("red, round vase, left", (0, 0, 1, 1))


@pytest.mark.parametrize(
    ("system", "box"),
    [("shown_pixels", [64, 48, 128, 96]), ("xyxy_1000", [100, 100, 200, 200])],
)
def test_boxes_come_in_the_judges_own_convention(system, box):
    assert read(entry(box=box), system).changes[0].box.xyxy == pytest.approx((64, 48, 128, 96))


def test_the_order_of_the_other_convention_is_turned():
    (change,) = read(entry(box=[100, 200, 300, 400]), "yxyx_1000").changes
    assert change.box.xyxy == pytest.approx((128, 48, 256, 144))


@pytest.mark.parametrize("text", ['{"differences": []}', "[]", "```json\n[]\n```"])
def test_no_change_is_an_answer(text):
    assert read(text) == NamedChanges(changes=())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "empty"),
        ("Nothing changed.", "no list of differences was given"),
        ('{"regions": []}', "no list of differences was given"),
        ('{"differences": [{"command": "EDIT", ', "cannot be read"),
        ('{"differences": "EDIT cup [1, 2, 3, 4]"}', "must be a list of objects"),
        ('{"differences": null}', "must be a list of objects"),
        ('{"differences": {"cup": "red"}}', "must be a list of objects"),
        ('{"differences": ["EDIT cup"]}', "difference 1 must be an object, but was 'EDIT cup'"),
        ('{"differences": [[]]}', "difference 1 must be an object"),
        (f'{ONE} {{"differences": []}}', "two different lists"),
        (f'{{"draft": {{"differences": []}}, "final": {ONE}}}', "two different lists"),
        ('{"differences": [], "more": {"differences": [1]}}', "two different lists"),
        ('{"differences": [], "differences": [1]}', "given twice, differently"),
        (entry(command="REPLACE"), "difference 1: 'command' must be exactly one of"),
        (entry(command=None), "'command' must be exactly one of 'ADD', 'REMOVE' or 'EDIT'"),
        (entry(command="ADD or EDIT"), "'command' must be exactly one of"),
        (entry(element=""), "'element' must name the thing"),
        (entry(element=7), "'element' must name the thing"),
        (entry(box=None), "'box' must be four numbers, but it is missing"),
        (entry(box=[1, 2, 3]), "'box' must be four numbers"),
        (entry(box="[1, 2, 3, 4]"), "'box' must be four numbers"),
        (entry(box=[1, 2, True, 4]), "'box' must be four numbers"),
        (entry(box=["1", "2", "3", "4"]), "'box' must be four numbers"),
        (entry(box=[30, 40, 10, 20]), "top left before the one at the bottom right"),  # x, y, w, h?
        (entry(box=[10, 20, 10, 40]), "top left before the one at the bottom right"),
        (entry(box=[700, 20, 710, 40]), "no place in the picture"),
        (entry(box=[-20, -20, -1, -1]), "no place in the picture"),
        (entry(box=[100, 100, 900, 300]), "no place in the picture"),  # out of 1000?
        (entry(box=[0.1, 0.2, 0.4, 0.9]), "no place in the picture"),  # out of 1?
        (entry(bbox=[1, 2, 3, 5]), "two different boxes"),
        (entry(box=[1e400, 0, 1, 1]), "'box' must be four numbers"),
    ],
)
def test_what_is_not_certain_is_told_back(text, told):
    with pytest.raises(ReplyError) as fault:
        read(text)
    assert told in str(fault.value)


def test_the_faulty_difference_is_named_by_its_number():
    text = json.dumps({"differences": [CUP, CUP, {**CUP, "box": []}]})
    with pytest.raises(ReplyError, match=r"^difference 3: 'box'"):
        read(text)


def test_a_box_that_reaches_over_the_border_is_cut():
    assert read(entry(box=[-5, 470, 20, 500])).changes[0].box.xyxy == (0, 470, 20, 480)


def test_the_same_thing_in_the_same_box_under_one_command_is_one_change_and_it_is_said():
    both = [{**CUP, "command": "REMOVE"}, CUP, {**CUP, "element": "its handle"}, CUP]
    named = read(json.dumps({"differences": [*both, {**CUP, "element": "Cup"}]}))
    assert list(map(str, named.changes)) == ["REMOVE cup", "EDIT cup", "EDIT its handle"]
    assert named.notes == ("2 of 5 named differences came twice",)


def test_of_a_thousand_differences_the_first_are_kept_and_the_rest_is_said():
    many = [
        {**CUP, "element": f"dot {n}", "box": [n % 600, 0, n % 600 + 1, n / 3]}
        for n in range(1, 1001)
    ]
    named = read(json.dumps({"differences": many}))
    assert [change.element for change in named.changes] == [f"dot {n}" for n in range(1, 17)]
    assert named.notes == ("of 1000 named differences the first 16 were judged",)


def test_a_thing_that_is_gone_is_seen_in_the_source():
    pictures = [read(entry(command=c)).changes[0].picture for c in ("ADD", "REMOVE", "EDIT")]
    assert pictures == ["edited", "source", "edited"]


def test_the_schema_leaves_nothing_open():
    schema = answer_schema(RUBRIC, boxes=True)
    of_one = schema["properties"]["differences"]["items"]
    assert of_one["required"] == ["command", "element", "box"]
    assert of_one["additionalProperties"] is schema["additionalProperties"] is False
    assert of_one["properties"]["command"]["enum"] == ["ADD", "REMOVE", "EDIT"]


def test_what_is_asked_of_one_change_asks_for_no_box():
    schema = answer_schema(RUBRIC.decision, boxes=True)
    assert list(schema["properties"]) == ["answers", "explanation", "label"]


@pytest.mark.parametrize(
    ("answers", "label", "level"),
    [
        ({"asked_here": "yes", "as_told": "yes"}, "Coherent", 1),
        ({"asked_here": "yes", "as_told": "no"}, "Incoherent", 0),
        ({"asked_here": "no", "as_told": "not reached"}, "incoherent.", 0),
    ],
)
def test_a_decision_follows_from_its_answers(answers, label, level):
    text = json.dumps({"answers": answers, "explanation": "seen", "label": label})
    assert read_answer(text, RUBRIC.decision, to_box=None).level == level


@pytest.mark.parametrize("label", ["Not coherent", "Coherent or Incoherent", "yes", "partly"])
def test_a_decision_that_says_neither_is_none(label):
    with pytest.raises(ReplyError):
        read_answer(json.dumps({"label": label}), RUBRIC.decision, to_box=None)


@given(st.text() | st.text(alphabet='[]{}":,0123456789differencs '))
@settings(max_examples=200, deadline=None)
def test_no_text_breaks_the_reader(text):
    with contextlib.suppress(ReplyError):
        assert isinstance(read(text), NamedChanges)
