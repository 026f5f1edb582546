"""From maps of evidence to ranked regions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from agent_judge.tools.evidence import Evidence
from agent_judge.tools.planes import Mask, Plane
from agent_judge.tools.residual import Remainder

_Value = TypeVar("_Value", np.bool_, np.float32)

_LOW = 0.5
"""A region reaches out to this level from a pixel above 1."""
_RIM, _RIM_REACH_PX = 0.45, 4
"""It ends where the distance falls under this share of the largest within so many pixels: the
rest is what smoothing spread."""
_GAP_SHARE = 1 / 160
"""Gaps up to this share of the picture's longer side are closed."""
_FRINGE_DEPTH_PX = 3.0
_FRINGE_MOTION_PX = 1.2
_FRINGE_EXPLAINED = 0.6
"""A fringe is thin, and this much of it is a motion of less than that many pixels."""


@dataclass(frozen=True, kw_only=True)
class Patch:
    """One connected region of evidence, in pixels of the map."""

    box_xyxy: tuple[int, int, int, int]
    """Half-open."""
    area_px: int
    strength: float
    """Root of the sum of evidence times distance: certainty, contrast and area together."""
    fringe: bool
    """A thin line along an edge that moved by a fraction of a pixel, or along the border."""


def find_patches(evidence: Evidence, rest: Remainder, most: int) -> tuple[list[Patch], int, Mask]:
    """Regions of evidence, strongest first and fringes last.

    Args:
        evidence: Maps in which 1 is where evidence begins.
        rest: What the evidence was made of, to tell fringes.
        most: Regions to outline; the rest, by extent, is only counted.

    Returns:
        The regions, how many were only counted, and the pixels of those outlined.
    """
    labels, stats, order = _components(evidence.strength)
    height, width = evidence.distance.shape
    pixels = np.zeros((height, width), bool)
    patches = []
    for index in order[:most]:
        x, y, w, h = (int(v) for v in stats[index, :4])
        inside = labels[y : y + h, x : x + w] == index
        strength = _doubled(evidence.strength[y : y + h, x : x + w])
        x, y, w, h = 2 * x, 2 * y, min(2 * w, width - 2 * x), min(2 * h, height - 2 * y)
        part = np.s_[y : y + h, x : x + w]
        core = _core(evidence.distance[part], _doubled(inside)[:h, :w])
        pixels[part] |= core
        rows, columns = np.nonzero(core)
        patches.append(
            Patch(
                box_xyxy=(
                    x + int(columns.min()),
                    y + int(rows.min()),
                    x + int(columns.max()) + 1,
                    y + int(rows.max()) + 1,
                ),
                area_px=int(core.sum()),
                strength=float(np.sqrt((strength[:h, :w] * evidence.distance[part])[core].sum())),
                fringe=_is_fringe(core, rest, (x, y)),
            )
        )
    patches.sort(key=lambda p: (p.fringe, -p.strength, p.box_xyxy))
    return patches, len(order[most:]), pixels


def _doubled(plane: NDArray[_Value]) -> NDArray[_Value]:
    return plane.repeat(2, axis=0).repeat(2, axis=1)


def _components(
    strength: Plane,
) -> tuple[NDArray[np.int32], NDArray[np.int32], list[int]]:
    """Labels and boxes of the regions that reach 1, and their labels by extent."""
    side = max(3, round(max(strength.shape) * _GAP_SHARE)) | 1
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))
    wide = cv2.morphologyEx((strength > _LOW).astype(np.uint8), cv2.MORPH_CLOSE, disc)
    count, marks, boxes, _ = cv2.connectedComponentsWithStats(wide, connectivity=8)
    labels, stats = np.asarray(marks, np.int32), np.asarray(boxes, np.int32)
    reached = np.zeros(count, bool)
    reached[labels[strength > 1]] = True
    by_extent = np.argsort(-stats[:, cv2.CC_STAT_AREA], kind="stable")
    return labels, stats, [int(i) for i in by_extent if i and reached[i]]


def _core(distance: Plane, inside: Mask) -> Mask:
    """The pixels of a region that carry it: without the rim that smoothing added."""
    reach = np.ones((2 * _RIM_REACH_PX + 1, 2 * _RIM_REACH_PX + 1), np.uint8)
    highest = np.asarray(cv2.dilate(distance, reach), np.float32)
    core: Mask = inside & (distance >= _RIM * highest)
    return core if core.any() else inside


def _is_fringe(core: Mask, rest: Remainder, corner_xy: tuple[int, int]) -> bool:
    depth = cv2.distanceTransform(np.pad(core, 1).astype(np.uint8), cv2.DIST_L2, 3)
    if float(depth.max()) > _FRINGE_DEPTH_PX:
        return False
    x, y = corner_xy
    if _hugs_border(core, (x, y), rest.luma.shape):
        return True
    part = np.s_[y : y + core.shape[0], x : x + core.shape[1]]
    left = rest.luma[part][core].astype(np.float64)
    picture = rest.fixed_luma[part]
    slopes = [cv2.Scharr(picture, cv2.CV_64F, *d, scale=1 / 32) for d in ((1, 0), (0, 1))]
    design = np.column_stack([s[core] for s in slopes])
    motion = np.linalg.lstsq(design, left, rcond=None)[0]
    unexplained = float(((left - design @ motion) ** 2).sum())
    return bool(
        np.hypot(*motion) <= _FRINGE_MOTION_PX
        and unexplained <= (1 - _FRINGE_EXPLAINED) * float((left**2).sum())
    )


def _hugs_border(core: Mask, corner_xy: tuple[int, int], frame_hw: tuple[int, ...]) -> bool:
    """Whether all of a region lies within a fringe's depth of one side of the frame."""
    rows, columns = np.nonzero(core)
    x, y = columns + corner_xy[0], rows + corner_xy[1]
    height, width = frame_hw
    away = (x.max(), y.max(), width - 1 - x.min(), height - 1 - y.min())
    return bool(min(away) < _FRINGE_DEPTH_PX < min(width, height) / 8)
