"""How large a difference re-rendering alone leaves, for each degree of local contrast.

Noise of re-encoding and of a latent round trip follows texture: a difference that is nothing on
grass is an edit in the sky. The pixels of the pair are sorted into bins of local contrast, and
median and spread of each bin say what is ordinary there.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

Plane = NDArray[np.float32]
Mask = NDArray[np.bool_]

_BINS = 12
_SAMPLE = 60_000


def local_contrast(plane: Plane, sigma_px: float) -> Plane:
    """Standard deviation of the grey values around each pixel, in a Gaussian window."""
    mean = cv2.GaussianBlur(plane, (0, 0), sigma_px)
    square = cv2.GaussianBlur(plane * plane, (0, 0), sigma_px)
    return np.sqrt(np.maximum(square - mean * mean, 0))


def structure_similarity(first: Plane, second: Plane, sigma_px: float = 1.5) -> Plane:
    """The contrast and structure factor of SSIM, without its luminance factor.

    Args:
        first: float32 grey values 0 to 255, shape (h, w).
        second: The same of the other picture.
        sigma_px: Sigma of the Gaussian window.

    Returns:
        -1 to 1 for each pixel; 1 where the two differ by a constant.
    """
    mean_1, mean_2 = (cv2.GaussianBlur(p, (0, 0), sigma_px) for p in (first, second))
    var_1 = cv2.GaussianBlur(first * first, (0, 0), sigma_px) - mean_1 * mean_1
    var_2 = cv2.GaussianBlur(second * second, (0, 0), sigma_px) - mean_2 * mean_2
    both = cv2.GaussianBlur(first * second, (0, 0), sigma_px) - mean_1 * mean_2
    constant = np.float32((0.03 * 255) ** 2)
    return (2 * both + constant) / (var_1 + var_2 + constant)


def floor(size: Plane, contrast: Plane, usable: Mask, least: Plane, most: float) -> Plane:
    """What a difference of `size` must be compared with at each pixel: its ordinary spread there.

    Args:
        size: Magnitude of the difference, shape (h, w).
        contrast: Local contrast, the same shape.
        usable: Pixels that may inform the floor.
        least: The floor is never under this.
        most: Nor over this, plus `least`: beyond it the picture did change.

    Returns:
        A scale in the unit of `size`; about 1.5 times the median of ordinary differences.
    """
    step = max(1, int(np.sqrt(size.size / _SAMPLE)))
    picked = usable[::step, ::step]
    sizes, contrasts = size[::step, ::step][picked], contrast[::step, ::step][picked]
    if len(sizes) < 50:
        return least
    edges = np.unique(np.quantile(contrasts, np.linspace(0, 1, _BINS + 1)))
    if len(edges) < 3:
        return np.clip(np.full_like(size, 1.4826 * np.median(sizes)), least, least + most)
    which = np.clip(np.searchsorted(edges, contrasts, side="right") - 1, 0, len(edges) - 2)
    centres, scales = [], []
    for index in range(len(edges) - 1):
        inside = which == index
        if int(inside.sum()) >= 20:
            centres.append(float(np.median(contrasts[inside])))
            scales.append(1.4826 * float(np.median(sizes[inside])))
    ordinary = np.interp(contrast, centres, np.maximum.accumulate(scales)).astype(np.float32)
    return np.clip(ordinary, least, least + np.float32(most))
