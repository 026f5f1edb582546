"""Pictures drawn from a seed, with known boxes: what the tests look at."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from agent_judge.images import RGB
from agent_judge.records import Box

COLOURS = ("red", "gold", "blue", "magenta", "darkgreen")


@dataclass(frozen=True)
class Scene:
    pixels: RGB
    boxes: tuple[Box, ...]
    """Of the drawn objects, half-open pixels."""


def backdrop(size_wh: tuple[int, int] = (320, 240), seed: int = 0) -> RGB:
    """Soft coloured clouds with a fine grain: no line of it is uniform."""
    width, height = size_wh
    rng = np.random.default_rng(seed)
    coarse = Image.fromarray(rng.integers(60, 200, (5, 6, 3), dtype=np.uint8))
    clouds = np.asarray(coarse.resize(size_wh, Image.Resampling.BICUBIC), np.float64)
    return (clouds + rng.normal(0, 6, (height, width, 1))).clip(0, 255).astype(np.uint8)


def scene(
    size_wh: tuple[int, int] = (320, 240),
    seed: int = 0,
    *,
    objects: int = 2,
    side_px: int = 24,
    flat: tuple[int, int, int] | None = None,
) -> Scene:
    """Discs and squares that do not touch, on a backdrop or on one flat colour."""
    width, height = size_wh
    pixels = (
        backdrop(size_wh, seed) if flat is None else np.full((height, width, 3), flat, np.uint8)
    )
    image = Image.fromarray(pixels)
    draw = ImageDraw.Draw(image)
    rng = np.random.default_rng(seed)
    cells = [
        (x, y)
        for y in range(side_px, height - 2 * side_px + 1, 2 * side_px)
        for x in range(side_px, width - 2 * side_px + 1, 2 * side_px)
    ]
    boxes = []
    for n, cell in enumerate(rng.permutation(len(cells))[:objects]):
        x, y = cells[cell]
        shape = draw.ellipse if n % 2 == 0 else draw.rectangle
        shape((x, y, x + side_px - 1, y + side_px - 1), fill=COLOURS[n % len(COLOURS)])
        boxes.append(Box(x, y, x + side_px, y + side_px))
    return Scene(np.asarray(image).copy(), tuple(boxes))


def encoded(pixels: RGB | Image.Image, fmt: str = "PNG", **options: Any) -> bytes:
    """The picture as the bytes of a file."""
    out = io.BytesIO()
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    image.save(out, fmt, **options)
    return out.getvalue()


def resized(pixels: RGB, size_wh: tuple[int, int]) -> RGB:
    """The picture at another size, with anti-aliasing."""
    return np.asarray(Image.fromarray(pixels).resize(size_wh, Image.Resampling.LANCZOS))


def letterboxed(
    pixels: RGB, size_wh: tuple[int, int], colour: tuple[int, int, int] = (0, 0, 0)
) -> tuple[RGB, Box]:
    """The picture centred in bars, and where it lies."""
    scale = min(size_wh[0] / pixels.shape[1], size_wh[1] / pixels.shape[0])
    inner_wh = (round(pixels.shape[1] * scale), round(pixels.shape[0] * scale))
    x, y = (size_wh[0] - inner_wh[0]) // 2, (size_wh[1] - inner_wh[1]) // 2
    canvas = np.full((size_wh[1], size_wh[0], 3), colour, np.uint8)
    canvas[y : y + inner_wh[1], x : x + inner_wh[0]] = resized(pixels, inner_wh)
    return canvas, Box(x, y, x + inner_wh[0], y + inner_wh[1])
