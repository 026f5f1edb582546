"""The messages of one conversation: its opening, tool answers, and what is asked again.

All in the form of OpenAI Chat Completions with `picture:KEY` in place of bytes. Tool messages
carry text only; the pictures of all calls of a turn follow in one user message, because most
endpoints refuse or overlook pictures inside tool messages.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from agent_judge.album import Album, url_of
from agent_judge.judges.base import Message
from agent_judge.judges.coordinates import Convention
from agent_judge.plan import Look
from agent_judge.records import Evidence
from agent_judge.rubrics.prompts import PromptContext, picture_label, system_prompt, task_text
from agent_judge.rubrics.rubric import Rubric
from agent_judge.tools.base import Tool, View

LAST_TURN = "No tool is left. Decide on what you have seen and give the final JSON answer now."
_PICTURES_OF_TOOLS = "The pictures of the tool replies above:"


def tool_schemas(tools: Sequence[Tool], view: View) -> list[dict[str, Any]]:
    """The `tools` of a request; only pictures that exist are offered."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters(view),
            },
        }
        for tool in tools
    ]


def opening(
    look: Look,
    rubric: Rubric,
    *,
    tools: Sequence[Tool],
    convention: Convention,
    max_steps: int,
    album: Album,
) -> list[Message]:
    """System message and the user message with the task and the labelled pictures."""
    view = look.view
    context = PromptContext(
        edit_type=look.task.get("type"),
        has_reference="reference" in view.names,
        cropped=look.cropped,
        masked=bool(view.masked),
        several_targets=look.several_targets,
        alone=view.names == ("edited",),
        convention=convention.in_words(view.size_wh),
        tools=[tool.name for tool in tools],
        max_steps=max_steps,
    )
    task = convention.annotate(look.task, view.size_wh)
    parts: list[dict[str, Any]] = [{"type": "text", "text": task_text(task)}]
    for name in view.names:
        shown_wh = convention.shown_wh(view.size_wh)
        parts.append({"type": "text", "text": picture_label(name, view.size_wh, shown_wh)})
        url = album.show(name, view.picture(name))
        parts.append({"type": "image_url", "image_url": {"url": url}})
    for number, closeup in enumerate(look.closeups, start=1):
        parts.append({"type": "text", "text": closeup.label})
        url = album.show(f"closeup {number}", closeup.pixels)
        parts.append({"type": "image_url", "image_url": {"url": url}})
    return [
        {"role": "system", "content": system_prompt(rubric, context)},
        {"role": "user", "content": parts},
    ]


def prompt_hash(system: str, schemas: Sequence[Mapping[str, Any]]) -> str:
    """sha256 of the instructions and tool schemas that the judge gets."""
    text = system + "\0" + json.dumps(schemas, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def tool_answers(call_ids: Sequence[str], evidence: Sequence[Evidence]) -> list[Message]:
    """Text tool messages for all calls, in order, then one user message with the pictures."""
    messages: list[Message] = [
        {"role": "tool", "tool_call_id": call_id, "content": one.text}
        for call_id, one in zip(call_ids, evidence, strict=True)
    ]
    parts: list[dict[str, Any]] = []
    for one in evidence:
        for sha256, label in zip(one.images, one.labels, strict=True):
            parts.append({"type": "text", "text": label})
            parts.append({"type": "image_url", "image_url": {"url": url_of(sha256)}})
    if parts:
        head = {"type": "text", "text": _PICTURES_OF_TOOLS}
        messages.append({"role": "user", "content": [head, *parts]})
    return messages


def user_says(text: str) -> Message:
    """A user message of text alone."""
    return {"role": "user", "content": text}


def ask_again(fault: str) -> Message:
    """The user message that tells what was wrong with an answer and asks for another."""
    return user_says(
        f"That answer cannot be used: {fault}. Answer again with one JSON object in the form given."
    )
