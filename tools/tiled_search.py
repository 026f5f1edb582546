"""A search for small things: the detector looks at a picture whole, then tile by tile.

The detector shrinks every picture to 800 px, where small things vanish (DLEBench 4.2). So a
picture larger than that, or one where nothing was found, is searched again in overlapping tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent_judge.records import Box
from agent_judge.tools.base import RGB
from agent_judge.tools.detector import (
    LONG_SIDE_PX,
    SHORT_SIDE_PX,
    Candidate,
    Detector,
    detector_scale,
)
from agent_judge.tools.tiles import spans
from agent_judge.tools.window import cut_out

MAX_TILES = 16
"""Looks of one tiled search; beyond it the tiles grow and the scale falls."""
CLOSEST_SCALE = 3.0
"""Enlarging a picture further shows the detector nothing new."""
_OVERLAP = 0.2
_SAME_IOU = 0.5
_FRAGMENT_SHARE = 0.8


@dataclass(frozen=True, kw_only=True)
class Look:
    """One run of the detector."""

    window: Box
    """What it was shown, whole pixels of the full picture."""
    scale: float
    """Detector pixels per pixel of the full picture."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """A candidate in the full picture."""

    box: Box
    """Pixels of the full picture."""
    phrase: str
    score: float
    look: Look
    """The run that found it."""
    cut: bool
    """It touches a border of its look inside the searched part: perhaps a fragment."""


@dataclass(frozen=True, kw_only=True)
class Search:
    """What a search found, and how closely it looked."""

    found: tuple[Found, ...]
    """The best first."""
    looks: tuple[Look, ...]


def search(
    pixels: RGB, phrases: Sequence[str], detector: Detector, region: Box | None = None
) -> Search:
    """The candidates for phrases in a picture or in a part of it.

    Args:
        pixels: uint8 RGB, shape (H, W, 3).
        phrases: What to look for.
        detector: A loaded detector.
        region: Whole pixels inside the picture; None for all of it.

    Raises:
        ToolError: the detector cannot read the phrases, or memory ran out.
    """
    height, width = pixels.shape[:2]
    area = region or Box(0, 0, width, height)
    looks: tuple[Look, ...] = (_look(area),)
    found = _run(pixels, phrases, detector, looks, area)
    nothing = all(one.phrase not in phrases for one in found)
    if looks[0].scale < 1 or (nothing and looks[0].scale < CLOSEST_SCALE):
        tiles = tile_looks(area)
        looks += tiles
        found += _run(pixels, phrases, detector, tiles, area)
    return Search(found=merge(found), looks=looks)


def tile_looks(area: Box) -> tuple[Look, ...]:
    """Overlapping tiles that cover an area, as close as at most `MAX_TILES` of them allow.

    A large area is tiled at the scale of its own pixels where that many tiles suffice, a small
    one is enlarged.

    Args:
        area: Whole pixels of the full picture.
    """
    width, height = int(area.width), int(area.height)
    wide = width >= height
    tile = (LONG_SIDE_PX, SHORT_SIDE_PX) if wide else (SHORT_SIDE_PX, LONG_SIDE_PX)
    if width <= tile[0] and height <= tile[1]:
        tile = (-(-width * 3 // 5), -(-height * 3 // 5))
    factor = 1.0
    while True:
        sides = [max(2, round(side * factor)) for side in tile]
        across = spans(width, sides[0], int(sides[0] * _OVERLAP))
        down = spans(height, sides[1], int(sides[1] * _OVERLAP))
        if len(across) * len(down) <= MAX_TILES:
            break
        factor *= 1.1
    return tuple(
        _look(Box(area.x1 + x1, area.y1 + y1, area.x1 + x2, area.y1 + y2))
        for y1, y2 in down
        for x1, x2 in across
    )


def merge(found: Sequence[Found]) -> tuple[Found, ...]:
    """One candidate for each thing that several looks found, the best first.

    Of two boxes of one phrase that nearly coincide the better one stays; a box cut by its tile's
    border goes when a whole one of its phrase covers it.
    """
    kept: list[Found] = []
    for candidate in sorted(found, key=lambda f: (f.cut, -f.score)):
        rivals = [f for f in kept if f.phrase == candidate.phrase]
        if not any(_same_thing(candidate, rival) for rival in rivals):
            kept.append(candidate)
    return tuple(sorted(kept, key=lambda f: -f.score))


def _look(window: Box) -> Look:
    return Look(window=window, scale=detector_scale((int(window.width), int(window.height))))


def _run(
    pixels: RGB, phrases: Sequence[str], detector: Detector, looks: Sequence[Look], area: Box
) -> tuple[Found, ...]:
    replies = detector.find([cut_out(pixels, look.window) for look in looks], phrases)
    return tuple(
        _in_full_picture(candidate, look, area)
        for look, candidates in zip(looks, replies, strict=True)
        for candidate in candidates
    )


def _in_full_picture(candidate: Candidate, look: Look, area: Box) -> Found:
    x, y = look.window.x1, look.window.y1
    box = candidate.box
    moved = Box(box.x1 + x, box.y1 + y, box.x2 + x, box.y2 + y)
    near = 2 / look.scale
    borders = zip(moved.xyxy, look.window.xyxy, area.xyxy, strict=True)
    cut = any(abs(side - edge) <= near and edge != end for side, edge, end in borders)
    return Found(box=moved, phrase=candidate.phrase, score=candidate.score, look=look, cut=cut)


def _same_thing(candidate: Found, rival: Found) -> bool:
    if candidate.box.iou(rival.box) >= _SAME_IOU:
        return True
    if not candidate.cut:
        return False
    iou = candidate.box.iou(rival.box)
    shared = iou / (1 + iou) * (candidate.box.area + rival.box.area)
    return shared >= _FRAGMENT_SHARE * candidate.box.area
