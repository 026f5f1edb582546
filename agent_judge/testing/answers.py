"""What the loopback endpoint can answer: good replies, errors, torn and missing ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_judge.records import Criterion
from agent_judge.rubrics.ladder import Ladder
from agent_judge.rubrics.prompts import read_task
from agent_judge.rubrics.protocol import rubric_of
from agent_judge.rubrics.rating import YES_NO
from agent_judge.testing.request import ChatRequest

Policy = Callable[[ChatRequest], "Answer | str"]
"""Decides on each request; called from several threads at once. A text is a message's content."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One HTTP response."""

    message: Mapping[str, Any] | None = None
    """The assistant message of a completion."""
    finish_reason: str | None = None
    """None: `tool_calls` where the message has some, else `stop`."""
    usage: Mapping[str, Any] | None = field(
        default_factory=lambda: {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    )
    """None leaves it out."""
    model: str | None = None
    """None: the model asked for."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    """Sent in place of a completion: bytes as they are, anything else as JSON."""
    delay_s: float = 0.0
    """Time until the first byte."""
    torn: bool = False
    """The connection ends after half of the body."""
    hangs: bool = False
    """No byte is ever sent; the connection stays open until the endpoint stops."""


def says(content: str | None, **fields: Any) -> Answer:  # noqa: ANN401 - fields of a message
    """A final answer; further fields of the message by keyword (`refusal="no"`)."""
    return Answer(message={"role": "assistant", "content": content, **fields})


def calls(*wanted: tuple[str, Mapping[str, Any] | str | None]) -> Answer:
    """Tool calls, each `(name, arguments)`; arguments that are no mapping are sent as they are."""
    entries = [
        {
            "id": f"call_{index}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": json.dumps(args) if isinstance(args, Mapping) else args,
            },
        }
        for index, (name, args) in enumerate(wanted)
    ]
    return Answer(message={"role": "assistant", "content": None, "tool_calls": entries})


def verdict(criterion: Criterion, level: int, **fields: Any) -> Answer:  # noqa: ANN401 - fields of the answer
    """A right final answer whose own answers lead to `level`, in the form of the criterion's."""
    rubric = rubric_of(criterion)
    answers = rubric.path_to(level)
    if isinstance(rubric, Ladder):
        said = {"answers": answers, "explanation": "as scripted"}
        return says(json.dumps({**said, **fields, "label": rubric.label_of(level)}))
    yes_no = {YES_NO: answers[YES_NO]} if YES_NO in answers else {}
    return says(json.dumps({"reason": "as scripted", **yes_no, **fields, "score": level}))


def parsed(original: str = "the thing", edited: str = "the new thing", **fields: Any) -> Answer:  # noqa: ANN401 - fields of the answer
    """An instruction taken apart, as the protocol `bpm` asks for it: a replacement, if not told."""
    answer = {
        "original_parts": [original],
        "edited_parts": [edited],
        "whole_picture": False,
        "edit_type": "replace",
        "reference_object": None,
        "size": "none",
        "position": "none",
    }
    return says(json.dumps(answer | fields))


def fails(
    status: int,
    message: str = "no",
    *,
    code: str | None = None,
    param: str | None = None,
    retry_after_s: float | None = None,
) -> Answer:
    """An error in the form of OpenAI's: `{"error": {message, type, code, param}}`."""
    error = {"message": message, "type": "invalid_request_error", "code": code, "param": param}
    headers = {} if retry_after_s is None else {"Retry-After": str(retry_after_s)}
    return Answer(status=status, headers=headers, body={"error": error})


def in_turn(*answers: Answer | str) -> Policy:
    """The given answers one after the other; the last one for ever."""
    if not answers:
        raise ValueError("expected at least one answer")
    return lambda request: answers[min(request.number, len(answers) - 1)]


def by_turn(*answers: Answer | str) -> Policy:
    """The answer of each conversation's own turn, whatever else arrives between; last for ever."""
    if not answers:
        raise ValueError("expected at least one answer")
    return lambda request: answers[min(len(request.replies), len(answers) - 1)]


def as_answer(answer: Answer | str) -> Answer:
    """A text becomes a final answer."""
    return says(answer) if isinstance(answer, str) else answer


def task_of(request: ChatRequest) -> Mapping[str, Any]:
    """The task of our own prompt: the criterion, the row's text, what is to be judged.

    Raises:
        ValueError: the request is none of agent-judge's own.
    """
    for message in request.messages:
        parts = message.get("content")
        for part in parts if isinstance(parts, list) else ():
            if part.get("type") == "text" and (task := read_task(part["text"])) is not None:
                return task
    raise ValueError("the request is none of agent-judge's own")


def criterion_of(request: ChatRequest) -> Criterion:
    """The criterion that our own prompt asks for, read from the task."""
    return str(task_of(request)["criterion"])
