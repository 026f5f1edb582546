"""From a map of evidence to ranked regions."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

Plane = NDArray[np.float32]
Mask = NDArray[np.bool_]

_THIN_PX = 1.6
"""A region whose pixels lie at most this far from its rim is a fringe."""
_RIM = 0.45
"""A region ends where the evidence falls under this share of its own high value."""


@dataclass(frozen=True, kw_only=True)
class Patch:
    """One connected region of evidence, in the pixels of the map."""

    box_xyxy: tuple[int, int, int, int]
    """Half-open."""
    area_px: int
    mass: float
    """Evidence summed over the region."""
    peak: float
    """A high quantile of the evidence inside."""
    thin: bool


def find_patches(
    evidence: Plane, fine: Plane, low: float, high: float, most: int
) -> tuple[list[Patch], Mask]:
    """Connected regions above `low` that reach `high` somewhere, by mass, and their pixels.

    Args:
        evidence: Shape (h, w); 0 where nothing may be reported.
        fine: The same evidence with less blur, for the outline.
        low: Where a region's surroundings end.
        high: What a region must reach.
        most: Regions beyond this many, by peak mass, are not outlined one by one.
    """
    size = max(3, round(max(evidence.shape) / 160)) | 1
    wide = (evidence > low).astype(np.uint8)
    joined = cv2.morphologyEx(
        wide, cv2.MORPH_CLOSE, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))
    )
    count, labels, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=8)
    peaks = np.zeros(count, np.float32)
    rows, columns = np.nonzero(evidence > high)
    np.maximum.at(peaks, labels[rows, columns], evidence[rows, columns])
    mask = np.zeros(evidence.shape, bool)
    patches = []
    order = [i for i in np.argsort(-stats[:, cv2.CC_STAT_AREA]) if i and peaks[i] > 0]
    for index in order[:most]:
        x, y, w, h = stats[index, :4]
        part = np.s_[y : y + h, x : x + w]
        patch, inside = _outline(evidence[part], fine[part], labels[part] == index, low, (x, y))
        mask[part] |= inside
        patches.append(patch)
    return sorted(patches, key=lambda p: (p.thin, -p.mass)), mask


def _outline(
    evidence: Plane, fine: Plane, inside: Mask, low: float, corner: tuple[int, int]
) -> tuple[Patch, Mask]:
    peak = float(np.quantile(fine[inside], 0.9))
    core = inside & (fine >= min(max(low, _RIM * peak), peak))
    if not core.any():
        core = inside
    rows, columns = np.nonzero(core)
    box = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
    depth = cv2.distanceTransform(np.pad(core, 1).astype(np.uint8), cv2.DIST_L2, 3).max()
    patch = Patch(
        box_xyxy=tuple(int(v + corner[i % 2]) for i, v in enumerate(box)),
        area_px=int(core.sum()),
        mass=float(evidence[core].sum()),
        peak=float(evidence[inside].max()),
        thin=bool(depth <= _THIN_PX),
    )
    return patch, core
