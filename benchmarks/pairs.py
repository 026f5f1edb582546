"""Picture pairs to measure on: photographs with one small planted edit, as an editor renders it."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

from agent_judge.audit.photographs import builtin_photographs
from agent_judge.images import RGB, encode_png, load_image
from agent_judge.records import Box

EDIT = Box(400, 400, 440, 430)
"""Where the edit lies in a picture of 1024x1024 px."""
_SIDE_PX = 1024
_TILE_PX = 512
_PHOTOGRAPHS = ("astronaut", "coffee", "chelsea", "rocket")


def pairs(count: int, size_wh: tuple[int, int] = (_SIDE_PX, _SIDE_PX)) -> Iterator[tuple[RGB, RGB]]:
    """Source and edited picture of each pair; no two pairs are alike.

    Each is a mosaic of four photographs at their own resolution, so that pictures compress and
    differ as photographs do. The edited one went through JPEG once.
    """
    mosaic = _mosaic()
    rng = np.random.default_rng(0)
    for _ in range(count):
        down, across = (int(v) for v in rng.integers(0, _SIDE_PX, 2))
        source = np.roll(mosaic, (down, across), (0, 1))
        if size_wh != (_SIDE_PX, _SIDE_PX):
            source = np.asarray(cv2.resize(source, size_wh, interpolation=cv2.INTER_AREA), np.uint8)
        edited = source.copy()
        x1, y1, x2, y2 = edit_box(size_wh)
        edited[y1:y2, x1:x2] = (200, 30, 60)
        yield source, _rendered_anew(edited)


def edit_box(size_wh: tuple[int, int]) -> tuple[int, int, int, int]:
    """Where the edit lies in a picture of that size."""
    across, down = size_wh[0] / _SIDE_PX, size_wh[1] / _SIDE_PX
    x1, y1, x2, y2 = EDIT.xyxy
    return round(x1 * across), round(y1 * down), round(x2 * across), round(y2 * down)


def write_pairs(
    folder: Path, count: int, size_wh: tuple[int, int] = (_SIDE_PX, _SIDE_PX), *, boxes: bool
) -> Path:
    """Pairs as PNG files with their manifest; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for number, pair in enumerate(pairs(count, size_wh)):
        row = {
            "id": f"row-{number:06d}",
            "instruction": f"make patch {number} red",
            "type": "color",
        }
        for name, pixels in zip(("source", "edited"), pair, strict=True):
            row[name] = f"{number:06d}-{name}.png"
            (folder / row[name]).write_bytes(encode_png(pixels))
        rows.append({**row, "boxes": [edit_box(size_wh)]} if boxes else row)
    manifest = folder / "manifest.jsonl"
    manifest.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return manifest


def _mosaic() -> RGB:
    files = {photograph.id: photograph.path for photograph in builtin_photographs()}
    tiles = [_tile(load_image(files[name])) for name in _PHOTOGRAPHS]
    return np.vstack([np.hstack(tiles[:2]), np.hstack(tiles[2:])])


def _tile(pixels: RGB) -> RGB:
    """A square of the picture at its own resolution, mirrored where it is too small."""
    down, across = (max(0, _TILE_PX - side) for side in pixels.shape[:2])
    return np.pad(pixels, ((0, down), (0, across), (0, 0)), "symmetric")[:_TILE_PX, :_TILE_PX]


def _rendered_anew(pixels: RGB) -> RGB:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=95)
    return np.asarray(Image.open(out).convert("RGB"))
