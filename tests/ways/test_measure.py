"""BPM's criteria: computed from boxes and pixels, with the words taken apart once."""

import json
from pathlib import Path

import numpy as np
import pytest

from agent_judge.case import Bench
from agent_judge.errors import JudgeError
from agent_judge.images import encode_png, load_image
from agent_judge.judges.measured import MeasuredJudge
from agent_judge.judging import Assignment, judge_sample, prepare
from agent_judge.metrics.preservation import preservation
from agent_judge.records import Record, Sample
from agent_judge.settings import Settings
from agent_judge.tools.toolbox import build_tools
from tests.fakes import ScriptedJudge, says

BOX = (90, 60, 110, 80)
PARSE = {
    "original_parts": ["the square"],
    "edited_parts": ["a red square"],
    "whole_picture": False,
    "edit_type": "change color",
    "reference_object": None,
    "size": "none",
    "position": "none",
}
CRITERIA = ("size", "position", "modify", "preserve")


def takes_apart(**changes):
    return says(json.dumps({**PARSE, **changes}))


def a_sample(folder: Path, **more) -> Sample:
    """The square in the box became red, and everything else one grey level brighter."""
    rng = np.random.default_rng(1)
    source = np.kron(rng.integers(60, 190, (15, 20, 3)), np.ones((10, 10, 1))).astype(np.uint8)
    edited = source + np.uint8(1)
    edited[60:80, 90:110] = (230, 10, 10)
    for name, pixels in (("source", source), ("edited", edited)):
        (folder / f"{name}.png").write_bytes(encode_png(pixels))
    given = {"boxes": (BOX,), "instruction": "make the square red", **more}
    return Sample(id="a/b", source=folder / "source.png", edited=folder / "edited.png", **given)


async def judged(sample, by, **settings) -> dict[str, Record]:
    given = Settings.model_validate({"protocol": "bpm", **settings})
    bench = Bench(judge=by, tools=build_tools(), settings=given)
    assignment = Assignment(sample=sample, rounds=dict.fromkeys(given.criteria, 0))
    found = [one.record async for one in judge_sample(await prepare(assignment), bench)]
    return {record.criterion: record for record in found}


async def test_what_can_be_computed_is_and_what_takes_a_network_is_not(tmp_path):
    by = ScriptedJudge([takes_apart()])
    found = await judged(a_sample(tmp_path), by)
    assert tuple(found) == CRITERIA
    assert found["preserve"].level == pytest.approx(-1 / 255, abs=1e-6)
    assert found["preserve"].score_100 == pytest.approx(100 - 100 / 255, abs=0.01)
    assert (found["size"].level, found["position"].level) == (1.0, 1.0)
    assert found["size"].explanation == "passes: no size was asked for"
    assert (found["modify"].status, found["modify"].reason) == ("unscored", "needs_lmm")
    assert "tools.clip" in found["modify"].explanation
    said = {answer["question"]: answer["answer"] for answer in found["size"].answers}
    assert said == {
        "whole_picture": "no",
        "original_parts": "the square",
        "edited_parts": "a red square",
        "edit_type": "change color",
        "reference_object": "none",
        "size": "none",
        "position": "none",
    }


async def test_the_words_are_taken_apart_once_a_sample_and_without_a_picture(tmp_path):
    by = ScriptedJudge([takes_apart()])
    found = await judged(a_sample(tmp_path), by)
    assert len(by.requests) == 1
    assert [found[c].attempts for c in CRITERIA] == [1, 0, 0, 0]
    [request] = by.requests
    parts = [part for part in request.messages[1]["content"] if part["type"] == "image_url"]
    assert parts == []
    assert "take apart an instruction" in request.messages[0]["content"]
    assert request.tools == []


async def test_words_that_cannot_be_taken_apart_leave_all_that_needs_them_open(tmp_path):
    by = ScriptedJudge([says("I think it is about a square.")])
    found = await judged(a_sample(tmp_path), by, judge={"format_retries": 1})
    assert {c: found[c].reason for c in ("size", "position")} == {
        "size": "unparseable",
        "position": "unparseable",
    }
    assert found["preserve"].status == "scored"  # its boxes are given: no words are needed
    assert len(by.requests) == 2


async def test_a_refused_question_is_that_fate_for_each_criterion(tmp_path):
    by = ScriptedJudge([JudgeError("refused", "no")])
    found = await judged(a_sample(tmp_path), by, criteria=["size", "position"])
    assert [record.reason for record in found.values()] == ["refused", "refused"]


async def test_the_embedded_judge_computes_what_needs_no_words(tmp_path):
    found = await judged(a_sample(tmp_path), MeasuredJudge())
    assert found["preserve"].status == "scored"
    others = {found[c].reason for c in ("size", "position", "modify")}
    assert others == {"needs_lmm"}


async def test_without_boxes_and_without_a_detector_nobody_knows_the_region(tmp_path):
    by = ScriptedJudge([takes_apart()])
    found = await judged(a_sample(tmp_path, boxes=None), by, criteria=["preserve"])
    assert (found["preserve"].status, found["preserve"].reason) == ("unscored", "invalid_box")
    assert "tools.detector" in found["preserve"].explanation


async def test_a_size_asked_for_is_no_pass_where_nobody_looked_for_a_box(tmp_path):
    by = ScriptedJudge([takes_apart(edit_type="change size", size="bigger")])
    found = await judged(a_sample(tmp_path), by, criteria=["size"])
    assert (found["size"].status, found["size"].reason) == ("unscored", "invalid_box")


async def test_an_edit_of_the_whole_picture_has_no_outside(tmp_path):
    whole = {"original_parts": [], "edited_parts": [], "whole_picture": True}
    by = ScriptedJudge([takes_apart(**whole, edit_type="other")])
    sample = a_sample(tmp_path, boxes=None)
    found = await judged(sample, by, criteria=["preserve"])
    assert "whole picture" in found["preserve"].explanation


async def test_identical_pictures_moved_nowhere_and_kept_everything(tmp_path):
    sample = a_sample(tmp_path)
    sample.edited.write_bytes(sample.source.read_bytes())
    by = ScriptedJudge([takes_apart()])
    found = await judged(sample, by, criteria=["modify", "preserve"])
    assert [record.level for record in found.values()] == [0, 0]
    assert all("identical" in record.flags for record in found.values())
    assert by.requests == []


async def test_masks_are_written_under_a_name_that_leaves_the_folder_alone(tmp_path):
    out = tmp_path / "masks"
    sample = a_sample(tmp_path)
    found = await judged(sample, MeasuredJudge(), criteria=["preserve"], run={"mask_out": str(out)})
    [path] = out.rglob("*")
    assert path.name == "a%2Fb.png"
    mask = load_image(path)[:, :, 0] > 0
    assert mask.sum() == 400
    by_hand = preservation(load_image(sample.source), load_image(sample.edited), mask)
    assert found["preserve"].level == pytest.approx(by_hand, abs=1e-6)


async def test_each_vote_takes_the_words_apart_anew_and_the_median_counts(tmp_path):
    by = ScriptedJudge([takes_apart(), takes_apart(), takes_apart()])
    found = await judged(a_sample(tmp_path), by, criteria=["size"], judge={"votes": 3})
    assert len(by.requests) == 3
    assert found["size"].vote_levels == (1.0, 1.0, 1.0)
