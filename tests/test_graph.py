"""The loop judge <-> tools: what the judge is shown, asked again, and how it ends."""

import itertools
import json
import sys
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import pytest

from agent_judge.album import Album
from agent_judge.errors import JudgeError
from agent_judge.graph import Loop, Trace, run_loop
from agent_judge.judges.coordinates import Convention, CoordinateSystem
from agent_judge.plan import Look
from agent_judge.records import Criterion
from agent_judge.rubrics.protocol import load_ladder
from agent_judge.tools.base import View
from agent_judge.tools.difference import DifferenceTool
from agent_judge.tools.grounding import GroundingTool
from agent_judge.tools.zoom_in import ZoomInTool
from tests.fakes import ScriptedJudge, answers, calls, says

ZOOM = ("zoom_in", {"picture": "source", "box": [60, 40, 70, 50]})
ZOOM_EDITED = ("zoom_in", {"picture": "edited", "box": [60, 40, 70, 50]})
DIFFERENCE: tuple[str, dict[str, Any]] = ("difference", {})


def a_view(*, reference: bool = False) -> View:
    rng = np.random.default_rng(3)
    source = rng.integers(90, 140, (120, 160, 3)).astype(np.uint8)
    edited = source.copy()
    edited[40:50, 60:70] = (220, 20, 20)
    return View(source=source, edited=edited, reference=edited.copy() if reference else None)


def a_loop(judge: ScriptedJudge, *, view: View | None = None, **settings) -> Loop:
    criterion: Criterion = settings.pop("criterion", "IF")
    look = Look(view=view or a_view(), task={"criterion": criterion, "instruction": "make it red"})
    values = {"max_steps": 8, "format_retries": 2, **settings}
    return Loop(
        judge=judge,
        rubric=load_ladder(criterion),
        look=look,
        tools=(ZoomInTool(), DifferenceTool()),
        album=Album(),
        trace=Trace(),
        **values,
    )


async def test_a_direct_answer_needs_one_request():
    judge = ScriptedJudge([answers("IF", 2)])
    verdict = await run_loop(a_loop(judge))
    assert (verdict.level, verdict.label) == (2, "Wrong Action")
    assert len(judge.requests) == 1


async def test_every_picture_has_a_label_and_is_a_reference_not_bytes():
    judge = ScriptedJudge([answers("IF", 4)])
    await run_loop(a_loop(judge, view=a_view(reference=True)))
    parts = judge.requests[0].messages[1]["content"]
    urls = [p["image_url"]["url"] for p in parts if p["type"] == "image_url"]
    assert urls == ["picture:source", "picture:edited", "picture:reference"]
    for before, part in itertools.pairwise(parts):
        if part["type"] == "image_url":
            assert before["type"] == "text"


async def test_without_a_reference_the_word_appears_nowhere():
    judge = ScriptedJudge([calls(ZOOM), answers("IF", 4)])
    await run_loop(a_loop(judge))
    for request in judge.requests:
        assert "reference" not in json.dumps([request.messages, request.tools]).lower()


async def test_tool_replies_come_first_in_order_then_one_user_message_with_pictures():
    """Cases E01, E03, T24."""
    judge = ScriptedJudge([calls(ZOOM, DIFFERENCE, ZOOM_EDITED), answers("IF", 4)])
    loop = a_loop(judge)
    await run_loop(loop)
    _, _, assistant, *rest = judge.requests[1].messages
    assert assistant["role"] == "assistant"
    assert [m["role"] for m in rest] == ["tool", "tool", "tool", "user"]
    assert [m["tool_call_id"] for m in rest[:3]] == ["call_0", "call_1", "call_2"]
    assert all(isinstance(m["content"], str) for m in rest[:3])
    assert [e.tool for e in loop.trace.evidence] == ["zoom_in", "difference", "zoom_in"]
    n_pictures = sum(p["type"] == "image_url" for p in rest[3]["content"])
    assert n_pictures == sum(len(e.images) for e in loop.trace.evidence) >= 3


async def test_an_unknown_tool_is_answered_with_the_real_names():
    """Case E09."""
    judge = ScriptedJudge([calls(("crop_image", {"box": [0, 0, 9, 9]})), answers("IF", 4)])
    await run_loop(a_loop(judge))
    told = judge.requests[1].messages[-1]
    assert told["role"] == "tool"
    assert "zoom_in, difference" in json.loads(told["content"])["error"]


