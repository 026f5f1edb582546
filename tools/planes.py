"""Float pictures: their types, and the one way they are smoothed here."""

from __future__ import annotations

import math
from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

Plane = NDArray[np.float32]
"""float32, shape (h, w), in grey levels unless said otherwise."""
Planes = NDArray[np.float32]
"""float32, shape (h, w, channels)."""
Mask = NDArray[np.bool_]
"""Shape (h, w)."""
Matrix = NDArray[np.float64]
"""A motion: 2x3 or 3x3 on continuous pixel coordinates, where the first pixel covers 0 to 1."""


Value = TypeVar("Value", np.bool_, np.uint8, np.float32)


def smooth(plane: Plane, sigma_px: float) -> Plane:
    """`plane` under a Gaussian window cut off at three sigma, mirrored at the border."""
    side = 2 * math.ceil(3 * sigma_px) + 1
    return np.asarray(cv2.GaussianBlur(plane, (side, side), sigma_px), np.float32)


def local_contrast(plane: Plane, sigma_px: float, size_wh: tuple[int, int] | None = None) -> Plane:
    """Standard deviation of the values around each pixel, in a Gaussian window.

    With `a` and `b` two pictures, `local_contrast(a - b)**2 / (local_contrast(a)**2 +
    local_contrast(b)**2 + C2)` is one minus the contrast and structure factor of SSIM: the
    contrast of a difference is its loss of structure, before it is put in relation.

    Args:
        plane: Shape (h, w).
        sigma_px: Of the window, in pixels of the result.
        size_wh: Of the result, where it shall be smaller: detail too fine for it still counts.
    """
    mean, square = plane, plane * plane
    if size_wh is not None:
        mean, square = resized(mean, size_wh), resized(square, size_wh)
    mean = smooth(mean, sigma_px)
    spread = smooth(square, sigma_px) - mean * mean
    return np.sqrt(np.maximum(spread, 0, out=spread), out=spread)


def resized(plane: Plane, size_wh: tuple[int, int]) -> Plane:
    """`plane` at another size: averaged when it shrinks, interpolated when it grows."""
    shrinks = size_wh[0] * size_wh[1] < plane.shape[0] * plane.shape[1]
    how = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(plane, size_wh, interpolation=how), np.float32)


def covered(mask: Mask, size_wh: tuple[int, int]) -> Mask:
    """Pixels of a smaller grid that lie wholly in `mask`."""
    levels = mask.view(np.uint8) * np.uint8(255)
    small = np.asarray(cv2.resize(levels, size_wh, interpolation=cv2.INTER_AREA))
    return small >= 253


def whole_blocks(pixels: NDArray[Value], block_px: int) -> tuple[NDArray[Value], tuple[int, int]]:
    """`pixels` without the rest that fills no block, and how many blocks go across and down.

    Averaging over whole blocks is many times faster than over fractions of pixels.
    """
    down, across = max(1, pixels.shape[0] // block_px), max(1, pixels.shape[1] // block_px)
    return pixels[: down * block_px, : across * block_px], (across, down)


def half(shape: tuple[int, ...]) -> tuple[int, int]:
    """Width and height of a plane of `shape` at half size.

    Example:
        >>> half((480, 641))
        (321, 240)
    """
    return -(-shape[1] // 2), -(-shape[0] // 2)


def stride(shape: tuple[int, ...], most: int) -> int:
    """The step in both directions that leaves about `most` pixels of a plane of `shape`.

    Example:
        >>> stride((480, 640), 20_000)
        3
    """
    return max(1, int(math.sqrt(shape[0] * shape[1] / most)))
