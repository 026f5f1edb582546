"""What is left of one picture when the other, re-rendered to look like it, is taken away.

Registration, tone and sharpness are properties of the whole picture; none of them is an edit. The
sharper picture is warped, toned and softened until it explains the other as well as global
operations can; the rest is what the noise floor and the regions are made of.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

Planes = NDArray[np.float32]
"""float32, shape (h, w, 3): luma and two chromas (YCrCb), in grey levels."""
Mask = NDArray[np.bool_]
Matrix = NDArray[np.float64]

_SAMPLE = 40_000
_SOFTENINGS = (0.7, 1.5)
"""Gaussian sigmas in px whose mixture with the picture itself imitates a resampling."""
_TONE_BLOCK_PX = 16
_TONE_LIMIT = 12.0
"""A slowly varying tint stays within this many grey levels; more is an edit."""


@dataclass(frozen=True, kw_only=True)
class Tone:
    """How the fixed picture's tone follows from the other's."""

    gain: tuple[float, float, float]
    """Factor on red, green and blue."""
    offset: tuple[float, float, float]
    """Added grey levels."""


def lay_over(pixels: NDArray[np.uint8], matrix: Matrix, size_wh: tuple[int, int]) -> Planes:
    """`pixels` resampled into a frame of `size_wh` under `matrix` (2x3, continuous pixels)."""
    factor = float(np.sqrt(abs(np.linalg.det(matrix[:, :2]))))
    height, width = pixels.shape[:2]
    exact = np.array([[size_wh[0] / width, 0, 0], [0, size_wh[1] / height, 0]])
    if np.allclose(matrix, exact, atol=1e-9):
        if (width, height) == size_wh:
            return pixels.astype(np.float32)
        how = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
        return cv2.resize(pixels, size_wh, interpolation=how).astype(np.float32)
    if factor < 0.9:
        small_wh = (max(1, round(width * factor)), max(1, round(height * factor)))
        pixels = cv2.resize(pixels, small_wh, interpolation=cv2.INTER_AREA)
        back = np.diag([width / small_wh[0], height / small_wh[1]])
        matrix = np.column_stack([matrix[:, :2] @ back, matrix[:, 2]])
    warped = cv2.warpAffine(
        pixels,
        on_indices(matrix),
        size_wh,
        flags=cv2.INTER_CUBIC,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return warped.astype(np.float32)


def on_indices(matrix: Matrix) -> Matrix:
    """The motion for OpenCV, whose coordinates are 0 at the first pixel's centre."""
    shift = matrix[:, :2] @ np.array([0.5, 0.5]) - 0.5
    return np.column_stack([matrix[:, :2], matrix[:, 2] + shift])


def fit_tone(moved: Planes, fixed: Planes, usable: Mask) -> Tone:
    """Gain and offset of each channel that carry `moved` to `fixed`, blind to local edits."""
    gains, offsets = [], []
    step = max(1, int(np.sqrt(usable.size / _SAMPLE)))
    small = [cv2.blur(p, (5, 5))[::step, ::step][usable[::step, ::step]] for p in (moved, fixed)]
    for channel in range(3):
        x, y = (s[:, channel].astype(np.float64) for s in small)
        kept = (x > 4) & (x < 251) & (y > 4) & (y < 251)
        gain, offset = _line(x[kept], y[kept]) if int(kept.sum()) > 50 else (1.0, 0.0)
        gains.append(gain)
        offsets.append(offset)
    return Tone(gain=(gains[0], gains[1], gains[2]), offset=(offsets[0], offsets[1], offsets[2]))


