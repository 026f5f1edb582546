"""Annotated boxes of any format -> canonical boxes: pixels of the upright source, inside it."""

from __future__ import annotations

from collections.abc import Sequence

from agent_judge.errors import BoxError
from agent_judge.frame import aspect_misfit
from agent_judge.records import Box, BoxFormat

MAX_FRAME_MISFIT = 0.01
"""A `box_frame` whose aspect differs by more belongs to another picture."""

_UNIT = {"xyxy_norm": 1.0, "xyxy_1000": 1000.0, "yxyx_1000": 1000.0}
"""What a format calls the picture's far edge; the others count pixels."""
_NUMBER_LIMIT, _LEAST_EXTENT = 1e9, 1e-6
_LARGE_SIDE_PX = 16
"""On a larger picture, numbers from 0 to 1 are no pixels."""
_INSIDE_SHARE, _OVERHANG_PX = 0.5, 8
"""At least this share of a box lies inside, or it sticks out by no more than so many pixels:
boxes of another frame stick out by more."""


def box_fault(numbers: object, box_format: BoxFormat) -> str | None:
    """What is wrong with a box that no picture is needed to see; None when nothing is.

    Args:
        numbers: one entry of a manifest's `boxes`.
        box_format: how its numbers are meant.

    Example:
        >>> box_fault([300, 200, 314, 200], "xyxy")
        'expected y2 > y1, got [300, 200, 314, 200]'
        >>> box_fault([300, 200, 314, 210], "xyxy") is None
        True
    """
    if not isinstance(numbers, list | tuple) or len(numbers) != 4:
        return f"expected four numbers, got {numbers!r:.80}"
    if not all(type(n) in (int, float) and -_NUMBER_LIMIT < n < _NUMBER_LIMIT for n in numbers):
        return f"expected four finite numbers, got {numbers!r:.80}"
    unit = _UNIT.get(box_format)
    if unit and not (-unit / 2 <= min(numbers) and max(numbers) <= unit * 1.5):
        return f"expected 0 to {unit:g} for {box_format}, got {numbers!r}"
    if box_format != "xyxy_norm" and _within_one(numbers) and any(n % 1 for n in numbers):
        return f'{numbers!r} looks normalised: set box_format to "xyxy_norm"'
    x1, y1, x2, y2 = _xyxy(numbers, box_format)
    if x2 - x1 < _LEAST_EXTENT:
        expected = "a width above 0" if box_format == "xywh" else "x2 > x1"
        return f"expected {expected}, got {numbers!r}"
    if y2 - y1 < _LEAST_EXTENT:
        expected = "a height above 0" if box_format == "xywh" else "y2 > y1"
        return f"expected {expected}, got {numbers!r}"
    return None


def canonical_boxes(
    boxes: Sequence[Sequence[float]],
    size_wh: tuple[int, int],
    *,
    box_format: BoxFormat = "xyxy",
    box_frame: tuple[int, int] | None = None,
) -> tuple[tuple[Box, ...], tuple[str, ...]]:
    """The boxes in pixels of the upright source, inside it, and in words what was done to them.

    Args:
        boxes: as written in the manifest.
        size_wh: width and height of the upright source.
        box_format: how the four numbers are meant.
        box_frame: width and height of the picture that they were drawn on; None for the source.

    Raises:
        BoxError: a box does not fit, or the frame has another aspect than the source; the message
            states the source's size.

    Example:
        >>> canonical_boxes([[570, 380, 603, 400]], (600, 400))
        ((Box(x1=570.0, y1=380.0, x2=600, y2=400.0),), ('box stuck out by 3 px, clipped',))
    """
    frame_wh = box_frame or size_wh
    notes = []
    if frame_wh != size_wh:
        misfit = aspect_misfit(frame_wh, size_wh)
        if misfit > MAX_FRAME_MISFIT:
            raise BoxError(
                f"box_frame {_by(frame_wh)} does not fit the source's {_by(size_wh)}: "
                f"aspects differ by {misfit:.1%}, at most {MAX_FRAME_MISFIT:.0%} is scaled"
            )
        notes.append(f"boxes scaled from {_by(frame_wh)} to the source's {_by(size_wh)}")
    placed = []
    for number, numbers in enumerate(boxes, start=1):
        name = "box" if len(boxes) == 1 else f"box {number} of {len(boxes)}"
        try:
            box, note = _place(numbers, size_wh, box_format, frame_wh)
        except BoxError as err:
            raise BoxError(f"{name}: {err}") from None
        placed.append(box)
        notes += [f"{name} {note}"] if note else []
    return tuple(placed), tuple(notes)


def _place(
    numbers: Sequence[float],
    size_wh: tuple[int, int],
    box_format: BoxFormat,
    frame_wh: tuple[int, int],
) -> tuple[Box, str | None]:
    """The box inside the source, and a note when it was clipped."""
    fault = box_fault(numbers, box_format)
    is_large = max(frame_wh) > _LARGE_SIDE_PX
    if not fault and box_format != "xyxy_norm" and is_large and _within_one(numbers):
        fault = f'{numbers!r} looks normalised: set box_format to "xyxy_norm"'
    if fault:
        raise BoxError(f"{fault} (the source is {_by(size_wh)})")
    unit = _UNIT.get(box_format)
    x_px, y_px = (size / (unit or frame) for size, frame in zip(size_wh, frame_wh, strict=True))
    x1, y1, x2, y2 = _xyxy(numbers, box_format)
    box = Box(x1 * x_px, y1 * y_px, x2 * x_px, y2 * y_px)
    inside = box.clip(size_wh)
    if inside is None:
        raise BoxError(f"{numbers!r} lies outside the source, which is {_by(size_wh)}")
    overhang_px = max(abs(a - b) for a, b in zip(box.xyxy, inside.xyxy, strict=True))
    if inside.area < _INSIDE_SHARE * box.area and overhang_px > _OVERHANG_PX:
        raise BoxError(
            f"only {inside.area / box.area:.0%} of {numbers!r} lies inside the source, which is "
            f"{_by(size_wh)}: if it was drawn on another size, give box_frame"
        )
    if overhang_px < 0.5:  # rounding, not worth a word
        return inside, None
    return inside, f"stuck out by {overhang_px:.0f} px, clipped"


def _xyxy(numbers: Sequence[float], box_format: BoxFormat) -> tuple[float, float, float, float]:
    a, b, c, d = numbers
    if box_format == "xywh":
        return a, b, a + c, b + d
    return (b, a, d, c) if box_format == "yxyx_1000" else (a, b, c, d)


def _within_one(numbers: Sequence[float]) -> bool:
    return min(numbers) >= 0 and max(numbers) <= 1


def _by(size_wh: tuple[int, int]) -> str:
    return f"{size_wh[0]}x{size_wh[1]}"
