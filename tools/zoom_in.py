"""Zoom-In: one window of a picture, enlarged (DLEBench 4.2).

The paper's judge proposes a box, looks, and adjusts it until it has found the object. So a window
is the same for every picture, comes from full resolution, and says where it lies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import cv2
import numpy as np

from agent_judge.errors import ToolError
from agent_judge.records import Box
from agent_judge.tools.base import RGB, ToolPicture, ToolReply, View, whereabouts
from agent_judge.tools.window import (
    BOX_SCHEMA,
    MAX_ASPECT,
    asked_box,
    cut_out,
    fit_window,
    mask_notes,
    named_picture,
)

LONGEST_SIDE_PX = 768
"""Longest side that a small window is enlarged to."""
MAX_SIDE_PX = 1024
"""Longest side of a picture in a reply; larger windows are shrunk to it."""
MAX_SCALE = 8.0
"""Beyond this factor a pixel only becomes a larger square."""
MIN_SIDE_PX = 28
"""Shortest side that vision processors accept (one patch)."""
MAX_ASKED_SIDE_PX = 4096
"""Longest side that a caller's own scale may lead to."""
_PADDING = (127, 127, 127)


@dataclass(frozen=True, kw_only=True)
class Zoomed:
    """A window of a picture as it is shown."""

    pixels: RGB
    """The window, resized."""
    window: Box
    """What is shown, whole pixels of the full picture."""
    scale: float
    """Shown pixels per pixel of the full picture."""
    notes: tuple[str, ...] = ()
    """What differs from what was asked for, in words."""


def zoom(
    pixels: RGB,
    box: tuple[float, float, float, float],
    *,
    margin_px: float | None = None,
    scale: float | None = None,
) -> Zoomed:
    """The window around a box, cut from full resolution and resized to be looked at.

    The window and the shown size depend on the box and the picture's size alone: pictures of one
    size give crops that match pixel for pixel.

    Args:
        pixels: uint8 RGB, shape (H, W, 3).
        box: `x1, y1, x2, y2` in pixels of `pixels`; a part outside is cut off and noted.
        margin_px: Context on each side, 0 or more; None for as little as makes a small box clear.
        scale: Shown pixels per picture pixel; None for a longest side of 512 to 1024 px.

    Raises:
        ToolError: the box is none, lies outside, or `scale` makes the result too large.

    Example:
        >>> shown = zoom(np.zeros((480, 640, 3), np.uint8), (100, 100, 106, 109))
        >>> shown.window.xyxy, shown.scale, shown.pixels.shape
        ((71, 73, 135, 137), 8.0, (512, 512, 3))
    """
    size_wh = (pixels.shape[1], pixels.shape[0])
    asked, inside = asked_box(box, size_wh)
    window = fit_window(inside, size_wh, margin_px=margin_px)
    cut = cut_out(pixels, window)
    padded = _pad_thin(cut)
    scale = _automatic_scale(padded) if scale is None else scale
    scale = max(scale, MIN_SIDE_PX / min(padded.shape[:2]))
    notes = []
    if inside != asked:
        notes.append(f"the box reaches over the picture's border: cut to {list(inside.xyxy)}")
    if window != inside.outward():
        notes.append("the box is shown with its surroundings")
    if padded.shape != cut.shape:
        notes.append("the picture is very thin: grey bars were added")
    return Zoomed(pixels=_resize(padded, scale), window=window, scale=scale, notes=tuple(notes))


def _pad_thin(pixels: RGB) -> RGB:
    height, width = pixels.shape[:2]
    least = int(np.ceil(max(height, width) / MAX_ASPECT))
    down, right = max(0, least - height), max(0, least - width)
    if not down and not right:
        return pixels
    padded = cv2.copyMakeBorder(pixels, 0, down, 0, right, cv2.BORDER_CONSTANT, value=_PADDING)
    return np.asarray(padded, np.uint8)


def _automatic_scale(pixels: RGB) -> float:
    longest = int(max(pixels.shape[:2]))
    if longest > LONGEST_SIDE_PX:
        return min(1.0, MAX_SIDE_PX / longest)
    return min(MAX_SCALE, LONGEST_SIDE_PX / longest)


def _resize(pixels: RGB, scale: float) -> RGB:
    height, width = (max(1, round(side * scale)) for side in pixels.shape[:2])
    if max(height, width) > MAX_ASKED_SIDE_PX:
        raise ToolError(
            f"scale {scale:g} gives {width}x{height} px, more than {MAX_ASKED_SIDE_PX} px: "
            f"pass a smaller scale or box"
        )
    if (height, width) == pixels.shape[:2]:
        return pixels.copy()
    way = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(pixels, (width, height), interpolation=way), np.uint8)


@dataclass(frozen=True)
class ZoomInTool:
    """`zoom_in`: the judge's magnifying glass."""

    name: ClassVar[str] = "zoom_in"
    description: ClassVar[str] = (
        "Enlarge one part of a picture, taken from its full resolution. Ask for the same box in "
        "two pictures to compare them: window and size will be the same. To find a small thing, "
        "guess a box, look, then move, widen or narrow the box until the thing is in the middle. "
        "The reply names the window that is really shown (box_px: x1, y1, x2, y2 in pixels of "
        "the full-size picture), where it lies, and its scale. Small boxes come with some "
        "surroundings. The enlargement is smooth interpolation: it adds no detail."
    )

    def parameters(self, view: View) -> dict[str, Any]:
        """JSON schema of the arguments."""
        return {
            "type": "object",
            "properties": {
                "picture": {"type": "string", "enum": list(view.names)},
                "box": dict(BOX_SCHEMA),
            },
            "required": ["picture", "box"],
            "additionalProperties": False,
        }

    def __call__(self, view: View, args: Mapping[str, Any]) -> ToolReply:
        """The window around `args["box"]` of `args["picture"]`.

        Raises:
            ToolError: there is no such picture, or the box does not lie in it.
        """
        name, pixels = named_picture(view, args)
        shown = zoom(pixels, args["box"])
        notes = [*shown.notes, *mask_notes(view, shown.window)]
        width, height = view.size_wh
        box_px = [int(v) for v in shown.window.xyxy]
        box_wh = f"{shown.window.width:.0f}x{shown.window.height:.0f}"
        where = whereabouts(shown.window, view.size_wh)
        label = f"{name}, pixels {box_px} of {width}x{height}, shown x{shown.scale:.3g}"
        data = {
            "picture": name,
            "picture_size": [width, height],
            "asked_box_px": [float(v) for v in args["box"]],
            "box_px": box_px,
            "where": where,
            "scale": round(shown.scale, 4),
            "notes": notes,
            "summary": f"{name}: {box_wh} px, centre {where}, shown x{shown.scale:.3g}",
        }
        native = cut_out(pixels, shown.window)
        picture = ToolPicture(label=label, pixels=shown.pixels, native=native)
        return ToolReply(data=data, pictures=(picture,))
