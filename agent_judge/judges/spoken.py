"""The spoken part of a reply, and the JSON objects in it; hardened against hostile text.

Everything here is linear in the length of the reply or bounded by a constant.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from agent_judge.errors import ReplyError

CONFLICT = object()
"""Stands for the value of a key that came twice with different values."""

_MAX_CHARS = 200_000
_MAX_TRIES = 200  # of opening braces
_TAGS = "think|thinking|thought|reasoning|analysis|scratchpad"
_THOUGHT_END = re.compile(
    rf"</(?:{_TAGS})\s?>|◁/think▷|\[/THINK\]|<\|channel\|>final<\|message\|>", re.IGNORECASE
)
_THOUGHT_START = re.compile(rf"<(?:{_TAGS})\s?>|◁think▷|\[THINK\]", re.IGNORECASE)
_MARKERS = re.compile(r"<\|[a-z_]{1,40}\|>")
_SORRY = re.compile(
    r"\b(?:sorry|apologi[sz]e|can(?:no|[\u2019']?)t|(?:un|not )able to|won[\u2019']t|decline)\b",
    re.I,
)
_FOR_WHAT = re.compile(
    r"\b(?:help|assist|comply|fulfil+|engage|process|view|discuss)\b"
    r"|\b(?:this|that|your|the) (?:request|image|picture|content)\b",
    re.I,
)


def text_of(content: object) -> str | None:
    """The text of a message's `content`: a string, or the text parts of a list; else None."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "".join(text for text in texts if isinstance(text, str)) or None
    return None


def declines(text: str) -> bool:
    """Whether an answer without a verdict is the model's refusal to judge.

    Example:
        >>> declines("I'm sorry, but I can't assist with that.")
        True
        >>> declines("I cannot tell whether the cup is red.")
        False
    """
    start = text.strip()[:200]
    return bool(_SORRY.search(start)) and bool(_FOR_WHAT.search(start))


def spoken(content: str | None) -> str:
    """The answer without the model's thinking.

    Raises:
        ReplyError: there is none, or far too much of it.
    """
    if content is None or not content.strip():
        raise ReplyError("the reply was empty")
    if len(content) > _MAX_CHARS:
        raise ReplyError(f"the reply is {len(content)} characters long; send the JSON object only")
    if (whole := _parse(content.strip())) is not None:
        return whole if isinstance(whole, str) else content  # a JSON text holding the answer
    text = _MARKERS.sub(" ", _outside_thinking(content))
    if not text.strip():
        raise ReplyError("the reply holds only thinking and no answer")
    return text


def _outside_thinking(text: str) -> str:
    """What follows the last thought, or else precedes the first one."""
    ends = [match.end() for match in _THOUGHT_END.finditer(text)]
    after = text[ends[-1] :] if ends else text  # some templates hide the opening tag
    if start := _THOUGHT_START.search(after):
        after = after[: start.start()]
    if ends and not after.strip() and (start := _THOUGHT_START.search(text)):
        return text[: start.start()]
    return after


def json_objects(text: str) -> list[tuple[int, int, dict[str, Any]]]:
    """The outermost JSON objects of a text as `(start, end, object)`, keys in lower case.

    Raises:
        ReplyError: the text is full of braces that open nothing.
    """
    found: list[tuple[int, int, dict[str, Any]]] = []
    at = text.find("{")
    for _ in range(_MAX_TRIES):
        if at < 0:
            return found
        try:
            data, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            found.append((at, end, data))
        at = text.find("{", end)
    raise ReplyError("the reply is full of braces; send one JSON object only")


def beside(text: str, objects: Sequence[tuple[int, int, Any]]) -> str:
    """The text with its JSON objects blanked, so that nothing inside them is read as prose."""
    for start, end, _ in objects:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def came(value: object) -> str:
    """What stood in a field, for the message that asks again: behind `must be ..., but `."""
    if value is CONFLICT:
        return "it was given twice, differently"
    return "it is missing" if value is None else f"was {value!r:.80}"


def refuse_broken_json(text: str) -> None:
    """Tell a broken JSON answer as such: what it meant must not be picked out of its pieces.

    Raises:
        ReplyError: the text opens a JSON object that cannot be read.
    """
    if (brace := re.search(r"\{\s*[\"'\u201c]", text)) is None:
        return
    try:
        _DECODER.raw_decode(text, brace.start())
    except (ValueError, RecursionError) as err:
        raise ReplyError(f"the JSON cannot be read: {str(err)[:200]}") from None


def _parse(text: str) -> object:
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in pairs:
        key = name.strip().casefold()
        out[key] = value if key not in out or out[key] == value else CONFLICT
    return out


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, strict=False)
