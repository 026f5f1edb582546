"""A judge with the real interface that answers from a script."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_judge.judges.base import Message, Reply, Request
from agent_judge.judges.coordinates import Convention
from agent_judge.records import Criterion
from agent_judge.rubrics.protocol import load_ladder

Step = Message | Exception | Callable[[Request], Message]


@dataclass
class ScriptedJudge:
    """Says its lines in order; the last one again and again."""

    script: Sequence[Step]
    name: str = "scripted"
    endpoint: str = ""
    convention: Convention = field(default_factory=Convention)
    requests: list[Request] = field(default_factory=list)
    closed: bool = False

    async def reply(self, request: Request) -> Reply:
        step = self.script[min(len(self.requests), len(self.script) - 1)]
        self.requests.append(request)
        request.ledger.attempts += 1
        if isinstance(step, Exception):
            raise step
        return Reply(message=step(request) if callable(step) else step, finish_reason="stop")

    async def close(self) -> None:
        self.closed = True


def says(text: str) -> Message:
    return {"role": "assistant", "content": text}


def answers(criterion: Criterion, level: int, **more: Any) -> Message:
    """A complete final answer for a level."""
    ladder = load_ladder(criterion)
    data = {"answers": ladder.path_to(level), "explanation": "as scripted", **more}
    return says(json.dumps({**data, "label": ladder.label_of(level)}))


def calls(*named: tuple[str, dict[str, Any]], first: int = 0) -> Message:
    """An assistant message that calls tools."""
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": f"call_{first + index}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(args)},
            }
            for index, (name, args) in enumerate(named)
        ],
    }
