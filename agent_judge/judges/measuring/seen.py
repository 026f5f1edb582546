"""The difference tool's reply as the embedded judge reads it, its regions as distinct things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agent_judge.records import Box
from agent_judge.tools.base import RGB, View
from agent_judge.tools.difference import DifferenceTool


@dataclass(frozen=True, kw_only=True)
class Region:
    """A place where two pictures differ."""

    box: Box
    """Pixels of the source."""
    area_px: int
    """Pixels of it that changed."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What differs between two pictures."""

    regions: tuple[Region, ...]
    """Most evident first, fringes left out."""
    fringes: int
    """Thin regions along edges, as a half-pixel move leaves them."""
    omitted: int
    changed_fraction: float
    absolute_fraction: float
    moved_share: float
    """Largest motion of a corner as a share of the diagonal, in the frame of the source."""

    @property
    def boxes(self) -> list[Box]:
        """The regions' boxes."""
        return [region.box for region in self.regions]

    @property
    def nothing(self) -> bool:
        """No difference beyond noise."""
        return not self.regions and not self.fringes and not self.omitted


def read_seen(data: Mapping[str, Any], size_wh: tuple[int, int]) -> Seen:
    """The reply of the `difference` tool about pictures of `size_wh`."""
    listed = data["regions"]
    solid = tuple(
        Region(box=Box(*map(float, r["box_px"])), area_px=int(r["area_px"]))
        for r in listed
        if not r["edge_only"]
    )
    return Seen(
        regions=solid,
        fringes=len(listed) - len(solid),
        omitted=int(data["omitted"]),
        changed_fraction=float(data["changed_fraction"]),
        absolute_fraction=float(data["absolute_fraction"]),
        moved_share=_moved_share(data["transform"], size_wh),
    )


def look(source: RGB, other: RGB, white: tuple[Box, ...] = ()) -> Seen:
    """What the `difference` tool would reply about two pictures of one size."""
    view = View(source=source, edited=other, masked=white)
    return read_seen(DifferenceTool()(view, {}).data, view.size_wh)


def _moved_share(transform: Sequence[Sequence[float]], size_wh: tuple[int, int]) -> float:
    width, height = size_wh
    corners = np.array([[0, 0, 1], [width, 0, 1], [0, height, 1], [width, height, 1]], float)
    moved = corners @ np.array(transform, float).T - corners[:, :2]
    return float(np.linalg.norm(moved, axis=1).max() / np.hypot(width, height))


def distinct(boxes: Sequence[Box], *, gap_share: float, gap_px: float) -> list[Box]:
    """Boxes with the fragments of one thing joined, in the order of their first fragment.

    Example:
        >>> parts = [Box(0, 0, 10, 10), Box(12, 0, 20, 10), Box(90, 0, 99, 9)]
        >>> [b.xyxy for b in distinct(parts, gap_share=0.5, gap_px=2)]
        [(0, 0, 20, 10), (90, 0, 99, 9)]
    """
    things: list[Box] = []
    for box in boxes:
        joined, apart = box, things
        while True:
            near = [t for t in apart if gap(t, joined) <= _reach(t, joined, gap_share, gap_px)]
            if not near:
                break
            for thing in near:
                joined = joined.union(thing)
            apart = [t for t in apart if t not in near]
        at = min((things.index(t) for t in things if t not in apart), default=len(apart))
        things = [*apart[:at], joined, *apart[at:]]
    return things


def _reach(a: Box, b: Box, gap_share: float, gap_px: float) -> float:
    return max(gap_px, gap_share * min(max(a.width, a.height), max(b.width, b.height)))


def gap(a: Box, b: Box) -> float:
    """Pixels between two boxes along the axis that parts them more; 0 where they touch."""
    across = max(a.x1, b.x1) - min(a.x2, b.x2)
    down = max(a.y1, b.y1) - min(a.y2, b.y2)
    return max(across, down, 0.0)
