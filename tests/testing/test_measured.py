"""The wire changes nothing: the embedded judge behind an endpoint gives the same verdicts."""

from dataclasses import replace

import numpy as np
import pytest

from agent_judge.album import Album
from agent_judge.errors import JudgeError
from agent_judge.graph import Loop, Trace, run_loop
from agent_judge.judges.base import Judge
from agent_judge.judges.measured import MeasuredJudge
from agent_judge.plan import Look
from agent_judge.records import Box, Criterion, Verdict
from agent_judge.rubrics.protocol import load_ladder
from agent_judge.testing.measured import measured
from agent_judge.tools.base import View
from agent_judge.tools.difference import DifferenceTool
from agent_judge.tools.zoom_in import ZoomInTool
from tests.judges.over_the_wire import judge_at


def a_scene(*, at: tuple[int, int] | None, colour=(200, 30, 30)):
    rng = np.random.default_rng(7)
    blocks = rng.integers(60, 200, (9, 12, 3)).astype(np.uint8)
    scene = np.kron(blocks, np.ones((24, 24, 1), np.uint8))
    if at:
        x, y = at
        scene[y : y + 20, x : x + 24] = colour
    return scene


SOURCE = a_scene(at=(100, 80), colour=(30, 30, 200))
RED = a_scene(at=(100, 80))
ELSEWHERE = a_scene(at=(200, 150))
FULL = View(source=SOURCE, edited=RED, reference=RED.copy())
MOVED = replace(FULL, edited=ELSEWHERE)
BARE = View(source=SOURCE, edited=RED)
CROP = View(source=SOURCE[60:120, 80:150], edited=RED[60:120, 80:150])


def a_look(view: View, criterion: Criterion, *, cropped: bool = False) -> Look:
    task = {"criterion": criterion, "instruction": "make the blue box red", "type": "color"}
    if cropped:
        task["targets_px"] = [[20, 20, 44, 40]]  # type: ignore[assignment]
    targets = (Box(100, 80, 124, 100),) if cropped else ()
    return Look(view=view, task=task, cropped=cropped, targets=targets)


async def outcome(judge: Judge, look: Look, criterion: Criterion, *, tools: bool):
    """The verdict or the fate, with the evidence behind it."""
    trace = Trace()
    loop = Loop(
        judge=judge,
        rubric=load_ladder(criterion),
        look=look,
        tools=(ZoomInTool(), DifferenceTool()) if tools else (),
        album=Album(),
        trace=trace,
        max_steps=8,
        format_retries=2,
    )
    ended: Verdict | tuple[str, str]
    try:
        ended = await run_loop(loop)
    except JudgeError as err:
        ended = (err.reason, str(err))
    return ended, trace.evidence, trace.prompt_hash


@pytest.mark.parametrize("criterion", ["IF", "VC"])
@pytest.mark.parametrize(
    ("view", "cropped", "tools"),
    [
        (FULL, False, True),
        pytest.param(MOVED, False, True, marks=pytest.mark.slow),
        pytest.param(BARE, False, True, marks=pytest.mark.slow),
        (FULL, False, False),
        (CROP, True, False),
    ],
    ids=["tool", "tool, elsewhere", "tool, no reference", "direct", "oracle"],
)
@pytest.mark.slow
async def test_the_same_verdict_comes_over_the_wire(view, criterion, cropped, tools):
    look = a_look(view, criterion, cropped=cropped)
    here = await outcome(MeasuredJudge(), look, criterion, tools=tools)
    async with judge_at(measured, model="agent-judge-measured") as (judge, _):
        there = await outcome(judge, look, criterion, tools=tools)
    assert there == here