@pytest.mark.parametrize("arguments", ["", None])
async def test_empty_arguments_run_a_tool_without_parameters(arguments):
    """Case E07."""
    call = {
        "id": "a",
        "type": "function",
        "function": {"name": "difference", "arguments": arguments},
    }
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    loop = a_loop(ScriptedJudge([message, answers("IF", 4)]))
    await run_loop(loop)
    assert "regions" in json.loads(loop.trace.evidence[0].text)


@pytest.mark.parametrize("id_", ["call_0", None, ""])
async def test_repeated_or_missing_call_ids_become_unique_in_both_places(id_):
    """Case E05."""
    message = calls(ZOOM, ZOOM_EDITED)
    for call in message["tool_calls"]:
        call["id"] = id_
    judge = ScriptedJudge([message, message, answers("IF", 4)])
    loop = a_loop(judge)
    await run_loop(loop)
    history = judge.requests[2].messages
    asked = [c["id"] for m in history if m["role"] == "assistant" for c in m["tool_calls"]]
    told = [m["tool_call_id"] for m in history if m["role"] == "tool"]
    assert asked == told
    assert len(set(asked)) == 4


async def test_the_same_call_again_costs_nothing_and_is_said():
    judge = ScriptedJudge([calls(ZOOM), calls(ZOOM, first=1), answers("IF", 4)])
    loop = a_loop(judge)
    await run_loop(loop)
    assert len(loop.trace.evidence) == 1
    again = judge.requests[2].messages[-1]
    assert again["role"] == "tool"
    assert "repeated" in json.loads(again["content"])


async def test_the_same_call_shows_its_pictures_again_where_older_ones_are_left_out():
    def trimmed(request):
        request.ledger.flags.add("crops_trimmed")
        return calls(ZOOM, first=1)

    judge = ScriptedJudge([calls(ZOOM), trimmed, answers("IF", 4)])
    loop = a_loop(judge)
    await run_loop(loop)
    assert len(loop.trace.evidence) == 1
    told, shown = judge.requests[2].messages[-2:]
    assert "shown again" in json.loads(told["content"])["repeated"]
    assert shown["content"] == judge.requests[1].messages[-1]["content"]


@dataclass(frozen=True)
class Broken:
    name: str = "zoom_in"
    description: str = "breaks"

    def parameters(self, view):
        return {"type": "object", "properties": {}}

    def __call__(self, view, args):
        raise RuntimeError("device lost")


async def test_a_tool_that_breaks_is_tool_failure_and_keeps_what_was_seen():
    loop = replace(
        a_loop(ScriptedJudge([calls(DIFFERENCE), calls(ZOOM, first=1)])),
        tools=(Broken(), DifferenceTool()),
    )
    with pytest.raises(JudgeError, match=r"zoom_in broke: .*device lost") as caught:
        await run_loop(loop)
    assert caught.value.reason == "tool_failure"
    assert [e.tool for e in loop.trace.evidence] == ["difference"]


async def test_grounding_without_a_detector_is_told_once_and_the_judge_ends_with_the_others():
    """Case T01."""
    ground = ("grounding", {"picture": "source", "phrases": ["red patch"]})
    judge = ScriptedJudge([calls(ground), calls(ZOOM, first=1), answers("IF", 4)])
    loop = replace(a_loop(judge), tools=(GroundingTool(), ZoomInTool()))
    verdict = await run_loop(loop)
    assert verdict.level == 4
    assert "not available" in json.loads(loop.trace.evidence[0].text)["error"]
    assert [e.tool for e in loop.trace.evidence] == ["grounding", "zoom_in"]


async def test_a_box_outside_is_told_to_the_judge_and_the_loop_goes_on():
    outside = ("zoom_in", {"picture": "source", "box": [900, 900, 950, 950]})
    judge = ScriptedJudge([calls(outside), answers("IF", 1)])
    verdict = await run_loop(a_loop(judge))
    assert verdict.level == 1
    assert "160" in json.loads(judge.requests[1].messages[-1]["content"])["error"]


async def test_a_judge_that_never_ends_is_asked_for_the_label_then_step_limit():
    """Case T20."""
    judge = ScriptedJudge(
        [lambda r: calls(("zoom_in", {"picture": "source", "box": [0, 0, 9 + len(r.messages), 9]}))]
    )
    loop = a_loop(judge, max_steps=3)
    with pytest.raises(JudgeError) as error:
        await run_loop(loop)
    assert error.value.reason == "step_limit"
    assert len(judge.requests) == 4
    assert [bool(r.tools) for r in judge.requests] == [True, True, True, False]
    assert judge.requests[-1].messages[-1]["role"] == "user"
    assert len(loop.trace.evidence) == 3


