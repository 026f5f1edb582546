"""Small things drawn into a picture: balls, cubes, stars, signs, words, and patterns to cover with.

Each motif is drawn eight times larger and shrunk, so that its edge is as smooth as a photograph's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from agent_judge.audit.paint import RGB, Colour, Floats, Mask
from agent_judge.records import Box

SUPERSAMPLE = 8
MAX_DRAWN_PX = 1600
"""Larger motifs are drawn at this side: their edges are smooth without more."""
Motif = Callable[[int, int], Floats]
"""Width and height in pixels to float RGBA, shape (H, W, 4): colour 0-255, alpha 0 or 1."""


def draw(image: RGB, motif: Motif, box: Box) -> RGB:
    """The picture with the motif in `box` (whole pixels of `image`)."""
    x1, y1, x2, y2 = (int(v) for v in box.xyxy)
    small = _shrunk(motif, (x2 - x1, y2 - y1))
    out = image.copy()
    under = image[y1:y2, x1:x2].astype(np.float32)
    mixed = small[..., :3] + under * (1 - small[..., 3:])
    out[y1:y2, x1:x2] = np.clip(np.rint(mixed), 0, 255).astype(np.uint8)
    return out


def motif_mask(motif: Motif, box: Box, size_wh: tuple[int, int]) -> Mask:
    """The pixels of a picture of `size_wh` that the motif in `box` touches."""
    x1, y1, x2, y2 = (int(v) for v in box.xyxy)
    mask = np.zeros((size_wh[1], size_wh[0]), bool)
    mask[y1:y2, x1:x2] = _shrunk(motif, (x2 - x1, y2 - y1))[..., 3] > 0
    return mask


def _shrunk(motif: Motif, size_wh: tuple[int, int]) -> Floats:
    width, height = size_wh
    times = max(1, min(SUPERSAMPLE, MAX_DRAWN_PX // max(size_wh)))
    large = motif(width * times, height * times)
    large[..., :3] *= large[..., 3:]
    return cv2.resize(large, size_wh, interpolation=cv2.INTER_AREA).astype(np.float32)


def ball(colour: Colour) -> Motif:
    """A shaded ball lit from the upper left, as large as its box lets it be round."""

    def paint(width: int, height: int) -> Floats:
        x, y = _grid(width, height)
        depth = np.sqrt(np.clip(1 - x**2 - y**2, 0, 1))
        light = 0.35 + 0.75 * np.clip(-0.5 * x - 0.6 * y + 0.62 * depth, 0, 1)
        shine = 110 * np.clip(1 - np.hypot(x + 0.35, y + 0.4) / 0.22, 0, 1)
        rgb = np.array(colour, np.float32) * light[..., None] + shine[..., None]
        return _canvas(np.clip(rgb, 0, 255), x**2 + y**2 <= 1)

    return paint


def cube(colour: Colour) -> Motif:
    """A cube seen from above one edge: a light top, two darker sides."""

    def paint(width: int, height: int) -> Floats:
        top = np.array([(-0.9, -0.5), (0, -0.98), (0.9, -0.5), (0, -0.02)])
        left = np.array([(-0.9, -0.5), (0, -0.02), (0, 0.98), (-0.9, 0.5)])
        out = np.zeros((height, width, 4), np.float32)
        for face, light in ((top, 1.0), (left, 0.75), (left * (-1, 1), 0.5)):
            inside = _polygon(face, width, height)
            out[inside] = [*(light * v for v in colour), 1]
        return out

    return paint


def sign(corners: int, colour: Colour) -> Motif:
    """A flat sign with a dark rim: a round disc (0 corners), a triangle (3) or a square (4)."""

    def outline(reach: float) -> NDArray[np.float64]:
        if not corners:
            turn = np.linspace(0, 2 * np.pi, 90, endpoint=False)
            return np.stack([np.cos(turn), np.sin(turn)], 1) * reach
        if corners == 3:
            points, middle = np.array([(0, -0.98), (0.98, 0.9), (-0.98, 0.9)]), np.array((0, 0.3))
            return np.asarray((points - middle) * reach + middle)
        return np.array([(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]) * reach

    return _rimmed(outline, colour)


def star(colour: Colour) -> Motif:
    """A flat five-pointed star with a dark rim."""

    def outline(reach: float) -> NDArray[np.float64]:
        turn = np.arange(10) * np.pi / 5 - np.pi / 2
        radius = np.where(np.arange(10) % 2 == 0, 0.99, 0.45) * reach
        return np.stack([np.cos(turn) * radius, np.sin(turn) * radius], 1)

    return _rimmed(outline, colour)


def plate(text: str, ink: Colour, ground: Colour, *, fullness: float) -> Motif:
    """A word on a plate with a dark rim; `fullness` is the share of the plate that it spans."""

    def paint(width: int, height: int) -> Floats:
        rim = max(1, round(0.06 * height))
        out = np.ones((height, width, 4), np.float32)
        out[..., :3] = 40
        out[rim:-rim, rim:-rim, :3] = ground
        room_wh = (width - 4 * rim, height - 4 * rim)
        letters = word(text, ink, fullness=fullness)(*room_wh)
        under = out[2 * rim : -2 * rim, 2 * rim : -2 * rim, :3]
        under[:] = under * (1 - letters[..., 3:]) + letters[..., :3] * letters[..., 3:]
        return out

    return paint


def word(text: str, ink: Colour, *, fullness: float = 0.92, rotate_deg: float = 0.0) -> Motif:
    """A word in Pillow's built-in typeface, as large as the box allows, turned clockwise."""

    def paint(width: int, height: int) -> Floats:
        layer = Image.new("L", (width, height), 0)
        left, top, right, bottom = ImageFont.load_default(size=100).getbbox(text)
        size = 100 * fullness * min(width / (right - left), height / (bottom - top))
        at = (width / 2 - (left + right) / 200 * size, height / 2 - (top + bottom) / 200 * size)
        ImageDraw.Draw(layer).text(at, text, fill=255, font=ImageFont.load_default(size=size))
        turned = layer.rotate(-rotate_deg, resample=Image.Resampling.BICUBIC)
        rgb = np.broadcast_to(np.array(ink, np.float32), (height, width, 3))
        return np.dstack([rgb, np.asarray(turned, np.float32) / 255])

    return paint


