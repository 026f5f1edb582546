"""From the box a judge asked for to a window of whole pixels that a model can look at."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from agent_judge.errors import ToolError
from agent_judge.records import Box, PictureName
from agent_judge.tools.base import RGB, View

MAX_ASPECT = 8.0
"""Longest allowed ratio of a window's sides: vision processors refuse far thinner pictures."""
MIN_CONTEXT_PX = 64
"""Side below which a window takes in surroundings: what is the small thing part of?"""
BOX_SCHEMA: Mapping[str, Any] = {
    "type": "array",
    "items": {"type": "number"},
    "minItems": 4,
    "maxItems": 4,
    "description": "four numbers, written as you were told to write boxes",
}
"""JSON schema of a box argument."""


def named_picture(view: View, args: Mapping[str, Any]) -> tuple[PictureName, RGB]:
    """The picture that `args["picture"]` names, and its pixels.

    Raises:
        ToolError: there is no such picture here; the message lists those that are.
    """
    for name in view.names:
        if name == args.get("picture"):
            return name, view.picture(name)
    raise ToolError(f"picture must be one of {list(view.names)}, got {args.get('picture')!r}")


def asked_box(numbers: object, size_wh: tuple[int, int]) -> tuple[Box, Box]:
    """The box that was asked for, and the part of it inside a picture of `size_wh`.

    Args:
        numbers: Four numbers `x1, y1, x2, y2` in pixels of the picture.
        size_wh: Width and height of the picture.

    Raises:
        ToolError: these are no box, or it lies outside the picture.

    Example:
        >>> [b.xyxy for b in asked_box([90, 10, 120, 20], (100, 50))]
        [(90.0, 10.0, 120.0, 20.0), (90.0, 10.0, 100, 20.0)]
    """
    try:
        x1, y1, x2, y2 = (float(n) for n in numbers)  # type: ignore[attr-defined]
        asked = Box(x1, y1, x2, y2)
    except (TypeError, ValueError) as err:
        raise ToolError(
            f"a box is four numbers x1, y1, x2, y2 with x2 > x1 and y2 > y1, got {numbers!r}"
        ) from err
    inside = asked.clip(size_wh)
    if inside is None:
        raise ToolError(
            f"box {list(asked.xyxy)} lies outside the picture, "
            f"which is {size_wh[0]} px wide and {size_wh[1]} px high"
        )
    return asked, inside


def fit_window(box: Box, size_wh: tuple[int, int], *, margin_px: float | None = None) -> Box:
    """The window of whole pixels to show for a box: with context, inside the picture.

    Sides below `MIN_CONTEXT_PX` and the short side of a box thinner than `MAX_ASPECT` are
    lengthened about their centre, as far as the picture reaches.

    Args:
        box: Pixels of the picture, inside it.
        size_wh: Width and height of the picture.
        margin_px: Added on each side in place of the least context; None for that context.

    Example:
        >>> fit_window(Box(100, 100, 106, 109), (640, 480)).xyxy
        (71, 73, 135, 137)
        >>> fit_window(Box(0, 100, 600, 103), (640, 480), margin_px=0).xyxy
        (0, 64, 600, 139)
    """
    whole = (box.grow(margin_px or 0.0).clip(size_wh) or box).outward()
    least = MIN_CONTEXT_PX if margin_px is None else 1
    least = max(least, math.ceil(max(whole.width, whole.height) / MAX_ASPECT))
    x1, x2 = _lengthen(int(whole.x1), int(whole.x2), least, size_wh[0])
    y1, y2 = _lengthen(int(whole.y1), int(whole.y2), least, size_wh[1])
    return Box(x1, y1, x2, y2)


def mask_notes(view: View, window: Box) -> tuple[str, ...]:
    """What to say of a window that shows a painted mask (DLEBench A.3): it is no edit."""
    if any(window.iou(masked) > 0 for masked in view.masked):
        return ("white rectangles hide the edited objects on purpose",)
    return ()


def cut_out(pixels: RGB, window: Box) -> RGB:
    """The pixels of a window of whole pixels inside the picture (a view, not a copy)."""
    x1, y1, x2, y2 = (int(v) for v in window.xyxy)
    return pixels[y1:y2, x1:x2]


def _lengthen(start: int, stop: int, least: int, limit: int) -> tuple[int, int]:
    """The span lengthened to `least` about its centre and moved to lie in 0..limit."""
    length = max(stop - start, min(least, limit))
    start = min(max(0, start - (length - (stop - start)) // 2), limit - length)
    return start, start + length
