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
from agent_judge.judges.reply import ToBox, strict_object
from agent_judge.judges.spoken import came, json_objects, refuse_broken_json, spoken, text_of
from agent_judge.metrics.parsed_instruction import EditWord, ParsedInstruction
from agent_judge.metrics.region_rules import PositionWord, SizeWord
from agent_judge.rubrics.measure import Parse

_NOTHING = {"", "none", "null", "n/a", "nothing"}
_ALL = {"all", "everything", "whole picture", "whole image"}
_SAME_WORD = {
    **{"change colour": "change color", "color change": "change color"},
    **{"colour change": "change color", "texture change": "change texture"},
    **{"size change": "change size", "larger": "bigger", "same": "unchanged"},
}
"""Spellings that mean one word on offer and nothing else."""
_MAX_PHRASE = 200


def answer_schema(_: Parse, *, boxes: bool) -> dict[str, Any]:
    """JSON schema of the answer, which holds no boxes: parts are named before they are classified.

    The fields are those of `ParsedInstruction`.
    """
    phrases = {"type": "array", "items": {"type": "string"}}
    return strict_object(
        {
            "original_parts": phrases,
            "edited_parts": phrases,
            "whole_picture": {"type": "boolean"},
            "edit_type": {"type": "string", "enum": list(get_args(EditWord))},
            "reference_object": {"type": ["string", "null"]},
            "size": {"type": "string", "enum": list(get_args(SizeWord))},
            "position": {"type": "string", "enum": list(get_args(PositionWord))},
        }
    )


def read_parse(content: object, _: Parse, *, to_box: ToBox | None) -> ParsedInstruction:
    """The parsed instruction in a model's answer: text, or a list of parts. It holds no boxes.

    Raises:
        ReplyError: no such object, two different ones, or one with a fault; the message is for the
            model.

    Example:
        >>> from agent_judge.rubrics.protocol import rubric_of
        >>> text = ('{"original_parts": ["the cup"], "edited_parts": [], "whole_picture": false,'
        ...     '"edit_type": "Remove", "reference_object": null, "size": "none",'
        ...     '"position": "none"}')
        >>> read_parse(text, rubric_of("size").first_step, to_box=None).edit_type
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
    objects = json_objects(text)
    found = [
        candidate
        for _, _, data in objects
        for candidate in (data, *data.values())
        if isinstance(candidate, dict) and "edit_type" in candidate
    ]
    if not found:
        if objects:
            raise ReplyError("'edit_type' is missing from the JSON object")
        refuse_broken_json(text)
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
    raise ReplyError(f"{key!r} must be exactly one of {alternatives(offered)}, but {came(value)}")


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
        raise ReplyError(f"{key!r} must hold text, but {came(value)}")
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
            f"'whole_picture' must be true or false, but {came(data.get('whole_picture'))}"
        )
    if everything == {True, False} or (everything == {True} and not value):
        raise ReplyError(
            "a part that is everything means an edit of the whole picture: then 'whole_picture' is "
            "true and both lists are []"
        )
    return value