def checks(size_wh: tuple[int, int], cell_px: float, one: Colour, two: Colour) -> RGB:
    """A picture full of chequers."""
    x, y = _cells(size_wh, cell_px)
    return _two_tone((np.floor(x) + np.floor(y)) % 2 == 0, one, two)


def stripes(size_wh: tuple[int, int], cell_px: float, one: Colour, two: Colour) -> RGB:
    """A picture full of diagonal stripes."""
    x, y = _cells(size_wh, cell_px)
    return _two_tone((x + y) / 2 % 1.4 < 0.7, one, two)


def dots(size_wh: tuple[int, int], cell_px: float, one: Colour, two: Colour) -> RGB:
    """A picture full of dots: `one` on `two`."""
    x, y = _cells(size_wh, cell_px * 2)
    return _two_tone(np.hypot(x % 1 - 0.5, y % 1 - 0.5) < 0.3, one, two)


Pattern = Callable[[tuple[int, int], float, Colour, Colour], RGB]
PATTERNS: Mapping[str, Pattern] = {"checkered": checks, "striped": stripes, "dotted": dots}
"""What a pattern is called, and how it is drawn."""


def _cells(size_wh: tuple[int, int], cell_px: float) -> tuple[Floats, Floats]:
    y, x = np.mgrid[0 : size_wh[1], 0 : size_wh[0]].astype(np.float32)
    return x / cell_px, y / cell_px


def _two_tone(which: Mask, one: Colour, two: Colour) -> RGB:
    return np.where(which[..., None], np.array(one, np.uint8), np.array(two, np.uint8))


def _rimmed(outline: Callable[[float], NDArray[np.float64]], colour: Colour) -> Motif:
    def paint(width: int, height: int) -> Floats:
        out = np.zeros((height, width, 4), np.float32)
        out[_polygon(outline(1), width, height)] = [*(0.35 * v for v in colour), 1]
        out[_polygon(outline(0.84), width, height)] = [*colour, 1]
        return out

    return paint


def _grid(width: int, height: int) -> tuple[Floats, Floats]:
    """Two arrays, x and y: -1 to 1 over the largest centred square."""
    half = min(width, height) / 2
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    return (x + 0.5 - width / 2) / half, (y + 0.5 - height / 2) / half


def _polygon(points: NDArray[np.float64], width: int, height: int) -> Mask:
    """The pixels inside a polygon whose corners lie in -1 to 1 of the largest centred square."""
    placed = points * (min(width, height) / 2) + (width / 2, height / 2)
    inside = np.zeros((height, width), np.uint8)
    cv2.fillPoly(inside, [np.round(placed).astype(np.int32)], 1)
    return inside > 0


def _canvas(rgb: Floats, inside: Mask) -> Floats:
    return np.dstack([rgb, inside]).astype(np.float32)
