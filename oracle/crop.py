"""Crops for Instruction Following: one window around a target, in every picture (DLEBench 4.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agent_judge.records import Box


def crop_window(
    box: Box, size_wh: tuple[int, int], *, margin_share: float, margin_min_px: float
) -> Box:
    """The window around a target: the box grown on each side, whole pixels, inside the picture.

    The paper does not give its margin; ours is `margin_share` of the box's longer side, at least
    `margin_min_px`.

    Args:
        box: the target, at least partly inside the picture.
        size_wh: the picture's width and height.
        margin_share: growth on each side as a share of the longer side.
        margin_min_px: least growth on each side.

    Raises:
        ValueError: the box lies outside the picture.

    Example:
        >>> crop_window(Box(100, 50, 140, 70), (640, 80), margin_share=0.5, margin_min_px=32).xyxy
        (68, 18, 172, 80)
    """
    margin = max(margin_share * max(box.width, box.height), margin_min_px)
    window = box.grow(margin).outward().clip(size_wh)
    if window is None:
        raise ValueError(f"box {box.xyxy} lies outside a picture of {size_wh}")
    return window


def crop(pixels: NDArray[np.uint8], window: Box) -> NDArray[np.uint8]:
    """The part of a picture inside a window of whole pixels, as a new array.

    Args:
        pixels: uint8 RGB, shape (H, W, 3).
        window: from `crop_window`.
    """
    x1, y1, x2, y2 = (int(v) for v in window.xyxy)
    return pixels[y1:y2, x1:x2].copy()
