"""Small things drawn into a picture: a ball, a star, a cube, a disc, a word.

Each motif is drawn eight times larger and shrunk, so that its edge is as smooth as a photograph's.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from agent_judge.audit.paint import RGB, Colour
from agent_judge.records import Box

SUPERSAMPLE = 8
Canvas = NDArray[np.float32]
"""float RGBA, shape (H, W, 4): colour 0-255, alpha 0-1."""


def draw(image: RGB, motif: Callable[[int, int], Canvas], box: Box) -> RGB:
    """The picture with the motif in `box` (whole pixels of `image`)."""
    x1, y1, x2, y2 = (int(v) for v in box.xyxy)
    large = motif((x2 - x1) * SUPERSAMPLE, (y2 - y1) * SUPERSAMPLE)
    large[..., :3] *= large[..., 3:]
    small = cv2.resize(large, (x2 - x1, y2 - y1), interpolation=cv2.INTER_AREA)
    out = image.copy()
    under = image[y1:y2, x1:x2].astype(np.float32)
    mixed = small[..., :3] + under * (1 - small[..., 3:])
    out[y1:y2, x1:x2] = np.clip(np.rint(mixed), 0, 255).astype(np.uint8)
    return out


def ball(colour: Colour) -> Callable[[int, int], Canvas]:
    """A shaded ball lit from the upper left, as large as its box lets it be round."""

    def paint(width: int, height: int) -> Canvas:
        x, y, radius = _grid(width, height)
        inside = x**2 + y**2 <= 1
        depth = np.sqrt(np.clip(1 - x**2 - y**2, 0, 1))
        light = 0.35 + 0.75 * np.clip(-0.5 * x - 0.6 * y + 0.62 * depth, 0, 1)
        shine = 110 * np.clip(1 - np.hypot(x + 0.35, y + 0.4) / 0.22, 0, 1)
        rgb = np.array(colour, np.float32) * light[..., None] + shine[..., None]
        return _canvas(np.clip(rgb, 0, 255), inside & (radius > 0))

    return paint


def star(colour: Colour) -> Callable[[int, int], Canvas]:
    """A plain five-pointed star."""

    def paint(width: int, height: int) -> Canvas:
        turn = np.arange(10) * np.pi / 5 - np.pi / 2
        reach = np.where(np.arange(10) % 2 == 0, 0.99, 0.42)
        points = np.stack([np.cos(turn) * reach, np.sin(turn) * reach], 1)
        return _polygon(points, colour, width, height)

    return paint


def cube(colour: Colour) -> Callable[[int, int], Canvas]:
    """A cube seen from above one edge: a light top, two darker sides."""

    def paint(width: int, height: int) -> Canvas:
        top = np.array([(-0.9, -0.5), (0, -0.95), (0.9, -0.5), (0, -0.05)])
        left = np.array([(-0.9, -0.5), (0, -0.05), (0, 0.95), (-0.9, 0.5)])
        right = left * (-1, 1)
        out = np.zeros((height, width, 4), np.float32)
        for face, light in ((top, 1.0), (left, 0.75), (right, 0.5)):
            shade = (int(colour[0] * light), int(colour[1] * light), int(colour[2] * light))
            painted = _polygon(face, shade, width, height)
            out = np.where(painted[..., 3:] > 0, painted, out)
        return out

    return paint


def word(text: str, colour: Colour, *, rotate_deg: float = 0.0) -> Callable[[int, int], Canvas]:
    """A word in Pillow's built-in typeface, as large as the box allows, turned clockwise."""

    def paint(width: int, height: int) -> Canvas:
        layer = Image.new("L", (width, height), 0)
        pen = ImageDraw.Draw(layer)
        font = ImageFont.load_default(size=_font_size(text, width, height))
        pen.text((width / 2, height / 2), text, fill=255, font=font, anchor="mm")
        turned = layer.rotate(-rotate_deg, resample=Image.Resampling.BICUBIC)
        alpha = np.asarray(turned, np.float32) / 255
        out = np.empty((height, width, 4), np.float32)
        out[..., :3], out[..., 3] = colour, alpha
        return out

    return paint


def _font_size(text: str, width: int, height: int) -> float:
    left, top, right, bottom = ImageFont.load_default(size=100).getbbox(text)
    return 100 * 0.92 * min(width / (right - left), height / (bottom - top))


def _grid(width: int, height: int) -> tuple[Canvas, Canvas, float]:
    """Coordinates x and y from -1 to 1 over the largest centred square, and half its side."""
    half = min(width, height) / 2
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    return (x + 0.5 - width / 2) / half, (y + 0.5 - height / 2) / half, half


def _polygon(points: NDArray[np.float64], colour: Colour, width: int, height: int) -> Canvas:
    half = min(width, height) / 2
    inside = np.zeros((height, width), np.uint8)
    placed = points * half + (width / 2, height / 2)
    cv2.fillPoly(inside, [np.round(placed).astype(np.int32)], 1)
    return _canvas(np.broadcast_to(np.array(colour, np.float32), (height, width, 3)), inside > 0)


def _canvas(rgb: NDArray[np.float32], inside: NDArray[np.bool_]) -> Canvas:
    return np.dstack([rgb, inside]).astype(np.float32)
