"""Overlapping tiles that cover a picture, and the weights that blend them without a seam."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def spans(length: int, tile: int, overlap: int) -> tuple[tuple[int, int], ...]:
    """Spans of `tile` that cover 0..`length` evenly and share at least `overlap`.

    Args:
        length: What is to be covered, 1 or more.
        tile: Length of each span, more than `overlap`; one span of `length` when that is shorter.
        overlap: Least length that neighbours share.

    Example:
        >>> spans(100, 60, 10)
        ((0, 60), (40, 100))
        >>> spans(50, 60, 10)
        ((0, 50),)
    """
    if length <= tile:
        return ((0, length),)
    count = math.ceil((length - overlap) / (tile - overlap))
    starts = (round(i * (length - tile) / (count - 1)) for i in range(count))
    return tuple((start, start + tile) for start in starts)


def ramp(span: tuple[int, int], length: int, guard: int, rise: int) -> NDArray[np.float32]:
    """Blending weights along one tile, 0 to 1, shape (stop - start,).

    Where the span ends inside the picture the outermost `guard` samples, which the network saw
    without their surroundings, weigh nothing, and the next `rise` samples gain weight linearly.

    Example:
        >>> ramp((0, 6), 20, 1, 3).tolist()
        [1.0, 1.0, 0.75, 0.5, 0.25, 0.0]
    """
    start, stop = span
    at = np.arange(stop - start, dtype=np.float32)
    weights = np.ones_like(at)
    if start > 0:
        weights = np.minimum(weights, (at - guard + 1) / (rise + 1))
    if stop < length:
        weights = np.minimum(weights, (at[::-1] - guard + 1) / (rise + 1))
    return np.clip(weights, 0, 1)
