"""The photographs that edits are planted in, with outlines or boxes of the objects on them.

Built in are ten photographs that ship inside the scikit-image wheel, all CC0 or public domain (the
outlines are ours). Other ones come from a JSONL file of the same layout, one photograph a line:
`{"id", "image", "objects": [{"category", "box_xyxy", "segmentation": [[x1, y1, ...], ...]}]}` with
`image` relative to the file; `objects` and `segmentation` may be left out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import skimage

from agent_judge.audit.paint import RGB, Mask, mask_box
from agent_judge.errors import InputError
from agent_judge.images import load_image
from agent_judge.records import Box

MAX_SIDE_PX = 1280
"""Larger photographs are shrunk: an exam of many pictures must stay quick to make and to judge."""
MIN_SIDE_PX = 200
"""Smaller photographs have no room for a target, its margin and anomalies apart from it."""


@dataclass(frozen=True, kw_only=True)
class Outline:
    """An object on a photograph, in pixels of the file."""

    name: str
    box: Box
    polygons: tuple[tuple[float, ...], ...] = ()
    """`x1, y1, x2, y2, ...` of each part; empty when only the box is known."""


@dataclass(frozen=True, kw_only=True)
class Photograph:
    """A photograph file and what is known of the objects on it."""

    id: str
    path: Path
    objects: tuple[Outline, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Thing:
    """An object of a scene."""

    name: str | None
    """A phrase that means this object alone; None when there is no such phrase."""
    box: Box
    mask: Mask | None
    """Its pixels; None when only the box is known."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Scene:
    """A photograph ready for planting, at most MAX_SIDE_PX on its longer side."""

    id: str
    picture: RGB
    things: tuple[Thing, ...]

    @property
    def size_wh(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self.picture.shape[1], self.picture.shape[0]


def builtin_photographs() -> tuple[Photograph, ...]:
    """The photographs inside the scikit-image wheel (CC0 or public domain)."""
    listing = Path(__file__).with_name("photographs.jsonl")
    return read_photographs(listing, folder=Path(skimage.__file__).parent / "data")


def read_photographs(listing: Path, *, folder: Path | None = None) -> tuple[Photograph, ...]:
    """The photographs of a JSONL file.

    Args:
        listing: the file, layout as in the module's docstring.
        folder: where the pictures lie; the listing's own folder when None.

    Raises:
        InputError: the file cannot be read, or a line is not as described; names the line.
    """
    try:
        lines = listing.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as err:
        raise InputError(f"{str(listing)!r} cannot be read: {err}") from err
    photographs = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            photographs.append(_photograph(json.loads(line), folder or listing.parent))
        except (ValueError, TypeError, KeyError, AttributeError) as err:
            expected = "{id, image, objects: [{category, box_xyxy, segmentation?}]}"
            raise InputError(
                f"{listing}:{number}: expected {expected}, got {type(err).__name__}: {err}"
            ) from err
    if not photographs:
        raise InputError(f"{str(listing)!r} lists no photograph")
    return tuple(photographs)


def _photograph(row: Mapping[str, Any], folder: Path) -> Photograph:
    return Photograph(
        id=str(row["id"]),
        path=folder / row["image"],
        objects=tuple(
            Outline(
                name=str(thing["category"]),
                box=Box(*map(float, thing["box_xyxy"])),
                polygons=tuple(tuple(map(float, p)) for p in thing.get("segmentation", ())),
            )
            for thing in row.get("objects", ())
            if not thing.get("iscrowd")
        ),
    )


def load_scene(photograph: Photograph) -> Scene:
    """The photograph's pixels and objects, shrunk where it is large.

    Raises:
        InputError: the photograph is too small to plant in.
        PictureError: the file is no picture.
    """
    picture = load_image(photograph.path)
    height, width = picture.shape[:2]
    if min(height, width) < MIN_SIDE_PX:
        raise InputError(f"photograph {photograph.id!r} is smaller than {MIN_SIDE_PX} px")
    scale = min(1.0, MAX_SIDE_PX / max(height, width))
    if scale < 1:
        size_wh = (round(width * scale), round(height * scale))
        picture = cv2.resize(picture, size_wh, interpolation=cv2.INTER_AREA).astype(np.uint8)
    names = _names(photograph, (width, height))
    things = (_thing(o, n, picture, scale) for o, n in zip(photograph.objects, names, strict=True))
    return Scene(
        id=photograph.id, picture=picture, things=tuple(t for t in things if t is not None)
    )


def _thing(outline: Outline, name: str | None, picture: RGB, scale: float) -> Thing | None:
    size_wh = (picture.shape[1], picture.shape[0])
    box = Box(*(v * scale for v in outline.box.xyxy)).outward().clip(size_wh)
    if box is None:
        return None
    if not outline.polygons:
        return Thing(name=name, box=box, mask=None)
    canvas = np.zeros(picture.shape[:2], np.uint8)
    parts = [np.round(np.reshape(p, (-1, 2)) * scale).astype(np.int32) for p in outline.polygons]
    cv2.fillPoly(canvas, parts, 1)
    mask = canvas > 0
    return Thing(name=name, box=mask_box(mask), mask=mask) if mask.any() else None


def _names(photograph: Photograph, size_wh: tuple[int, int]) -> list[str | None]:
    """A phrase for each object: its category, with its place where there are several."""
    plain = Counter(o.name for o in photograph.objects)
    placed = [f"{o.name} {_place(o.box, size_wh)}" for o in photograph.objects]
    shared = Counter(placed)
    return [
        o.name if plain[o.name] == 1 else where if shared[where] == 1 else None
        for o, where in zip(photograph.objects, placed, strict=True)
    ]


def _place(box: Box, size_wh: tuple[int, int]) -> str:
    column = min(2, int(3 * (box.x1 + box.x2) / 2 / size_wh[0]))
    row = min(2, int(3 * (box.y1 + box.y2) / 2 / size_wh[1]))
    if row == column == 1:
        return "in the centre"
    down, across = ("upper", "middle", "lower")[row], ("left", "middle", "right")[column]
    return f"in the {down} {across}" if row != 1 else f"at the {across}"
