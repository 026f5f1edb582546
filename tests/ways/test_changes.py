"""Changes named, then judged one by one: the share, and when there is none."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent_judge.case import Bench
from agent_judge.errors import JudgeError
from agent_judge.images import encode_png
from agent_judge.judges.base import Message, Request
from agent_judge.judges.coordinates import Convention
from agent_judge.judges.measured import MeasuredJudge
from agent_judge.judging import Assignment, judge_sample, prepare
from agent_judge.records import Record, Sample
from agent_judge.rubrics.prompts import read_task
from agent_judge.settings import Settings
from agent_judge.settle import Judged
from agent_judge.tools.toolbox import build_tools
from tests.fakes import ScriptedJudge, calls, says

INSIDE = {"command": "EDIT", "element": "red, square tile", "box": [90, 60, 110, 80]}
OUTSIDE = {"command": "ADD", "element": "dot", "box": [20, 20, 30, 30]}


def a_scene(size_wh=(200, 150)):
    rng = np.random.default_rng(1)
    coarse = rng.integers(60, 190, (size_wh[1] // 10, size_wh[0] // 10, 3))
    return np.kron(coarse, np.ones((10, 10, 1))).astype(np.uint8)


def a_sample(folder: Path, **more) -> Sample:
    """A square in the target and a dot outside it changed."""
    source = a_scene()
    edited = source.copy()
    edited[60:80, 90:110] = (230, 10, 10)
    edited[20:30, 20:30] = (10, 10, 230)
    for name, pixels in (("source", source), ("edited", edited)):
        (folder / f"{name}.png").write_bytes(encode_png(pixels))
    given = {"boxes": ((90, 60, 110, 80),), "instruction": "make the square red"}
    files = {"source": folder / "source.png", "edited": folder / "edited.png"}
    return Sample(id="s", **{**given, **files, **more})


@pytest.fixture
def sample(tmp_path) -> Sample:
    return a_sample(tmp_path)


def names(*changes) -> Message:
    return says(json.dumps({"differences": list(changes)}))


def decides(coherent: bool) -> Message:
    answers = {"asked_here": "yes" if coherent else "no", "as_told": "yes"}
    label = "Coherent" if coherent else "Incoherent"
    return says(json.dumps({"answers": answers, "explanation": "seen", "label": label}))


async def judged(sample, by, **settings) -> Judged:
    given = Settings.model_validate({"protocol": "dice", **settings})
    bench = Bench(judge=by, tools=build_tools(), settings=given)
    assignment = Assignment(sample=sample, rounds={"coherence": 0})
    [one] = [one async for one in judge_sample(await prepare(assignment), bench)]
    return one


async def record_of(sample, by, **settings) -> Record:
    return (await judged(sample, by, **settings)).record


def task_of(request: Request) -> dict[str, Any]:
    texts = [part.get("text", "") for part in request.messages[1]["content"]]
    return dict(next(task for text in texts if (task := read_task(text)) is not None))


def labels_of(request: Request) -> list[str]:
    return [p["text"] for p in request.messages[1]["content"][1:] if p["type"] == "text"]


async def test_the_level_is_the_share_of_coherent_changes(sample):
    by = ScriptedJudge([names(INSIDE, OUTSIDE), decides(True), decides(False)])
    record = await record_of(sample, by)
    assert (record.status, record.level, record.score_100) == ("scored", 0.5, 50.0)
    assert record.label == "1 of 2 coherent"
    assert record.anomalies == ({"what": "ADD dot", "box": [20, 20, 30, 30]},)
    assert record.attempts == 3


async def test_each_change_is_kept_with_what_became_of_it(sample):
    by = ScriptedJudge([names(INSIDE, OUTSIDE), decides(True), decides(False)])
    assert (await record_of(sample, by)).per_target == (
        {
            "box": [90, 60, 110, 80],
            "level": 1,
            "label": "Coherent",
            "command": "EDIT",
            "element": "red, square tile",
            "inside_target": True,
        },
        {
            "box": [20, 20, 30, 30],
            "level": 0,
            "label": "Incoherent",
            "command": "ADD",
            "element": "dot",
            "inside_target": False,
        },
    )


@pytest.mark.parametrize(
    ("box", "inside"),
    [
        ([90, 60, 110, 80], True),
        ([95, 65, 100, 70], True),  # a part of the target
        ([60, 40, 140, 110], True),  # the target and its surroundings
        ([110, 60, 130, 80], False),  # beside it: the margin of 4.4 px is under half of it
        ([104, 60, 124, 80], True),  # half over it, with the margin
        ([150, 100, 160, 110], False),
    ],
)
async def test_a_change_belongs_to_a_target_by_half_of_the_smaller_of_the_two(sample, box, inside):
    by = ScriptedJudge([names({**INSIDE, "box": box}), decides(True)])
    assert (await record_of(sample, by)).per_target[0]["inside_target"] is inside


async def test_without_boxes_nothing_is_said_of_targets(tmp_path):
    by = ScriptedJudge([names(OUTSIDE), decides(True)])
    record = await record_of(a_sample(tmp_path, boxes=None), by)
    assert (record.mode, record.per_target[0]["inside_target"]) == ("tool", None)


async def test_who_names_changes_is_not_told_what_was_asked_for(sample):
    by = ScriptedJudge([names(INSIDE), decides(True)])
    await record_of(sample, by)
    naming, decision = by.requests
    assert set(task_of(naming)) == {"criterion", "regions", "more_regions", "remarks"}
    assert len(task_of(naming)["regions"]) == 2
    assert "make the square red" not in json.dumps(naming.messages)
    assert task_of(decision)["instruction"] == "make the square red"
    assert task_of(decision)["difference"] == {
        "command": "EDIT",
        "element": "red, square tile",
        "box_px": [90, 60, 110, 80],
    }


async def test_regions_are_written_in_the_judges_own_way_too(sample):
    by = ScriptedJudge([names()], convention=Convention(system="xyxy_1000"))
    await record_of(sample, by)
    for region in task_of(by.requests[0])["regions"]:
        x1, y1, x2, y2 = region["box_px"]
        own = [x1 / 200, y1 / 150, x2 / 200, y2 / 150]
        assert region["box"] == pytest.approx([1000 * v for v in own], abs=0.1)


@pytest.mark.parametrize(
    ("mode", "tools", "told"), [("tool", 4, False), ("direct", 0, False), ("oracle", 4, True)]
)
async def test_the_mode_says_which_tools_there_are_and_whether_targets_are_told(
    sample, mode, tools, told
):
    by = ScriptedJudge([names(INSIDE), decides(True)])
    await record_of(sample, by, mode=mode)
    naming, decision = by.requests
    assert (len(naming.tools), len(decision.tools)) == (tools, 0)
    assert task_of(decision).get("inside_target") is (True if told else None)


async def test_a_change_is_shown_framed_in_both_pictures_and_plain_in_close_ups(sample):
    pictures = {}

    def keep(request):
        urls = [p["image_url"]["url"] for p in request.messages[1]["content"] if "image_url" in p]
        pictures.update({url: request.album.pixels(url) for url in urls})
        return decides(True)

    by = ScriptedJudge([names(INSIDE), keep])
    await record_of(sample, by)
    assert labels_of(by.requests[1]) == [
        "The source picture, 200x150 pixels:",
        "The edited picture, 200x150 pixels:",
        "Close-up of the source picture, pixels [58, 28, 142, 112], shown x8:",
        "Close-up of the edited picture, pixels [58, 28, 142, 112], shown x8:",
    ]
    source, edited, near_source, near_edited = pictures.values()
    plain = a_scene()
    framed = np.any(source != plain, axis=2)
    assert np.argwhere(framed).min(axis=0).tolist() == [57, 87]
    assert not framed[60:80, 90:110].any()
    assert edited[70, 100].tolist() == [230, 10, 10]
    assert near_source.shape == near_edited.shape == (672, 672, 3)
    assert near_edited[42 * 8, 42 * 8].tolist() == [230, 10, 10]


async def test_a_reference_is_shown_to_neither_step(sample, tmp_path):
    row = a_sample(tmp_path, reference=tmp_path / "source.png")
    by = ScriptedJudge([names(INSIDE), decides(True)])
    await record_of(row, by)
    assert "reference" not in json.dumps([request.messages for request in by.requests])


async def test_equal_pictures_are_at_the_worst_level_and_nobody_is_asked(tmp_path):
    row = a_sample(tmp_path, edited=tmp_path / "source.png")
    by = ScriptedJudge([names()])
    record = await record_of(row, by)
    assert (record.level, record.label, record.per_target) == (0, "no change", ())
    assert record.flags == ("identical", "no_change")
    assert by.requests == []


async def test_no_named_change_is_the_worst_level_and_pixels_that_say_otherwise_are_flagged(sample):
    record = await record_of(sample, ScriptedJudge([names()]))
    assert (record.level, record.label) == (0, "no change")
    assert record.flags == ("claims_no_change_but_changed", "no_change")


async def test_no_named_change_where_only_noise_differs_is_no_contradiction(tmp_path):
    row = a_sample(tmp_path)
    noise = np.random.default_rng(3).integers(-2, 3, a_scene().shape)
    row.edited.write_bytes(encode_png((a_scene() + noise).astype(np.uint8)))
    assert (await record_of(row, ScriptedJudge([names()]))).flags == ("no_change",)


async def test_one_change_that_cannot_be_judged_leaves_no_level_and_ends_the_asking(sample):
    three = (INSIDE, OUTSIDE, {**OUTSIDE, "box": [1, 1, 9, 9]})
    broken = JudgeError("transport", "no answer", http_status=503)
    by = ScriptedJudge([names(*three), decides(True), broken])
    record = await record_of(sample, by)
    assert (record.status, record.reason, record.level) == ("unscored", "transport", None)
    assert record.explanation == "ADD dot: no answer"
    assert record.flags == ("http:503",)
    assert [change["label"] for change in record.per_target] == ["Coherent", None, None]
    assert len(by.requests) == 3


async def test_a_decision_that_cannot_be_read_is_asked_again_and_then_ends_the_row(sample):
    by = ScriptedJudge([names(INSIDE), says("perhaps")])
    record = await record_of(sample, by, judge={"format_retries": 1})
    assert record.reason == "unparseable"
    assert len(by.requests) == 3


async def test_a_list_that_cannot_be_read_is_asked_again_with_its_fault(sample):
    by = ScriptedJudge([names({**INSIDE, "box": [9, 9]}), names(INSIDE), decides(True)])
    assert (await record_of(sample, by)).level == 1
    assert "'box' must be four numbers" in by.requests[1].messages[-1]["content"]


async def test_what_is_left_out_of_a_long_list_stands_in_the_notes(sample):
    many = [{**OUTSIDE, "box": [n, 0, n + 5, 9]} for n in range(40)]
    by = ScriptedJudge([names(*many), decides(True)])
    record = await record_of(sample, by)
    assert "of 40 named differences the first 16 were judged" in record.notes
    assert record.label == "16 of 16 coherent"


async def test_each_vote_names_and_judges_anew(sample):
    script = [names(INSIDE), decides(True), names(INSIDE, OUTSIDE), decides(True), decides(False)]
    by = ScriptedJudge([*script, names(OUTSIDE), decides(False)])
    record = await record_of(sample, by, judge={"votes": 3})
    assert (record.vote_levels, record.level) == ((1, 0.5, 0), 0.5)
    assert record.flags == ("votes_apart",)
    assert [change["command"] for change in record.per_target] == ["EDIT", "ADD"]
    assert [request.vote for request in by.requests] == [0, 0, 1, 1, 1, 2, 2]


async def test_tool_replies_and_messages_are_kept_in_order(sample):
    look = calls(("difference", {}))
    one = await judged(sample, ScriptedJudge([look, names(INSIDE), decides(True)]), mode="tool")
    assert [evidence.tool for evidence in one.record.evidence] == ["difference"]
    assert [(reply["look"], reply["about"]) for reply in one.replies] == [
        (0, "what changed"),
        (0, "what changed"),
        (1, "EDIT red, square tile"),
    ]


async def test_the_embedded_judge_says_that_it_takes_a_model(sample):
    record = await record_of(sample, MeasuredJudge())
    assert (record.status, record.reason) == ("unscored", "needs_lmm")
