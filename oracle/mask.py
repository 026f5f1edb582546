"""Masks for Visual Consistency: every target painted white in every picture (DLEBench 4.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agent_judge.records import Box

WHITE = 255


def mask_box(
    box: Box, size_wh: tuple[int, int], *, margin_px: float, margin_share: float
) -> tuple[Box, float]:
    """The rectangle that hides a target, whole pixels, and the margin used.

    Args:
        box: the target, at least partly inside the picture.
        size_wh: the picture's width and height.
        margin_px: fixed growth on each side.
        margin_share: further growth, as a share of the box's longer side.

    Raises:
        ValueError: the box lies outside the picture.

    Example:
        >>> mask_box(Box(100, 50, 150, 60), (640, 480), margin_px=4, margin_share=0.02)
        (Box(x1=95, y1=45, x2=155, y2=65), 5.0)
    """
    margin = margin_px + margin_share * max(box.width, box.height)
    painted = box.grow(margin).outward().clip(size_wh)
    if painted is None:
        raise ValueError(f"box {box.xyxy} lies outside a picture of {size_wh}")
    return painted, margin


def paint_white(pixels: NDArray[np.uint8], boxes: Sequence[Box]) -> NDArray[np.uint8]:
    """A new picture with rectangles of whole pixels painted white.

    Args:
        pixels: uint8 RGB, shape (H, W, 3).
        boxes: from `mask_box`.
    """
    painted = pixels.copy()
    for box in boxes:
        x1, y1, x2, y2 = (int(v) for v in box.xyxy)
        painted[y1:y2, x1:x2] = WHITE
    return painted
