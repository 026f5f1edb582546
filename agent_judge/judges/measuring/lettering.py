"""Whether two pieces of lettering read the same, by their shapes alone."""

from __future__ import annotations

import cv2
import numpy as np

from agent_judge.judges.measuring.align import Mask, Planes
from agent_judge.judges.measuring.laid_over import Plane
from agent_judge.records import Box

_GRID_WH = (96, 32)
_INSET = 0.12
"""Share of a box's shorter side left out all around: the rim of a plate is no letter."""
_WIDTHS = (88, 96, 104)
"""Widths on the grid that are tried: where lettering ends is blurred by a pixel or two."""
_PLAY_WH = (8, 3)
"""How far lettering may lie beside the other's, in pixels of the grid."""


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
    return _best_agreement(letters[0], letters[1])


def _best_agreement(first: Plane, second: Plane) -> float:
    across, down = _PLAY_WH
    around = np.pad(first, ((down, down), (across, across)))
    scores = [
        float(cv2.matchTemplate(around, _resized(second, width), cv2.TM_CCOEFF_NORMED).max())
        for width in _WIDTHS
    ]
    return max(scores)


def _resized(letters: Plane, width: int) -> Plane:
    size_wh = (width, letters.shape[0])
    return np.asarray(cv2.resize(letters, size_wh, interpolation=cv2.INTER_LINEAR), np.float32)


def _letters(plate: Planes) -> Plane | None:
    """How far each pixel is from the ground's colour, cut to the ink and stretched to the grid."""
    if min(plate.shape[:2]) < 4:
        return None
    frame = np.ones(plate.shape[:2], bool)
    margin = max(1, round(0.08 * min(frame.shape)))
    frame[margin:-margin, margin:-margin] = False
    ground = np.median(plate[frame], axis=0)
    apart = np.linalg.norm(plate - ground, axis=2).astype(np.float32)
    strongest = float(np.quantile(apart, 0.97))
    ink = _without_rim(_without_specks(apart > 0.5 * strongest))
    rows, columns = np.nonzero(ink)
    if strongest < 12 or len(rows) < 12:
        return None
    part = apart[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    return np.asarray(cv2.resize(part, _GRID_WH, interpolation=cv2.INTER_LINEAR), np.float32)


def _without_rim(ink: Mask) -> Mask:
    """The ink without what touches the border: a plate's rim; all of it when that is most of it."""
    _, labels = cv2.connectedComponents(ink.astype(np.uint8))
    border = np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]])
    letters = ink & ~np.isin(labels, border[border > 0])
    return letters if 3 * int(letters.sum()) > int(ink.sum()) else ink


def _without_specks(mask: Mask) -> Mask:
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    kept = [i for i in range(1, count) if stats[i, cv2.CC_STAT_AREA] >= 4]
    return np.isin(labels, kept)
