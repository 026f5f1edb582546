"""From a model's answer to the parsed instruction, or to the exact fault to tell it.

Read forgivingly where the meaning is certain (fences, prose around the object, thinking, case,
hyphens, "none" or "all" for a list), never where a field would be a guess.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast, get_args

from agent_judge.errors import ReplyError
from agent_judge.judges.labels import alternatives
from agent_judge.judges.spoken import (
    CONFLICT,
    json_objects,
    refuse_broken_json,
    spoken,
    text_of,
)
from agent_judge.metrics.parsed_instruction import EditWord, ParsedInstruction
from agent_judge.metrics.region_rules import PositionWord, SizeWord

_NOTHING = {"", "none", "null", "n/a", "nothing"}
_ALL = {"all", "everything", "whole picture", "whole image"}
_SAME_WORD = {
    **{"change colour": "change color", "color change": "change color"},
    **{"colour change": "change color", "texture change": "change texture"},
    **{"size change": "change size", "larger": "bigger", "same": "unchanged"},
}
"""Spellings that mean one word on offer and nothing else."""
_MAX_PHRASE = 200


def read_parse(content: object) -> ParsedInstruction:
    """The parsed instruction in a model's answer.

    Args:
        content: the message's `content`: text, or a list of parts.

    Raises:
        ReplyError: no such object, two different ones, or one with a fault; the message is for the
            model.

    Example:
        >>> read_parse('{"original_parts": ["the cup"], "edited_parts": [], "whole_picture": false,'
        ...     '"edit_type": "Remove", "reference_object": null, "size": "none",'
        ...     '"position": "none"}').edit_type
        'remove'
    """
    data = _the_object(spoken(text_of(content)))
    edit_type = _word(data, "edit_type", get_args(EditWord))
    original, edited = _phrases(data, "original_parts"), _phrases(data, "edited_parts")
    whole = _whole_picture(data, original, edited)
    placed_by = _phrase(data.get("reference_object"), "reference_object")
    try:
        return ParsedInstruction(
            whole_picture=whole,
            original_parts=() if original is None else original,
            edited_parts=() if edited is None else edited,
            edit_type=cast("EditWord", edit_type),
            reference_object=placed_by if edit_type == "add" else None,
            size=cast("SizeWord", _word(data, "size", get_args(SizeWord), silent="none")),
            position=cast(
                "PositionWord", _word(data, "position", get_args(PositionWord), silent="none")
            ),
        )
    except ValueError as err:
        raise ReplyError(str(err)) from err


def _the_object(text: str) -> Mapping[str, Any]:
    """The one object with an `edit_type`: itself, or inside a wrapper."""
    objects, rest = json_objects(text), text
    for start, end, _ in objects:
        rest = rest[:start] + " " * (end - start) + rest[end:]
    found = [
        candidate
        for _, _, data in objects
        for candidate in (data, *data.values())
        if isinstance(candidate, dict) and "edit_type" in candidate
    ]
    if not found:
        if objects:
            raise ReplyError("'edit_type' is missing from the JSON object")
        refuse_broken_json(rest)
        raise ReplyError("no JSON object was given; answer with one and nothing else")
    if any(other != found[0] for other in found):
        raise ReplyError("two different JSON objects were given; answer with one")
    return found[0]


def _word(
    data: Mapping[str, Any], key: str, offered: tuple[str, ...], *, silent: str | None = None
) -> str:
    """The offered word that a field holds.

    Args:
        data: the object.
        key: the field.
        offered: the words on offer.
        silent: what null, "" and the like mean; None where they mean nothing.
    """
    value = data.get(key)
    if key not in data:
        raise ReplyError(f"{key!r} is missing; it must be {alternatives(offered)}")
    if value is None or isinstance(value, str):
        text = re.sub(r"[\s_-]+", " ", (value or "").strip(" *`\"'.").casefold())
        text = _SAME_WORD.get(text, text)
        if text in offered:
            return text
        if silent is not None and text in _NOTHING:
            return silent
    raise ReplyError(f"{key!r} must be exactly one of {alternatives(offered)}, but {_came(value)}")


def _phrases(data: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    """The phrases of a list; None where it says that everything is meant."""
    if key not in data:
        raise ReplyError(f"{key!r} is missing; it must be a list of phrases, or []")
    value = data[key]
    rows = [] if value is None else value if isinstance(value, list) else [value]
    phrases = [p for row in rows if (p := _phrase(row, key)) is not None]
    if [p.casefold() for p in phrases] in [[word] for word in _ALL]:
        return None
    return tuple(phrases)


def _phrase(value: object, key: str) -> str | None:
    """A phrase on one line; None where it says that there is nothing."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise ReplyError(f"{key!r} must hold text, but {_came(value)}")
    text = " ".join("".join(c if c.isprintable() else " " for c in value).split())
    if text.casefold() in _NOTHING:
        return None
    if len(text) > _MAX_PHRASE:
        raise ReplyError(f"a phrase of {key!r} has {len(text)} characters; name the thing only")
    return text


def _whole_picture(
    data: Mapping[str, Any], original: tuple[str, ...] | None, edited: tuple[str, ...] | None
) -> bool:
    value = data.get("whole_picture")
    if isinstance(value, str):
        value = {"true": True, "yes": True, "false": False, "no": False}.get(value.casefold())
    everything = {original is None, edited is None}
    if not isinstance(value, bool):
        raise ReplyError(
            f"'whole_picture' must be true or false, but {_came(data.get('whole_picture'))}"
        )
    if everything == {True, False} or (everything == {True} and not value):
        raise ReplyError(
            "a part that is everything means an edit of the whole picture: then 'whole_picture' is "
            "true and both lists are []"
        )
    return value


def _came(value: object) -> str:
    if value is CONFLICT:
        return "it was given twice, differently"
    return f"was {value!r:.80}"
