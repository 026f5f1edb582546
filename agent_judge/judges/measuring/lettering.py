"""Whether two pieces of lettering read the same, by their shapes alone."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from agent_judge.judges.measuring.align import Mask, Planes
from agent_judge.records import Box

_GRID_WH = (96, 32)
_INSET = 0.12
"""Share of a box's shorter side left out all around: the rim of a plate is no letter."""


def same_letters(first: Planes, second: Planes, box: Box) -> float | None:
    """Correlation of two letterings stretched to one size, -1 to 1; None where there is no ink.

    Size, place, ink and ground may differ; the letters may not.

    Args:
        first: CIE Lab, shape (h, w, 3).
        second: The same place of another picture.
        box: The plate, pixels of both.
    """
    inset = _INSET * min(box.width, box.height)
    rows = slice(max(0, round(box.y1 + inset)), max(1, round(box.y2 - inset)))
    columns = slice(max(0, round(box.x1 + inset)), max(1, round(box.x2 - inset)))
    letters = [_letters(p[rows, columns]) for p in (first, second)]
    if letters[0] is None or letters[1] is None:
        return None
    return float(np.corrcoef(letters[0].ravel(), letters[1].ravel())[0, 1])


def _letters(plate: Planes) -> NDArray[np.float32] | None:
    """How far each pixel is from the ground's colour, cut to the ink and stretched to the grid."""
    if min(plate.shape[:2]) < 4:
        return None
    ground = np.median(plate.reshape(-1, 3), axis=0)
    apart = np.linalg.norm(plate - ground, axis=2).astype(np.float32)
    strongest = float(np.quantile(apart, 0.97))
    ink = _without_specks(apart > 0.5 * strongest)
    rows, columns = np.nonzero(ink)
    if strongest < 12 or len(rows) < 12:
        return None
    part = apart[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    return np.asarray(cv2.resize(part, _GRID_WH, interpolation=cv2.INTER_LINEAR), np.float32)


def _without_specks(mask: Mask) -> Mask:
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    kept = [i for i in range(1, count) if stats[i, cv2.CC_STAT_AREA] >= 4]
    return np.isin(labels, kept)
