"""A row of plain values -> Sample: what each column must hold, and what came instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from agent_judge.oracle.boxes import box_fault
from agent_judge.records import BoxFormat, EditType, Sample
from agent_judge.roots import Roots
from agent_judge.rubrics.protocol import DEFAULT_CRITERIA, all_criteria, rubric_of

REQUIRED = ("id", "source", "edited", "instruction")

_PATHS = frozenset({"source", "edited", "reference"})
_TYPES = get_args(EditType)
_BOX_FORMATS = get_args(BoxFormat)
_MAX_SIDE_PX = 10**9


def sample_of(
    values: Mapping[str, Any], roots: Roots
) -> tuple[Sample | None, tuple[tuple[str, str], ...]]:
    """The sample of a row, or every fault of it as (column, what came and what was expected).

    Args:
        values: the row by column; null and absent are the same but for required columns.
        roots: where paths start and may lead.
    """
    known, metadata, faults = _read(values, roots.path)
    return (None, faults) if faults else (Sample(**known, metadata=metadata), ())


def faults_of(values: Mapping[str, Any], roots: Roots) -> tuple[tuple[str, str], ...]:
    """The faults of a row as `sample_of` tells them; quicker where the sample is not needed."""
    return _read(values, roots.check)[2]


def _read(
    values: Mapping[str, Any], located: Callable[[str], Any]
) -> tuple[dict[str, Any], dict[str, Any], tuple[tuple[str, str], ...]]:
    """The columns that mean something, the others, and the faults of both."""
    known: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    faults = []
    for name, value in values.items():
        try:
            if name in _PATHS and value is not None:
                known[name] = located(_text(value))
            elif name not in _COLUMNS and name not in _PATHS:
                metadata[name] = value
            elif value is not None:
                known[name] = _COLUMNS[name](value)
        except ValueError as err:
            faults.append((name, str(err)))
    faults += [(name, "required") for name in REQUIRED if values.get(name) is None]
    if "boxes" in known and all(name != "box_format" for name, _ in faults):
        faults += _box_faults(known["boxes"], known.get("box_format", "xyxy"))
    return known, metadata, tuple(faults)


def _box_faults(boxes: tuple[object, ...], box_format: BoxFormat) -> list[tuple[str, str]]:
    found = [(number, box_fault(box, box_format)) for number, box in enumerate(boxes, start=1)]
    return [("boxes", f"box {number}: {fault}") for number, fault in found if fault is not None]


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected text, got {_shown(value)}")
    if not value.strip():
        raise ValueError("expected text, got an empty one")
    return value


def _id(value: object) -> str:
    text = _text(value)
    if not text.isprintable():  # ids are printed in tables and terminals
        raise ValueError(f"expected printable text, got {text!r:.80}")
    return text


def _one_of(words: tuple[str, ...]) -> Callable[[object], str]:
    def check(value: object) -> str:
        if value not in words:
            raise ValueError(f"expected one of {', '.join(words)}, got {_shown(value)}")
        return str(value)

    return check


def _boxes(value: object) -> tuple[Any, ...]:
    if value == []:
        raise ValueError("expected boxes, got an empty list: leave the key out, or give null")
    if not isinstance(value, list) or not all(isinstance(box, list) for box in value):
        raise ValueError(f"expected a list of boxes [[x1, y1, x2, y2], ...], got {_shown(value)}")
    return tuple(map(tuple, value))


def _frame(value: object) -> tuple[int, int]:
    if isinstance(value, list) and len(value) == 2:
        width, height = value
        if all(type(side) is int and 0 < side < _MAX_SIDE_PX for side in value):
            return width, height
    raise ValueError(f"expected [width, height] in whole pixels, got {_shown(value)}")


def _phrases(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError(f"expected a list of phrases, got {_shown(value)}")
    return tuple(_text(phrase) for phrase in value)


def _labels(value: object) -> tuple[Mapping[str, Any], ...]:
    if not isinstance(value, list):
        raise ValueError(f'expected a list of {{"by", "IF", "VC"}}, got {_shown(value)}')
    for number, label in enumerate(value, start=1):
        if not isinstance(label, dict):
            raise ValueError(f"label {number}: expected an object, got {_shown(label)}")
        if not isinstance(label.get("by"), str):
            raise ValueError(
                f'label {number}: expected "by" as text, got {_shown(label.get("by"))}'
            )
        levels = {name: label[name] for name in DEFAULT_CRITERIA if label.get(name) is not None}
        if not levels and not any(label.get(name) is not None for name in all_criteria()):
            raise ValueError(
                f"label {number}: expected a level for {' or '.join(DEFAULT_CRITERIA)}"
            )
        for name, level in levels.items():
            scale = rubric_of(name).scale
            if type(level) is not int or level not in scale:
                expected = f"{name} from {scale.worst:g} to {scale.best:g}"
                raise ValueError(f"label {number}: expected {expected}, got {_shown(level)}")
    return tuple(value)


def _shown(value: object) -> str:
    return f"{value!r:.80}" if value is not None else "nothing"


_COLUMNS: Mapping[str, Callable[[object], Any]] = {
    "id": _id,
    "item": _text,
    "instruction": _text,
    "type": _one_of(_TYPES),
    "boxes": _boxes,
    "box_format": _one_of(_BOX_FORMATS),
    "box_frame": _frame,
    "targets": _phrases,
    "editor": _text,
    "source_caption": _text,
    "edited_caption": _text,
    "labels": _labels,
}

COLUMNS = frozenset((*_PATHS, *_COLUMNS))
"""Every column that means something; the others are kept as metadata."""
