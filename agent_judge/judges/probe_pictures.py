"""The pictures that `doctor` shows a model to learn how it sees."""

from __future__ import annotations

import string

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from agent_judge.records import Box

RGB = NDArray[np.uint8]
HEIGHTS_PX = (72, 52, 38, 28, 22, 17, 13, 10, 8)
"""Heights of the numbers in the picture of details, from the easiest."""
_GROUND, _INK, _RED = (205, 203, 198), (40, 40, 44), (200, 24, 24)
_LETTER_PX = 40


def number_picture(number: int, size_wh: tuple[int, int] = (320, 200)) -> RGB:
    """A picture of one large number."""
    canvas = Image.new("RGB", size_wh, _GROUND)
    _draw(canvas, str(number), size_wh[1] // 3, (size_wh[0] // 6, size_wh[1] // 3))
    return np.asarray(canvas, dtype=np.uint8)


def details_picture(numbers: dict[str, int], size_wh: tuple[int, int]) -> RGB:
    """Numbers of falling height, each beside its large letter.

    Args:
        numbers: letter -> number, in the order of `HEIGHTS_PX`.
        size_wh: of the picture, at least (600, 450).
    """
    canvas = Image.new("RGB", size_wh, _GROUND)
    columns = 3
    rows = -(-len(numbers) // columns)
    for index, ((letter, number), height) in enumerate(
        zip(numbers.items(), HEIGHTS_PX, strict=True)
    ):
        x = size_wh[0] * (index % columns) // columns + 12
        y = size_wh[1] * (index // columns) // rows + 24
        _draw(canvas, letter, _LETTER_PX, (x, y))
        _draw(canvas, str(number), height, (x + 60, y))
    return np.asarray(canvas, dtype=np.uint8)


def red_box_picture(size_wh: tuple[int, int]) -> tuple[RGB, Box]:
    """A red rectangle away from the diagonal, so that no two box conventions agree on it."""
    width, height = size_wh
    box = Box(round(width * 0.60), round(height * 0.14), round(width * 0.81), round(height * 0.29))
    canvas = Image.new("RGB", size_wh, _GROUND)
    ImageDraw.Draw(canvas).rectangle((box.x1, box.y1, box.x2 - 1, box.y2 - 1), fill=_RED)
    return np.asarray(canvas, dtype=np.uint8), box


def draw_numbers(seed: int) -> dict[str, int]:
    """A four-digit number for each letter."""
    rng = np.random.default_rng(seed)
    picked = rng.choice(np.arange(1000, 10_000), size=len(HEIGHTS_PX), replace=False)
    return dict(zip(string.ascii_uppercase, map(int, picked), strict=False))


def _draw(canvas: Image.Image, text: str, height_px: int, at: tuple[int, int]) -> None:
    """Text whose digits are exactly `height_px` high: drawn large, then brought down."""
    font = ImageFont.load_default(size=160)
    left, top, right, bottom = font.getbbox(text)
    large = Image.new("RGB", (round(right - left), round(bottom - top)), _GROUND)
    ImageDraw.Draw(large).text((-left, -top), text, font=font, fill=_INK)
    width = max(1, round(large.width * height_px / large.height))
    canvas.paste(large.resize((width, height_px), Image.Resampling.BOX), at)
