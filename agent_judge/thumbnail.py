"""One small picture a row: how source and edited look, whole and around the target.

Made while a run has the pixels in hand; a report of ten thousand rows could not decode them again.
"""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from agent_judge.records import Box

TILE_PX = 144
"""Side of each square tile."""
N_TILES = 4
"""Tiles from left to right: source, edited, the target in the source, the target in the edited."""
_MIN_WINDOW_PX = 48
_TARGET_SHARE = 0.5
_FRAME_RGB = ((0, 0, 0), (255, 64, 160))
_QUALITY = 72


def make_thumbnail(
    source: NDArray[np.uint8], edited: NDArray[np.uint8] | None, target: Box | None
) -> bytes:
    """The row's tiles side by side as one WebP picture.

    Args:
        source: uint8 RGB, shape (H, W, 3).
        edited: the same shape, or None when there is nothing to show: its tiles stay empty.
        target: around all targets, pixels of the source; None leaves the last two tiles empty.

    Returns:
        WebP, `N_TILES * TILE_PX` wide and `TILE_PX` high, transparent where tiles are empty.
    """
    strip = Image.new("RGBA", (N_TILES * TILE_PX, TILE_PX))
    for column, pixels in enumerate((source, edited)):
        if pixels is None:
            continue
        picture = Image.fromarray(pixels)
        _paste(strip, picture, column, frame=target)
        if target is not None:
            window = _around(target, picture.size)
            _paste(strip, picture.crop(window), column + 2)
    out = io.BytesIO()
    strip.save(out, "WEBP", quality=_QUALITY, method=2)
    return out.getvalue()


def _around(target: Box, size_wh: tuple[int, int]) -> tuple[int, int, int, int]:
    """A square window in which the target fills about half, moved into the picture."""
    longer = max(target.width, target.height)
    side = round(max(longer / _TARGET_SHARE, _MIN_WINDOW_PX))
    corners = []
    for low, high, limit in (
        (target.x1, target.x2, size_wh[0]),
        (target.y1, target.y2, size_wh[1]),
    ):
        length = min(side, limit)
        start = min(max(round((low + high - length) / 2), 0), limit - length)
        corners.append((start, start + length))
    (x1, x2), (y1, y2) = corners
    return x1, y1, x2, y2


def _paste(
    strip: Image.Image, picture: Image.Image, column: int, *, frame: Box | None = None
) -> None:
    scale = TILE_PX / max(picture.size)
    size_wh = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
    small = picture.resize(size_wh, Image.Resampling.BICUBIC, reducing_gap=2.0)
    if frame is not None:
        _draw_frame(small, Box(*(v * scale for v in frame.xyxy)))
    left = column * TILE_PX + (TILE_PX - small.width) // 2
    strip.paste(small, (left, (TILE_PX - small.height) // 2))


def _draw_frame(small: Image.Image, box: Box) -> None:
    """A frame around the target, wide enough to be found however small the target is."""
    draw = ImageDraw.Draw(small)
    for margin, colour in zip((4, 3), _FRAME_RGB, strict=True):
        around = box.grow(margin).outward()
        draw.rectangle(around.xyxy, outline=colour)