@pytest.mark.slow
async def test_more_steps_than_langgraphs_own_default_limit_of_old_are_possible():
    script = [calls(("zoom_in", {"picture": "source", "box": [i, 0, i + 9, 9]})) for i in range(30)]
    judge = ScriptedJudge([*script, answers("IF", 4)])
    assert (await run_loop(a_loop(judge, max_steps=40))).level == 4


@pytest.mark.parametrize("format_retries", [0, 1, 3])
async def test_bad_answers_never_cost_more_than_the_retries(format_retries):
    """Case J02."""
    judge = ScriptedJudge([says('{"label": "Wrong Action", "why": "colour is "red""}')])
    with pytest.raises(JudgeError) as error:
        await run_loop(a_loop(judge, format_retries=format_retries))
    assert error.value.reason == "unparseable"
    assert len(judge.requests) == 1 + format_retries


async def test_a_label_that_contradicts_its_answers_is_asked_again_once():
    wrong = json.dumps({"answers": {"target_edited": "no"}, "label": "Flawless Execution"})
    judge = ScriptedJudge([says(wrong)])
    with pytest.raises(JudgeError) as error:
        await run_loop(a_loop(judge))
    assert error.value.reason == "inconsistent"
    assert len(judge.requests) == 2
    judge = ScriptedJudge([says(wrong), answers("IF", 1)])
    assert (await run_loop(a_loop(judge))).level == 1


async def test_a_call_written_as_text_is_told_and_tools_stay_on_offer():
    judge = ScriptedJudge([says('zoom_in(picture="source", box=[0, 0, 9, 9])'), answers("IF", 4)])
    await run_loop(a_loop(judge))
    assert judge.requests[1].tools
    assert "zoom_in" in judge.requests[1].messages[-1]["content"]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"role": "assistant", "content": None, "refusal": "I will not"}, "refused"),
        ({"role": "assistant", "content": None, "refusal": "needs_lmm: a word"}, "refused"),
        ({"role": "assistant", "refusal": "needs_lmm: a word", "needs_lmm": True}, "needs_lmm"),
    ],
)
async def test_a_refusal_is_a_reason_not_a_level(message, reason):
    """Case J13."""
    with pytest.raises(JudgeError) as error:
        await run_loop(a_loop(ScriptedJudge([message])))
    assert error.value.reason == reason


async def test_unknown_fields_of_the_assistant_message_are_replayed():
    """Case E24."""
    message = calls(ZOOM)
    message["tool_calls"][0]["extra_content"] = {"google": {"thought_signature": "s1g"}}
    message["reasoning_details"] = [{"x": 1}]
    judge = ScriptedJudge([message, answers("IF", 4)])
    await run_loop(a_loop(judge))
    assert judge.requests[1].messages[2] == message


async def test_the_prefix_of_every_turn_is_the_turn_before():
    judge = ScriptedJudge([calls(ZOOM), calls(DIFFERENCE, first=1), answers("IF", 4)])
    await run_loop(a_loop(judge))
    texts = [json.dumps(list(r.messages)) for r in judge.requests]
    assert texts[1].startswith(texts[0][:-1])
    assert texts[2].startswith(texts[1][:-1])


async def test_the_state_holds_references_and_small_text():
    """Case T22."""
    script = [
        calls(("zoom_in", {"picture": "source", "box": [i, 0, i + 40, 40]})) for i in range(12)
    ]
    judge = ScriptedJudge([*script, answers("IF", 4)])
    await run_loop(a_loop(judge, max_steps=12))
    assert sys.getsizeof(json.dumps(list(judge.requests[-1].messages))) < 40_000


async def test_a_judge_in_another_convention_means_the_same_box():
    """Case E21."""
    written = {
        "shown_pixels": [40, 30, 80, 90],
        "xyxy_1000": [250, 250, 500, 750],
        "yxyx_1000": [250, 250, 750, 500],
    }
    for system in get_args(CoordinateSystem):
        box = written[system]
        judge = ScriptedJudge(
            [calls(("zoom_in", {"picture": "source", "box": box})), answers("IF", 4)]
        )
        judge.convention = Convention(system=system)
        loop = a_loop(judge)
        await run_loop(loop)
        assert loop.trace.evidence[0].args["box"] == [40, 30, 80, 90]
