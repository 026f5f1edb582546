"""How large a difference re-rendering alone leaves: ordinary at one pixel, rare in one picture.

Noise of re-encoding and of a latent round trip follows texture, so a difference is first measured
in units of what is ordinary at that local contrast. How far the largest of many harmless pixels
strays then depends on the pair: the maxima of small blocks say how, and their tail is carried on
to as many blocks as there are.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from agent_judge.tools.planes import Mask, Plane, stride

_SAMPLE = 8_000
_BLOCK_PX = 8
_FEW_BLOCKS = 40
_GUMBEL_MEDIAN, _GUMBEL_QUARTILE = 0.3665, 0.8794
"""Median of a Gumbel distribution of scale 1, and its upper quartile minus that median."""


def ordinary(size: Plane, contrasts: tuple[Plane, ...], usable: Mask) -> Plane:
    """The size of difference to expect at each pixel from the local contrast there.

    A non-negative linear model in the contrasts, fitted to all pixels of the pair with large
    differences cut short: an edit of a tenth of the picture moves it little.

    Args:
        size: Magnitude of the difference, shape (h, w).
        contrasts: Local contrasts, each of the same shape.
        usable: Pixels that may inform the model.
    """
    step = stride(size.shape, _SAMPLE)
    picked = usable[::step, ::step]
    sizes = size[::step, ::step][picked].astype(np.float64)
    if len(sizes) < 50:
        return np.zeros_like(size)
    columns = [np.asarray(c[::step, ::step][picked], np.float64) for c in contrasts]
    weights = _non_negative_fit(np.column_stack([np.ones(len(sizes)), *columns]), sizes)
    expected = np.full(size.shape, weights[0], np.float32)
    for weight, contrast in zip(weights[1:], contrasts, strict=True):
        if weight:
            expected += np.float32(weight) * contrast
    return expected


def _non_negative_fit(
    design: NDArray[np.float64], sizes: NDArray[np.float64]
) -> NDArray[np.float64]:
    weights = np.zeros(design.shape[1])
    weights[0] = np.median(sizes)
    for _ in range(4):
        expected = design @ weights + 0.3
        short = np.minimum(sizes, 3 * np.median(sizes / expected) * expected)
        scaled = design / expected[:, None]
        normal, right = scaled.T @ scaled, scaled.T @ (short / expected)
        active = np.ones(len(weights), bool)
        while active.any():
            weights = np.zeros(len(active))
            part = normal[np.ix_(active, active)] + 1e-9 * np.eye(int(active.sum()))
            weights[active] = np.linalg.solve(part, right[active])
            if (weights >= 0).all():
                break
            active &= weights >= 0
    return np.maximum(weights, 0)


def rare(ratio: Plane, usable: Mask, otherwise: float) -> float:
    """The level that the largest of all harmless pixels of the pair is expected to reach.

    Args:
        ratio: Differences in units of the ordinary one, shape (h, w).
        usable: Pixels that count.
        otherwise: The answer for a picture too small to tell.
    """
    rows, columns = ratio.shape[0] // _BLOCK_PX, ratio.shape[1] // _BLOCK_PX
    if rows * columns < _FEW_BLOCKS:
        return otherwise
    whole = np.s_[: rows * _BLOCK_PX, : columns * _BLOCK_PX]
    blocks = np.where(usable[whole], ratio[whole], 0).reshape(rows, _BLOCK_PX, columns, _BLOCK_PX)
    seen = usable[whole].reshape(rows, _BLOCK_PX, columns, _BLOCK_PX).mean(axis=(1, 3)) > 0.5
    maxima = blocks.max(axis=(1, 3))[seen]
    if len(maxima) < _FEW_BLOCKS:
        return otherwise
    middle, upper = np.quantile(maxima, [0.5, 0.75])
    spread = (upper - middle) / _GUMBEL_QUARTILE
    return float(middle + spread * (math.log(len(maxima)) - _GUMBEL_MEDIAN))
