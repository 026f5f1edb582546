"""The loop of one criterion step by step: what the judge said, asked for, and got.

A run stores the assistant messages and the tool replies apart, both in the order in which they
happened. A message that asked for tools was answered unless it was the last of its conversation.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_judge.judges.spoken import text_of as content_text
from agent_judge.judges.tool_calls import read_tool_calls
from agent_judge.records import Evidence
from agent_judge.store import Saved


@dataclass(frozen=True, kw_only=True)
class Step:
    """One assistant message and the tool replies to it."""

    vote: int
    look: int
    """Which conversation of the vote: one a target in oracle IF, else 0."""
    about: str
    """What the conversation was about, where a vote has several of different kinds; else empty."""
    said: str
    """The message's text; empty where it only called tools."""
    evidence: tuple[Evidence, ...]
    """The replies to its calls, in order."""


def steps_of(saved: Saved) -> tuple[Step, ...]:
    """The steps of all votes and looks of a record, in order."""
    left = iter(saved.record.evidence)
    steps = []
    for (vote, look), group in itertools.groupby(saved.replies, key=_conversation):
        replies = list(group)
        messages = [reply["message"] for reply in replies]
        for number, message in enumerate(messages, start=1):
            answered = number < len(messages)
            n_calls = len(read_tool_calls(message)[1]) if answered else 0
            steps.append(
                Step(
                    vote=vote,
                    look=look,
                    about=replies[0].get("about", ""),
                    said=text_of(message),
                    evidence=tuple(itertools.islice(left, n_calls)),
                )
            )
    return (*steps, *_unclaimed(tuple(left)))


def _conversation(reply: Mapping[str, Any]) -> tuple[int, int]:
    return int(reply["vote"]), int(reply["look"])


def _unclaimed(evidence: Sequence[Evidence]) -> Iterator[Step]:
    """Evidence whose message was not kept: a conversation that broke off while it was looking."""
    if evidence:
        yield Step(vote=0, look=0, about="", said="", evidence=tuple(evidence))


def text_of(message: Mapping[str, Any]) -> str:
    """The text of an assistant message: its content, or its refusal."""
    return content_text(message.get("content")) or str(message.get("refusal") or "")


def summary_of(text: str) -> str:
    """One sentence for a tool's reply: its own summary or error, else the reply."""
    try:
        data = json.loads(text)
    except ValueError:
        return text
    if not isinstance(data, dict):
        return text
    return str(data.get("error") or data.get("summary") or text)
