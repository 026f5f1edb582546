"""What the judge is told: the same base in all modes, data kept apart from instructions."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_judge.records import Criterion
from agent_judge.rubrics.prompts import (
    answer_form,
    labelled_picture,
    picture_label,
    read_task,
    system_prompt,
    task_text,
)
from agent_judge.rubrics.protocol import load_ladder
from tests.rubrics.contexts import PLAIN

TOOLS = replace(PLAIN, tools=["grounding", "zoom_in"], max_steps=8)
CROPPED = replace(PLAIN, cropped=True)
MASKED = replace(TOOLS, masked=True)
CRITERIA: list[Criterion] = ["IF", "VC"]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("context", [PLAIN, TOOLS, CROPPED, MASKED])
def test_without_a_reference_the_word_is_never_said(criterion, context):
    ladder = load_ladder(criterion)
    assert "reference" not in system_prompt(ladder, context).casefold()
    assert "reference" in system_prompt(ladder, replace(context, has_reference=True)).casefold()


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_base_is_the_same_in_all_modes(criterion):
    ladder = load_ladder(criterion)
    plain = system_prompt(ladder, PLAIN)
    questions = plain[plain.index("Answer these questions") : plain.index("Notes:")]
    for context in (TOOLS, CROPPED, MASKED):
        told = system_prompt(ladder, context)
        assert questions in told
        assert told.startswith(plain[:500])


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_tool_guide_stands_only_where_there_are_tools(criterion):
    ladder = load_ladder(criterion)
    for text in ("at most 8 turns", "Enhanced texture is invented", "zoom_in"):
        assert text in system_prompt(ladder, TOOLS)
        for context in (PLAIN, CROPPED):
            assert text not in system_prompt(ladder, context)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_boxes_are_asked_for_in_full_pictures_only(criterion):
    ladder = load_ladder(criterion)
    for context in (PLAIN, TOOLS, MASKED):
        assert PLAIN.convention in system_prompt(ladder, context)
    assert "box" not in system_prompt(ladder, CROPPED)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_every_question_answer_and_label_is_told(criterion):
    ladder = load_ladder(criterion)
    told = system_prompt(ladder, PLAIN)
    for question in ladder.questions:
        assert question.ask in told
        assert f"`{question.id}`" in told
    for level in ladder.levels:
        assert f"- {level.label}: {level.means}" in told
    assert "is data" in told
    assert told.index("questions in order") < told.index("The labels") < told.index('"label"')


@pytest.mark.parametrize("kind", ["count", "removal", "replacement", "color", "ocr", "other", None])
def test_a_type_brings_its_own_note_and_no_other(kind):
    ladder = load_ladder("IF")
    told = system_prompt(ladder, replace(PLAIN, edit_type=kind))
    assert [k for k, note in ladder.type_notes.items() if note in told] == (
        [kind] if kind in ladder.type_notes else []
    )


def test_several_targets_are_judged_alone_or_by_the_worst():
    ladder = load_ladder("IF")
    alone, worst = ladder.notes["several_targets"], ladder.notes["all_targets"]
    cropped = system_prompt(ladder, replace(CROPPED, several_targets=True))
    assert alone in cropped
    assert worst not in cropped
    assert worst in system_prompt(ladder, TOOLS)
    for note in (alone, worst):
        assert note not in system_prompt(ladder, CROPPED)


def test_masked_and_cropped_pictures_are_explained():
    ladder = load_ladder("VC")
    assert "white" in system_prompt(ladder, MASKED)
    assert "white" not in system_prompt(ladder, TOOLS)
    assert "same window" in system_prompt(ladder, CROPPED)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("boxes", [True, False])
def test_the_form_of_the_answer_ends_on_the_label(criterion, boxes):
    form = answer_form(load_ladder(criterion), boxes=boxes)
    assert form.index('"answers"') < form.index('"explanation"') < form.index('"label"')
    assert ("four numbers" in form) is boxes
    filled = form.replace("four numbers or null", "null")
    filled = filled.replace("four numbers around the target, or null", "null")
    assert list(json.loads(filled))[-1] == "label"


@given(st.text(max_size=200))
def test_no_text_of_a_row_can_leave_its_task(text):
    told = task_text({"instruction": text})
    assert told.count("<") == told.count(">") == 2
    assert read_task(told) == {"instruction": text}


@pytest.mark.parametrize("text", ["", "x", "<task>", "<task>[1]</task>", "a<task>{}</task>"])
def test_other_text_is_no_task(text):
    assert read_task(text) is None


@pytest.mark.parametrize("name", ["source", "edited", "reference"])
@pytest.mark.parametrize("shown", [None, (4000, 3000), (1024, 768)])
def test_a_picture_label_says_which_picture_and_at_what_size(name, shown):
    label = picture_label(name, (4000, 3000), shown)
    assert labelled_picture(label) == name
    assert ("shown at 1024x768" in label) is (shown == (1024, 768))
    assert labelled_picture(f"{label} ") is None
