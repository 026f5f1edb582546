"""What is shown for each subject in each mode."""

import json
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from agent_judge.album import Album
from agent_judge.conversation import opening
from agent_judge.errors import BoxError
from agent_judge.judges.coordinates import Convention
from agent_judge.plan import PLANS, Row, looks_of
from agent_judge.records import Box, Mode, Sample
from agent_judge.rubrics.prompts import read_task
from agent_judge.rubrics.protocol import all_criteria, rubric_of
from agent_judge.rubrics.rubric import Subject
from agent_judge.settings import OracleSettings

BOX = Box(20, 10, 40, 30)


def a_row(boxes=(BOX,)) -> Row:
    grey = np.full((100, 200, 3), 100, np.uint8)
    sample = Sample(id="a", source=Path("s.png"), edited=Path("e.png"), instruction="make it red")
    return Row(sample=sample, source=grey, edited=grey + np.uint8(9), reference=None, boxes=boxes)


def task_of(criterion, mode, convention):
    [look] = looks_of(a_row(), mode, criterion, OracleSettings())
    messages = opening(
        look,
        rubric_of(criterion),
        tools=(),
        convention=convention,
        max_steps=0,
        album=Album(),
    )
    texts = [part["text"] for part in messages[1]["content"] if part["type"] == "text"]
    return next(task for text in texts if (task := read_task(text)) is not None)


def test_every_subject_has_a_plan_in_every_mode():
    wanted = {(mode, subject) for mode in get_args(Mode) for subject in get_args(Subject)}
    assert set(PLANS) == wanted


def test_targets_of_a_whole_pair_are_told_as_the_judge_writes_boxes():
    told = task_of("seamlessness", "oracle", Convention(system="yxyx_1000"))["target_boxes"]
    assert told == [{"box_px": [20, 10, 40, 30], "box": [100, 100, 300, 200]}]
    assert task_of("seamlessness", "oracle", Convention())["target_boxes"] == [
        {"box_px": [20, 10, 40, 30]}
    ]


def test_the_edited_picture_alone_comes_without_source_and_instruction():
    [look] = looks_of(a_row(), "tool", "quality", OracleSettings())
    assert look.view.names == ("edited",)
    assert "red" not in json.dumps(look.task)


@pytest.mark.parametrize("criterion", [c for c in all_criteria() if rubric_of(c).subject == "pair"])
def test_a_plan_that_needs_boxes_says_so(criterion):
    with pytest.raises(BoxError, match="needs target boxes"):
        looks_of(a_row(boxes=()), "oracle", criterion, OracleSettings())
