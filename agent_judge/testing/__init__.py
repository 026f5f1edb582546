"""A loopback OpenAI-compatible endpoint, for our tests and for tests of anything that judges."""

from agent_judge.testing.answers import (
    Answer,
    Policy,
    by_turn,
    calls,
    criterion_of,
    fails,
    in_turn,
    parsed,
    says,
    task_of,
    verdict,
)
from agent_judge.testing.changes import dice_like
from agent_judge.testing.endpoint import LoopbackEndpoint
from agent_judge.testing.request import ChatRequest, ShownPicture

__all__ = [
    "Answer",
    "ChatRequest",
    "LoopbackEndpoint",
    "Policy",
    "ShownPicture",
    "by_turn",
    "calls",
    "criterion_of",
    "dice_like",
    "fails",
    "in_turn",
    "parsed",
    "says",
    "task_of",
    "verdict",
]
