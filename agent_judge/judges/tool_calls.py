"""From an assistant message to tool calls that can be answered, and a message that can be replayed.

Endpoints lose call ids, repeat them, send arguments as nothing, as an object, encoded twice or
broken. The history must stay valid whatever came, and the judge must be told what was wrong, so
each fault is repaired in the replayed message and answered under a valid id. Everything else of
the message stays as it came: Gemini refuses a turn whose unknown fields were dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from agent_judge.judges.base import Message

MAX_CALLS = 8
"""Calls run in one turn; the rest is answered as not run."""

_INSTEAD = "nothing was run; call the tool itself, or give your final answer"
BAD_CALL_TOLD = f"your tool call could not be read, and {_INSTEAD}"
_MAX_CHARS = 20_000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MARK = re.compile(
    r"<(?:[\w-]+:)?tool_(?:call|code)|<function[=_]|\[TOOL_CALLS\]|<\|(?:tool_call|python_tag|call)"
    r"|<\uff5c(?:tool|DSML)|```tool_code|to=functions\.",
    re.IGNORECASE,
)
"""What models put around a call when nobody reads their own format."""
_WRITTEN = (
    r"(?m)^[ \t`]*(?:\w+\.)?{name}\s?\(",
    r"\b{name}(?:\.call)?\((?=\s*(?:[)'\"{{\[]|\w+\s*[=,]))",  # in a sentence: no "difference(s)"
    r'"(?:name|tool|function|tool_name|action)"\s?:\s?"(?:\w+\.)?{name}"',
    r"(?im)^[^\w\n]*action\s?:\s?{name}\b",
    r"(?m)^[> \t]*{name}\s*\{{",
    r"<{name}>",
)
"""A call of a tool by its name, in the forms in which models write one."""


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """One call, ready to be run or answered with its fault."""

    id: str
    """Unique in the conversation; the answer carries it."""
    name: str
    args: Mapping[str, Any]
    """Empty where there is a fault."""
    fault: str | None = None
    """Why it cannot be run, for the judge."""


def read_tool_calls(
    message: Message, *, taken: Collection[str] = (), limit: int = MAX_CALLS
) -> tuple[Message, list[ToolCall]]:
    """The message as it can be replayed, and its calls in order.

    Args:
        message: the assistant message as it came; left as it is.
        taken: call ids of earlier turns.
        limit: calls to run; later ones get a fault.

    Returns:
        The same message object where nothing needed repair. Its calls are empty for an answer.

    Example:
        >>> call = {"id": None, "function": {"name": "difference", "arguments": ""}}
        >>> message, calls = read_tool_calls({"role": "assistant", "tool_calls": [call]})
        >>> calls[0].id, calls[0].args, message["tool_calls"][0]["function"]["arguments"]
        ('call00000', {}, '{}')
    """
    raw = message.get("tool_calls")
    raw = [raw] if isinstance(raw, Mapping) else raw
    listed = raw if isinstance(raw, list) else []
    entries = [entry for entry in listed if isinstance(entry, Mapping)]
    seen = set(taken)
    repaired, calls = [], []
    for index, entry in enumerate(entries):
        wire, call = _read_call(entry, seen)
        seen.add(call.id)
        if index >= limit:
            fault = f"not run: at most {limit} calls in one turn"
            call = ToolCall(id=call.id, name=call.name, args={}, fault=fault)
        repaired.append(wire)
        calls.append(call)
    return _with_calls(message, repaired), calls


def written_call(text: str, names: Collection[str]) -> str | None:
    """What to tell a judge that wrote a tool call as text; None when it did not.

    Example:
        >>> written_call('zoom_in(picture="source", box=[1, 2, 3, 4])', ["zoom_in"])[:30]
        "you wrote a call of 'zoom_in' "
    """
    text = text[-_MAX_CHARS:]
    forms = (r"\b{name}\b", *_WRITTEN) if _MARK.search(text) else _WRITTEN
    for name in names:
        if any(re.search(form.format(name=re.escape(name)), text) for form in forms):
            return f"you wrote a call of {name!r} as text, and {_INSTEAD}"
    return None


def _with_calls(message: Message, calls: list[dict[str, Any]]) -> Message:
    if not calls:
        return {key: value for key, value in message.items() if key != "tool_calls"}
    return message if message.get("tool_calls") == calls else {**message, "tool_calls": calls}


def _read_call(entry: Mapping[str, Any], taken: Collection[str]) -> tuple[dict[str, Any], ToolCall]:
    function = entry.get("function")
    function = function if isinstance(function, Mapping) else {}
    call_id = entry.get("id")
    if not isinstance(call_id, str) or not call_id.strip() or call_id in taken:
        call_id = _free_id(taken)
    name = _read_name(function.get("name"))
    arguments, args, fault = _read_arguments(function.get("arguments"))
    wire = {
        **entry,
        "id": call_id,
        "type": "function",
        "function": {**function, "name": name, "arguments": arguments},
    }
    return wire, ToolCall(id=call_id, name=name, args=args, fault=fault)


def _free_id(taken: Collection[str]) -> str:
    """Nine letters and digits: the narrowest form that an endpoint demands (Mistral)."""
    number = 0
    while (call_id := f"call{number:05d}") in taken:
        number += 1
    return call_id


def _read_name(value: object) -> str:
    """The tool's name without a namespace ("functions.zoom_in"); odd marks become `_`."""
    name = value.strip() if isinstance(value, str) else ""
    if not _NAME.fullmatch(name):
        name = re.sub(r"[^A-Za-z0-9_-]", "_", re.split(r"[.:/]", name)[-1])[:64]
    return name or "unnamed"


def _read_arguments(value: object) -> tuple[str, dict[str, Any], str | None]:
    """(valid JSON text to replay, arguments, fault)."""
    if value is None or value == "":
        return "{}", {}, None
    try:
        data, layers = value, 0
        while isinstance(data, str) and layers < 3:  # some endpoints encode twice
            data = _loads(data)
            layers += 1
        if data is None:
            return "{}", {}, None
        if not isinstance(data, Mapping):
            raise ValueError("expected an object")
        text = json.dumps(data, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, RecursionError) as err:
        fault = f"the arguments are not valid JSON ({str(err)[:120]}); call the tool again"
        kept = str(value)[:500].encode("ascii", "replace").decode()
        return json.dumps({"unreadable": kept}), {}, fault
    as_it_came = isinstance(value, str) and layers == 1 and _is_json(value)
    return (str(value) if as_it_came else text), dict(data), None


def _is_json(text: str) -> bool:
    """Whether it can be replayed as it came: no fence, no control characters."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _loads(text: str) -> Any:  # noqa: ANN401 - JSON
    if len(text) > _MAX_CHARS:
        raise ValueError(f"{len(text)} characters are too many")
    text = text.strip()
    text = re.sub(r"^```(?:json)?\s*|\s*```$", "", text, flags=re.I) or "null"
    return json.loads(text, parse_constant=_no_constant, strict=False)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")
