"""What stands out from its surroundings: silhouettes and presence of objects."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from agent_judge.judges.measuring.align import Mask, Planes
from agent_judge.judges.measuring.laid_over import Plane

_SIDE = 32
"""Silhouettes are compared on a grid of this side."""
_FINE_PX = 64
_LEAST = 6.0


@dataclass(frozen=True, kw_only=True)
class Figure:
    """What stands out in a part of a picture."""

    mask: Mask
    """Its pixels, holes filled; empty when nothing stands out."""
    contrast: float
    """Lab distance of the part's strongest pixels from the ground."""
    clear: float
    """`contrast` over what the ground itself varies by: under about 1.2 the outline is a guess."""


def figure(lab: Planes, part: Mask, ring: Mask, *, share: float = 0.2) -> Figure:
    """What stands out from the ground in a part of a picture.

    Args:
        lab: CIE Lab, shape (h, w, 3).
        part: Where to look.
        ring: The ground around it; a plane of colour is fitted to it.
        share: Share of the part that surely belongs to what stands out.
    """
    soft = cv2.GaussianBlur(lab, (0, 0), 0.7)
    ground, scatter = _ground(lab, ring)
    apart = np.linalg.norm(soft - ground, axis=2).astype(np.float32)
    contrast = float(np.quantile(apart[part], 1 - share)) if part.any() else 0.0
    limit = max(0.5 * contrast, 2.0 * scatter, _LEAST)
    mask = _filled(_main_parts((apart > limit) & part))
    return Figure(mask=mask, contrast=contrast, clear=contrast / max(3 * scatter, _LEAST))


def fine_figure(lab: Planes, part: Mask, ring: Mask) -> Figure:
    """`figure` on planes enlarged until the part is large: a small outline needs subpixels."""
    rows, columns = np.nonzero(part)
    side = min(int(np.ptp(rows)), int(np.ptp(columns))) + 1
    times = max(1, math.ceil(_FINE_PX / side))
    size_wh = (lab.shape[1] * times, lab.shape[0] * times)
    large = np.asarray(cv2.resize(lab, size_wh, interpolation=cv2.INTER_CUBIC), np.float32)
    masks = [
        cv2.resize(m.astype(np.uint8), size_wh, interpolation=cv2.INTER_NEAREST) > 0
        for m in (part, ring)
    ]
    return figure(large, masks[0], masks[1])


def same_outline(first: Mask, second: Mask) -> float:
    """How alike two outlines are, whatever their size and place: overlap of 0 to 1.

    Example:
        >>> small, large = np.zeros((40, 40), bool), np.zeros((40, 40), bool)
        >>> small[5:15, 5:15] = large[8:38, 8:38] = True
        >>> same_outline(small, large)
        1.0
    """
    if not first.any() or not second.any():
        return 0.0
    a, b = _on_grid(first), _on_grid(second)
    return float(np.minimum(a, b).sum() / np.maximum(a, b).sum())


def surroundings(part: Mask, ring: Mask) -> Mask:
    """The part of the ring that lies near a target: its ground."""
    rows, columns = np.nonzero(part)
    side = max(int(np.ptp(rows)), int(np.ptp(columns))) + 1
    reach = 2 * int(max(8, 0.3 * side)) + 1
    near = cv2.dilate(part.astype(np.uint8), np.ones((reach, reach), np.uint8)) > 0
    return near & ring


def _ground(lab: Planes, ring: Mask) -> tuple[Planes, float]:
    """A plane of colour through the ring, and how far the ring scatters around it."""
    height, width = ring.shape
    y, x = np.mgrid[0:height, 0:width]
    terms = np.stack([np.ones(x.size), x.ravel() / width - 0.5, y.ravel() / height - 0.5], 1)
    rows, values = terms[ring.ravel()], lab[ring].astype(np.float64)
    if len(rows) < 12:
        return lab, 100.0
    weight = np.ones(len(rows))
    for _ in range(6):
        root = np.sqrt(weight)[:, None]
        solution = np.linalg.lstsq(rows * root, values * root, rcond=None)[0]
        rest = np.linalg.norm(values - rows @ solution, axis=1)
        scatter = max(2.0, 1.4826 * float(np.median(rest)))
        weight = np.clip(1 - (rest / (3 * scatter)) ** 2, 0, None) ** 2 + 1e-6
    return (terms @ solution).reshape(height, width, 3).astype(np.float32), scatter


def _main_parts(mask: Mask) -> Mask:
    """The largest connected part and those at least a fifth as large."""
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    if count < 2:
        return mask
    areas = stats[:, cv2.CC_STAT_AREA]
    kept = [i for i in range(1, count) if areas[i] >= 0.2 * areas[1:].max()]
    return np.isin(labels, kept)


def _filled(mask: Mask) -> Mask:
    outlines, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    canvas = np.zeros(mask.shape, np.uint8)
    cv2.drawContours(canvas, outlines, -1, 1, -1)
    return canvas > 0


def _on_grid(mask: Mask) -> Plane:
    rows, columns = np.nonzero(mask)
    part = mask[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    how = cv2.INTER_AREA if min(part.shape) >= _SIDE else cv2.INTER_LINEAR
    grid = cv2.resize(part.astype(np.float32), (_SIDE, _SIDE), interpolation=how)
    return np.asarray(grid, np.float32)
