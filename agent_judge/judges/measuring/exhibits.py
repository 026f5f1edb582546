"""What a conversation shows: the task, the prepared pictures, what the tools answered.

Read from messages in the form of Chat Completions and from nothing else, so that the embedded
judge sees the same whether the messages came in process or over a wire.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from agent_judge.judges.base import Message
from agent_judge.records import Box, Criterion, PictureName
from agent_judge.rubrics.prompts import labelled_picture, read_task
from agent_judge.tools.base import RGB

PixelsOf = Callable[[str], RGB]
"""From the URL of an `image_url` part to its pixels."""


@dataclass(frozen=True, kw_only=True)
class ToolAnswer:
    """One answered tool call."""

    tool: str
    data: Mapping[str, Any]
    """The JSON of the tool message."""


@dataclass(frozen=True, kw_only=True)
class Exhibits:
    """What one conversation has shown so far."""

    task: Mapping[str, Any]
    """As `plan.py` writes it."""
    urls: Mapping[PictureName, str]
    pixels_of: PixelsOf
    answers: tuple[ToolAnswer, ...]
    """In order; failed calls are left out."""
    called: frozenset[str]
    """Tools called so far, failed calls included."""

    @property
    def criterion(self) -> Criterion:
        """What is judged."""
        return cast("Criterion", self.task["criterion"])

    @property
    def instruction(self) -> str:
        """What the editing model was told."""
        return str(self.task.get("instruction", ""))

    @property
    def targets(self) -> tuple[Box, ...] | None:
        """The target boxes in cropped pictures; None where full pictures are shown."""
        return self._boxes("targets_px")

    @property
    def white(self) -> tuple[Box, ...] | None:
        """The rectangles painted white; None where nothing was masked."""
        return self._boxes("white_px")

    @property
    def has_reference(self) -> bool:
        """Whether a reference is shown."""
        return "reference" in self.urls

    def picture(self, name: PictureName) -> RGB:
        """A prepared picture, uint8 RGB.

        Raises:
            KeyError: it is not shown.
        """
        return self.pixels_of(self.urls[name])

    def last(self, tool: str) -> Mapping[str, Any] | None:
        """The last answer of a tool; None when it was not called, or failed."""
        return next((a.data for a in reversed(self.answers) if a.tool == tool), None)

    def _boxes(self, key: str) -> tuple[Box, ...] | None:
        value = self.task.get(key)
        return None if value is None else tuple(Box(*map(float, numbers)) for numbers in value)


def read_exhibits(messages: Sequence[Message], pixels_of: PixelsOf) -> Exhibits:
    """The exhibits of a conversation.

    Raises:
        ValueError: there is no task in it.
    """
    task: Mapping[str, Any] | None = None
    urls: dict[PictureName, str] = {}
    for label, url in _parts(messages):
        if url is None:
            task = task or read_task(label)
        elif (name := labelled_picture(label)) is not None:
            urls.setdefault(name, url)
    if task is None:
        raise ValueError("the conversation holds no task")
    names = _call_names(messages)
    return Exhibits(
        task=task,
        urls=urls,
        pixels_of=pixels_of,
        answers=tuple(_tool_answers(messages, names)),
        called=frozenset(names.values()),
    )


def _parts(messages: Sequence[Message]) -> Iterator[tuple[str, str | None]]:
    """Every text of the user as `(text, None)` and every picture as `(label, url)`."""
    for message in messages:
        content = message.get("content")
        if message.get("role") != "user" or not isinstance(content, list):
            continue
        label = ""
        for part in content:
            if part.get("type") == "image_url":
                yield label, part["image_url"]["url"]
            elif part.get("type") == "text":
                label = part["text"]
                yield label, None


def _call_names(messages: Sequence[Message]) -> dict[str, str]:
    """The tool of each call, by its id."""
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    return {call["id"]: call["function"]["name"] for call in calls}


def _tool_answers(messages: Sequence[Message], names: Mapping[str, str]) -> Iterator[ToolAnswer]:
    for message in messages:
        if message.get("role") == "tool":
            data = json.loads(message["content"])
            if "error" not in data:
                yield ToolAnswer(tool=names.get(message["tool_call_id"], ""), data=data)
