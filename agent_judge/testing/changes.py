"""A policy for protocols that name changes first and then judge each."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from agent_judge.rubrics.changes import Changes
from agent_judge.rubrics.protocol import rubric_of
from agent_judge.testing.answers import Answer, Policy, calls, criterion_of, says, task_of
from agent_judge.testing.request import ChatRequest


def dice_like(is_coherent: Callable[[Mapping[str, Any]], bool] = lambda _: True) -> Policy:
    """Looks with `difference` where it may, names every region that is no fringe, judges each.

    Args:
        is_coherent: decides on a change: `{command, element, box_px}`, the box in canonical pixels.
    """

    def decide(request: ChatRequest) -> Answer:
        task = task_of(request)
        if "difference" in task:
            return _decision(request, is_coherent(task["difference"]))
        if "difference" in request.tool_names and not request.replies:
            return calls(("difference", {}))
        regions = [region for region in task["regions"] if not region["edge_only"]]
        named = [
            {
                "command": "EDIT",
                "element": f"region {number}",
                # beside canonical pixels stands the judge's own convention, where it is another
                "box": region.get("box", region["box_px"]),
            }
            for number, region in enumerate(regions, start=1)
        ]
        return says(json.dumps({"differences": named}))

    return decide


def _decision(request: ChatRequest, coherent: bool) -> Answer:
    rubric = rubric_of(criterion_of(request))
    assert isinstance(rubric, Changes)
    ladder = rubric.decision
    level = ladder.scale.best if coherent else ladder.scale.worst
    said = {"answers": ladder.path_to(level), "explanation": "as scripted"}
    return says(json.dumps({**said, "label": ladder.label_of(level)}))
