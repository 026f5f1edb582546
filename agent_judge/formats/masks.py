"""Masks -> boxes, as shares of the mask's width and height.

Shares, because masks come at another size, and often at another aspect, than the picture they
belong to: GIE-Bench squeezes all of them to 224x224.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from agent_judge.images import load_image
from agent_judge.records import Box

Mask = NDArray[np.bool_]
"""True where the target is, shape (H, W)."""

_LEAST_SHARE = 0.02
"""Parts smaller than this share of the largest are specks of the segmentation."""
_GAP_SHARE = 0.02
"""Parts closer than this share of the mask's longer side are one target."""
_TWO_TONE_LEVELS, _TWO_TONE_SHARE = 16, 0.98
"""So much of a black and white mask is as close as this to black or white."""
_FULL = 255


def boxes_of_mask(mask: Mask) -> list[list[float]]:
    """A box around each part of a mask, the largest part first.

    Specks are left out, and parts that nearly touch share a box. A mask of nothing has no boxes.

    Args:
        mask: shape (H, W).

    Returns:
        `[x1, y1, x2, y2]` each, 0 to 1, half-open: `xyxy_norm`.

    Example:
        >>> boxes_of_mask(np.array([[0, 0, 0, 0], [0, 1, 1, 0]], bool))
        [[0.25, 0.5, 0.75, 1.0]]
    """
    height, width = mask.shape
    n, _, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    parts = sorted(stats[1:n].tolist(), key=lambda part: -part[cv2.CC_STAT_AREA])
    least = _LEAST_SHARE * parts[0][cv2.CC_STAT_AREA] if parts else 0
    boxes = [Box(x, y, x + w, y + h) for x, y, w, h, area in parts if area >= least]
    joined = _joined(boxes, _GAP_SHARE * max(width, height) / 2)
    return [[b.x1 / width, b.y1 / height, b.x2 / width, b.y2 / height] for b in joined]


def mask_of_values(values: Sequence[object]) -> Mask:
    """A mask from nested lists of numbers: 0 and 1, or 0 to 255.

    Raises:
        ValueError: it is no grid of numbers.
    """
    try:
        grid = np.asarray(values, np.float64)
    except (TypeError, ValueError) as err:
        raise ValueError("the mask is no grid of numbers") from err
    if grid.ndim == 3:
        grid = grid[:, :, 0]
    if grid.ndim != 2 or not grid.size or not np.isfinite(grid).all():
        raise ValueError(f"the mask is no grid of numbers: its shape is {grid.shape}")
    return np.asarray(grid > grid.max() / 2)


def mask_of_file(path: Path) -> Mask:
    """A mask from a picture.

    What is transparent is the target, where anything is. Otherwise it is what is white in a black
    and white picture (or the only value above 0 in a dark one), and what is pure white in any
    other: some benchmarks paint the target white on the picture itself.

    Raises:
        PictureError: the file is no picture.
        ValueError: nothing in it is marked.
    """
    pixels = load_image(path)
    mask = _transparent(path)
    if mask is None:
        grey = pixels.min(axis=2)
        two_tone = (grey <= _TWO_TONE_LEVELS) | (grey >= _FULL - _TWO_TONE_LEVELS)
        if grey.max() <= _TWO_TONE_LEVELS:
            mask = grey > 0
        elif two_tone.mean() >= _TWO_TONE_SHARE:
            mask = grey > _FULL // 2
        else:
            mask = grey == _FULL
    if not mask.any():
        raise ValueError(f"nothing is marked in the mask {path.name!r}")
    return np.asarray(mask)


def _transparent(path: Path) -> Mask | None:
    """Where a sound picture is transparent; None where it has no such place."""
    with Image.open(path) as image:
        if not image.has_transparency_data:
            return None
        alpha = np.asarray(ImageOps.exif_transpose(image).convert("RGBA").getchannel("A"))
    mask = alpha < _FULL // 2 + 1
    return mask if mask.any() else None


def _joined(boxes: list[Box], margin_px: float) -> list[Box]:
    """Boxes that overlap when grown by the margin, as one; the order of the first is kept."""
    joined: list[Box] = []
    for box in boxes:
        while near := next(
            (b for b in joined if b.grow(margin_px).iou(box.grow(margin_px)) > 0), None
        ):
            joined.remove(near)
            box = near.union(box)
        joined.append(box)
    return joined
