"""From a judge's list of differences to changes with boxes, or to the exact fault to tell it.

The published parsers of DICE drop whole coordinates and names that hold a comma; here both are
JSON. Read forgivingly where the meaning is certain (fences, prose, thinking, a bare list, the
spelling of a command), never where a box would be a guess: a box whose corners are swapped may as
well be written as x, y, width and height, so it is asked for again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from agent_judge.errors import ReplyError
from agent_judge.judges.labels import alternatives, settles
from agent_judge.judges.reply import ToBox, clean, strict_object
from agent_judge.judges.spoken import came, json_objects, refuse_broken_json, spoken, text_of
from agent_judge.records import Box, PictureName
from agent_judge.rubrics.changes import Changes

Command = Literal["ADD", "REMOVE", "EDIT"]
_COMMANDS: tuple[Command, ...] = get_args(Command)
_ENDINGS = re.compile(r"(?<=ADD|DIT)ED$|(?<=REMOVE)D$")
_LIST = "differences"
_BOX_KEYS = ("box", "bbox", "bounding_box", "box_2d", "bbox_2d")
_MAX_NAME = 200
_FENCE = re.compile(r"^\s*```\w*\s*|\s*```\s*$")


@dataclass(frozen=True, kw_only=True)
class Change:
    """One difference between source and edited, as a judge named it."""

    command: Command
    """ADD: it appeared; REMOVE: it is gone; EDIT: it looks otherwise."""
    element: str
    """What it is, in a few words."""
    box: Box
    """Canonical pixels, in the picture that `picture` names."""

    @property
    def picture(self) -> PictureName:
        """Where the thing can be seen."""
        return "source" if self.command == "REMOVE" else "edited"

    def __str__(self) -> str:
        return f"{self.command} {self.element}"


@dataclass(frozen=True, kw_only=True)
class NamedChanges:
    """What a judge named."""

    changes: tuple[Change, ...]
    """In its order, at most as many as the rubric takes."""
    notes: tuple[str, ...] = ()
    """What of its list is not among them, in words."""


def answer_schema(rubric: Changes, *, boxes: bool) -> dict[str, Any]:
    """JSON schema of the list; a difference without a box is none."""
    properties = {
        "command": {"type": "string", "enum": list(_COMMANDS)},
        "element": {"type": "string"},
        "box": {"type": "array", "items": {"type": "number"}},
    }
    return strict_object({_LIST: {"type": "array", "items": strict_object(properties)}})


def read_changes(content: object, rubric: Changes, *, to_box: ToBox | None) -> NamedChanges:
    """The differences in a final answer.

    Args:
        content: the message's `content`: text, or a list of parts.
        rubric: tells how many are judged.
        to_box: the judge's box convention.

    Raises:
        ReplyError: no list, two different ones, or a difference with a fault; the message is for
            the judge.

    Example:
        >>> from agent_judge.rubrics.protocol import rubric_of
        >>> text = '[{"command": "Edit", "element": "red, round vase", "box": [1, 2, 3, 4]}]'
        >>> found = read_changes(text, rubric_of("coherence"), to_box=lambda box: Box(*box))
        >>> str(found.changes[0])
        'EDIT red, round vase'
    """
    assert to_box is not None, "differences are named in whole pictures, by boxes"
    entries = _entries(spoken(text_of(content)))
    told = [_change(entry, n, to_box) for n, entry in enumerate(entries, start=1)]
    first: dict[tuple[str, str, Box], Change] = {}
    for change in told:
        first.setdefault((change.command, change.element.casefold(), change.box), change)
    kept = list(first.values())
    notes = []
    if len(kept) < len(told):
        notes.append(f"{len(told) - len(kept)} of {len(told)} named differences came twice")
    if len(kept) > rubric.most:
        notes.append(f"of {len(kept)} named differences the first {rubric.most} were judged")
    return NamedChanges(changes=tuple(kept[: rubric.most]), notes=tuple(notes))


def _entries(text: str) -> Sequence[object]:
    """The entries of the one list."""
    bare = _FENCE.sub("", text).strip()
    if bare.startswith("[") and bare.endswith("]"):
        text = f'{{"{_LIST}": {bare}}}'
    objects = json_objects(text)
    lists = [(start, end, found) for start, end, data in objects for found in _lists_in(data)]
    if not lists:
        if not objects:
            refuse_broken_json(text)
        raise ReplyError(f"no list of differences was given; write {{'{_LIST}': [...]}}, or []")
    start, _, last = lists[-1]
    others = [end for _, end, one in lists[:-1] if one != last]
    if others and not settles(text[others[-1] : start]):
        raise ReplyError("two different lists were given; give one JSON object only")
    if isinstance(last, Mapping) and "command" in last:
        return [last]
    if not isinstance(last, list):
        raise ReplyError(f"'{_LIST}' must be a list of objects, [] for none, but {came(last)}")
    return last


def _lists_in(data: Mapping[str, Any]) -> list[Any]:
    """The lists of the objects right inside a wrapper, then the object's own."""
    inner = [value for value in data.values() if isinstance(value, Mapping)]
    return [one[_LIST] for one in (*inner, data) if _LIST in one]


def _change(entry: object, number: int, to_box: ToBox) -> Change:
    if not isinstance(entry, Mapping):
        raise ReplyError(f"difference {number} must be an object, but {came(entry)}")
    element = " ".join(clean(entry.get("element")).split())
    if not element:
        raise ReplyError(f"difference {number}: 'element' must name the thing in a few words")
    return Change(
        command=_command(entry.get("command"), number),
        element=element[:_MAX_NAME],
        box=_box(entry, number, to_box),
    )


def _command(value: object, number: int) -> Command:
    word = value.strip(" *_`\"'.:\n").upper() if isinstance(value, str) else ""
    word = _ENDINGS.sub("", word)
    if word not in _COMMANDS:
        offered = f"must be exactly one of {alternatives(_COMMANDS)}"
        raise ReplyError(f"difference {number}: 'command' {offered}, but {came(value)}")
    return word


def _box(entry: Mapping[str, Any], number: int, to_box: ToBox) -> Box:
    given = [entry[key] for key in _BOX_KEYS if entry.get(key) is not None]
    value = given[0] if given else None
    if any(other != value for other in given):
        raise ReplyError(f"difference {number}: two different boxes were given")
    if not isinstance(value, list) or len(value) != 4:
        raise ReplyError(f"difference {number}: 'box' must be four numbers, but {came(value)}")
    try:
        box = to_box(value)
    except ValueError:
        raise ReplyError(
            f"difference {number}: 'box' must be four numbers, the corner at the top left before "
            f"the one at the bottom right, but {came(value)}"
        ) from None
    if box is None:
        raise ReplyError(f"difference {number}: box {value} is no place in the picture")
    return box
