"""A frame around a place in a picture, to be seen on any ground."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from agent_judge.records import Box

BLACK, YELLOW = (0, 0, 0), (255, 255, 0)
_LINES_PER_SIDE = 400
"""A line is this part of the longer side: it stays visible where the picture is shown small."""


def outlined(pixels: NDArray[np.uint8], box: Box) -> NDArray[np.uint8]:
    """A new picture with a yellow line within a black one around a box.

    The lines lie outside the box, a line's width away from it; along the picture's border they lie
    inside the picture.

    Args:
        pixels: uint8 RGB, shape (H, W, 3).
        box: at least partly inside the picture.

    Raises:
        ValueError: the box lies outside the picture.

    Example:
        >>> framed = outlined(np.full((40, 40, 3), 9, np.uint8), Box(10, 10, 20, 20))
        >>> [framed[15, x].tolist() for x in (7, 8, 9)]
        [[0, 0, 0], [255, 255, 0], [9, 9, 9]]
    """
    height, width = pixels.shape[:2]
    line = math.ceil(max(height, width) / _LINES_PER_SIDE)
    outer = box.grow(3 * line).outward().clip((width, height))
    if outer is None or box.clip((width, height)) is None:
        raise ValueError(f"box {box.xyxy} lies outside a picture of {(width, height)}")
    x1, y1, x2, y2 = (int(v) for v in outer.xyxy)
    framed = pixels.copy()
    framed[y1:y2, x1:x2] = BLACK
    framed[y1 + line : y2 - line, x1 + line : x2 - line] = YELLOW
    inside = np.s_[y1 + 2 * line : y2 - 2 * line, x1 + 2 * line : x2 - 2 * line]
    framed[inside] = pixels[inside]
    return framed
