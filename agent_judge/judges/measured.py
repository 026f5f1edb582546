"""The embedded judge: decides by measuring pixels, and declines what pixels cannot decide.

It is a policy with a model's interface, in the same loop: it gets the same prepared pictures and
tool replies, calls the same tools and answers the ladder's questions with a label. `decide` is a
pure function of the messages.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_judge.judges.base import NEEDS_LMM, Message, Reply, Request
from agent_judge.judges.coordinates import Convention
from agent_judge.judges.measuring.exhibits import Exhibits, PixelsOf, read_exhibits
from agent_judge.judges.measuring.finding import Finding, Unsure
from agent_judge.judges.measuring.places import MOST_ZOOMED, find_places, judge_targets
from agent_judge.judges.measuring.scene import judge_scene
from agent_judge.judges.reply import NOT_REACHED
from agent_judge.rubrics.ladder import Ladder
from agent_judge.rubrics.protocol import load_ladder
from agent_judge.settings import MEASURED


@dataclass(frozen=True)
class MeasuredJudge:
    """The judge that needs no model."""

    name: str = MEASURED
    endpoint: str = ""
    convention: Convention = field(default_factory=Convention)

    async def reply(self, request: Request) -> Reply:
        """The next message; the measuring runs in a thread."""
        names = [str(tool["function"]["name"]) for tool in request.tools]
        message = await asyncio.to_thread(decide, request.messages, names, request.album.pixels)
        return Reply(
            message=message, finish_reason="tool_calls" if "tool_calls" in message else "stop"
        )

    async def close(self) -> None:
        """Nothing to let go of."""


def decide(
    messages: Sequence[Message], tool_names: Collection[str], pixels_of: PixelsOf
) -> Message:
    """The next assistant message: a tool call, the final answer, or a refusal with its reason.

    Args:
        messages: the conversation in the form of Chat Completions.
        tool_names: tools on offer in this turn.
        pixels_of: from the URL of a picture in the messages to uint8 RGB, shape (H, W, 3).

    Raises:
        ValueError: the conversation holds no task.
    """
    exhibits = read_exhibits(messages, pixels_of)
    calls = _looks(exhibits, tool_names)
    if calls:
        return _calls(len(messages), calls)
    judge = _JUDGES.get(exhibits.criterion)
    finding = judge(exhibits) if judge else Unsure(why=_NOT_MEASURED)
    if isinstance(finding, Unsure):
        said = f"{NEEDS_LMM}: {finding.why}"
        return {"role": "assistant", "content": None, "refusal": said, NEEDS_LMM: True}
    return {"role": "assistant", "content": _answer(finding, exhibits)}


_JUDGES: Mapping[str, Callable[[Exhibits], Finding | Unsure]] = {
    "IF": judge_targets,
    "VC": judge_scene,
}
_NOT_MEASURED = "this criterion asks for more than pixels tell: name a model by --judge"


def _looks(exhibits: Exhibits, tool_names: Collection[str]) -> list[tuple[str, Mapping[str, Any]]]:
    """What to look at next: first what differs, then the targets that the reference shows."""
    if exhibits.criterion not in _JUDGES:
        return []
    if "difference" in tool_names and "difference" not in exhibits.called:
        return [("difference", {})]
    if exhibits.criterion != "IF" or exhibits.targets is not None or not exhibits.has_reference:
        return []
    if "zoom_in" not in tool_names or "zoom_in" in exhibits.called:
        return []
    places = find_places(exhibits)
    if len(places) > MOST_ZOOMED:
        return []
    return [
        ("zoom_in", {"picture": name, "box": list(place.xyxy)})
        for place in places
        for name in ("source", "edited")
    ]


def _calls(turn: int, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> Message:
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": f"look{turn:02d}{index:03d}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(args)},
            }
            for index, (name, args) in enumerate(calls)
        ],
    }


def _answer(finding: Finding, exhibits: Exhibits) -> str:
    """The final answer as `reply.py` reads it: questions in order, label last."""
    ladder: Ladder = load_ladder(exhibits.criterion)
    level = ladder.walk(finding.answers)
    assert level is not None, f"the answers {finding.answers} lead nowhere"
    answer: dict[str, Any] = {
        "answers": {q.id: finding.answers.get(q.id, NOT_REACHED) for q in ladder.questions},
        "explanation": finding.why,
    }
    if ladder.subject == "surroundings":
        answer["anomalies"] = [
            {"what": what, "box": list(box.xyxy)} for what, box in finding.anomalies
        ]
    elif exhibits.targets is None:
        box = finding.target_box
        answer["target_box"] = None if box is None else list(box.xyxy)
    answer["label"] = ladder.label_of(level)
    return json.dumps(answer)
