"""A small motion between two crops, found by where their outlines lie."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from agent_judge.tools.base import RGB

_SEARCH_SIDE_PX = 192
"""Longer side at which the motion is searched."""
_REACH_PX = 8
"""Largest motion that re-rendering leaves within a crop."""
_SCALES = (0.985, 0.99, 0.995, 1.005, 1.01, 1.015)
_MARGIN = 0.01
"""Correlation by which a scale must agree better than none."""
_STRONG = 25.0
"""Slope, in grey levels a pixel, from which an edge is an edge."""


def by_outlines(pixels: RGB, likely: Sequence[RGB]) -> NDArray[np.float64]:
    """The move and small scale, 2x3, under which the outlines of `pixels` agree best.

    Args:
        pixels: uint8 RGB, shape (h, w, 3).
        likely: What `pixels` may show; the best agreement with any of them counts.
    """
    height, width = pixels.shape[:2]
    factor = min(1.0, _SEARCH_SIDE_PX / max(height, width))
    reach = min(_REACH_PX, (min(height, width) - 8) // 2)
    if reach < 1:
        return np.eye(3)[:2]
    reach = max(1, round(reach * factor))
    shown = [_outlines(p, factor)[reach:-reach, reach:-reach] for p in likely]
    best, motion = -1.0, np.eye(3)[:2]
    for scale in (1.0, *_SCALES):
        about = _scaling(scale, (width, height))
        searched = _outlines(np.asarray(moved_by(pixels, about), np.uint8), factor)
        for outlines in shown:
            scores = cv2.matchTemplate(searched, outlines, cv2.TM_CCOEFF_NORMED)
            score, (x, y) = _peak(np.asarray(scores, np.float32))
            if score > best + (0.0 if scale == 1.0 else _MARGIN):
                best = score
                motion = about.copy()
                motion[:, 2] -= np.array([x - reach, y - reach]) / factor
    return motion


def _outlines(pixels: RGB, factor: float) -> NDArray[np.float32]:
    """Strength of edges in any channel, strong ones held down."""
    if factor < 1:
        pixels = np.asarray(
            cv2.resize(pixels, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA), np.uint8
        )
    soft = cv2.GaussianBlur(pixels, (0, 0), 0.8).astype(np.float32)
    slopes = [cv2.Scharr(soft, cv2.CV_32F, *d, scale=1 / 32) for d in ((1, 0), (0, 1))]
    return np.asarray(np.minimum(np.hypot(*slopes).max(axis=2), _STRONG), np.float32)


def _peak(scores: NDArray[np.float32]) -> tuple[float, tuple[float, float]]:
    """The highest score and its place between the pixels, by a parabola on each axis."""
    _, score, _, (x, y) = cv2.minMaxLoc(scores)
    place = []
    for at, line in ((x, scores[y, :]), (y, scores[:, x])):
        offset = 0.0
        if 0 < at < len(line) - 1:
            before, here, after = (float(v) for v in line[at - 1 : at + 2])
            bend = before - 2 * here + after
            offset = 0.5 * (before - after) / bend if bend < -1e-9 else 0.0
        place.append(at + float(np.clip(offset, -0.5, 0.5)))
    return float(score), (place[0], place[1])


def _scaling(scale: float, size_wh: tuple[int, int]) -> NDArray[np.float64]:
    """A scaling about the middle of a picture, 2x3, on continuous coordinates."""
    x, y = size_wh[0] / 2, size_wh[1] / 2
    return np.array([[scale, 0, x * (1 - scale)], [0, scale, y * (1 - scale)]])


def moved_by(pixels: RGB, matrix: NDArray[np.float64]) -> NDArray[np.float32]:
    """`pixels` under a motion on continuous coordinates (OpenCV's are 0 at a pixel's centre)."""
    linear = matrix[:2, :2]
    shift = matrix[:2, 2] + linear @ np.array([0.5, 0.5]) - 0.5
    height, width = pixels.shape[:2]
    warped = cv2.warpAffine(
        pixels,
        np.column_stack([linear, shift]),
        (width, height),
        flags=cv2.INTER_CUBIC,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return np.asarray(warped, np.float32)