def _line(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    gain, offset = 1.0, float(np.median(y - x))
    for _ in range(5):
        rest = y - gain * x - offset
        scale = max(1.0, 1.4826 * float(np.median(np.abs(rest))))
        weight = np.clip(1 - (rest / (4.685 * scale)) ** 2, 0, None) ** 2
        total = weight.sum()
        mean_x, mean_y = (weight * x).sum() / total, (weight * y).sum() / total
        spread = (weight * (x - mean_x) ** 2).sum() / total
        # Grey levels that hardly vary cannot tell a gain from an offset: lean to gain 1.
        lean = 25.0
        shared = (weight * (x - mean_x) * (y - mean_y)).sum() / total
        gain = float(np.clip((shared + lean) / (spread + lean), 0.5, 2.0))
        offset = float(mean_y - gain * mean_x)
    return gain, offset


def apply_tone(moved: Planes, tone: Tone) -> Planes:
    """`moved` with the tone of the fixed picture, clipped as that one was."""
    toned = moved * np.float32(tone.gain) + np.float32(tone.offset)
    return np.clip(toned, 0, 255, out=toned)


def soften(moved: Planes, fixed: Planes, usable: Mask) -> Planes:
    """Each plane of `moved` filtered by the mixture of blurs that comes closest to `fixed`."""
    stack = [moved, *(cv2.GaussianBlur(moved, (0, 0), s) for s in _SOFTENINGS)]
    step = max(1, int(np.sqrt(usable.size / _SAMPLE)))
    picked = usable[::step, ::step]
    result = np.empty_like(moved)
    for plane in range(3):
        columns = [layer[::step, ::step, plane][picked].astype(np.float64) for layer in stack]
        wanted = fixed[::step, ::step, plane][picked].astype(np.float64)
        mix = _mixture(columns, wanted)
        result[..., plane] = sum(
            np.float32(w) * layer[..., plane] for w, layer in zip(mix, stack, strict=True)
        )
    return result


def _mixture(columns: list[NDArray[np.float64]], wanted: NDArray[np.float64]) -> list[float]:
    """Weights with sum 1; the coarsest layer's follows from the others."""
    if len(wanted) < 100:
        return [1.0] + [0.0] * (len(columns) - 1)
    design = np.column_stack([c - columns[-1] for c in columns[:-1]])
    target = wanted - columns[-1]
    target = target - np.median(target - design[:, 0])
    weights = np.array([1.0] + [0.0] * (len(columns) - 2))
    for _ in range(4):
        rest = target - design @ weights
        scale = max(0.5, 1.4826 * float(np.median(np.abs(rest))))
        trust = np.clip(1 - (rest / (4.685 * scale)) ** 2, 0, None) ** 2
        normal = design.T @ (design * trust[:, None])
        lean = 1e-3 * np.trace(normal) + 1.0
        start = np.array([1.0] + [0.0] * (len(columns) - 2))
        weights = np.linalg.solve(
            normal + lean * np.eye(len(normal)), design.T @ (trust * target) + lean * start
        )
    weights = np.clip(weights, -1.5, 2.5)
    return [*map(float, weights), float(1 - weights.sum())]


def tint(residual: Planes, usable: Mask) -> Planes:
    """The slowly varying part of `residual`: medians of blocks, smoothed, without local edits."""
    height, width = usable.shape
    rows, columns = max(1, height // _TONE_BLOCK_PX), max(1, width // _TONE_BLOCK_PX)
    small = cv2.resize(residual, (columns * 8, rows * 8), interpolation=cv2.INTER_AREA)
    seen = cv2.resize(usable.astype(np.float32), (columns * 8, rows * 8)) > 0.5
    small[~seen] = np.nan
    blocks = small.reshape(rows, 8, columns, 8, 3).swapaxes(1, 2).reshape(rows, columns, 64, 3)
    known = seen.reshape(rows, 8, columns, 8).sum(axis=(1, 3)) >= 16
    field = np.zeros((rows, columns, 3), np.float32)
    if known.any():
        field[known] = np.nanmedian(blocks[known], axis=1)
    return _filled_in(field, known, (width, height))


def _filled_in(field: Planes, known: Mask, size_wh: tuple[int, int]) -> Planes:
    """`field` smoothed over its known blocks, outliers left out, at full size."""
    if not known.any():
        return np.zeros((size_wh[1], size_wh[0], 3), np.float32)
    middle = np.median(field[known], axis=0)
    spread = 1.4826 * np.median(np.abs(field[known] - middle), axis=0)
    limit = np.minimum(4 * spread + 1.0, _TONE_LIMIT).astype(np.float32)
    weight = (known & (np.abs(field - middle) <= limit).all(axis=2)).astype(np.float32) + 1e-4
    sums = cv2.GaussianBlur((field - middle) * weight[..., None], (0, 0), 0.7)
    smooth = sums.reshape(field.shape) / cv2.GaussianBlur(weight, (0, 0), 0.7)[..., None]
    smooth = np.clip(smooth, -limit, limit) + middle
    return cv2.resize(smooth.astype(np.float32), size_wh, interpolation=cv2.INTER_CUBIC).reshape(
        size_wh[1], size_wh[0], 3
    )
