"""Undoes what re-rendering does to a whole crop: a small move, another tone, softness."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from agent_judge.judges.measuring.outlines import by_outlines, moved_by
from agent_judge.tools.base import RGB
from agent_judge.tools.registration import register

Planes = NDArray[np.float32]
"""float32, shape (h, w, 3)."""
Mask = NDArray[np.bool_]

_SOFTENINGS_PX = (0.0, 0.5, 0.7, 1.0, 1.4)
_GAINS = (0.85, 1.18)
_SHIFT = 22.0
"""A tone that re-rendering gives: gains within these bounds and at most this many grey levels at
mid-grey. Beyond it another light was asked for, or another scene came."""
_OTHER = 24.0
"""Grey levels from which a pixel simply shows something else."""
_STILL = 0.97
"""Standing still is believed unless a motion leaves less than this share of what it leaves."""
_SOFTER = 0.85
_LEAN = 150.0
"""Variance, in squared grey levels, by which a gain leans to 1."""
_LEAST_PX = 60
"""With fewer pixels nothing is learnt from them."""


@dataclass(frozen=True, kw_only=True)
class Aligned:
    """A crop moved and toned onto another."""

    planes: Planes
    """RGB, 0 to 255."""
    plausible: bool
    """Whether its tone is such as re-rendering gives."""


def align(pixels: RGB, base: RGB, likely: Sequence[RGB], ring: Mask) -> Aligned:
    """`pixels` moved onto `base`, and toned by what the pixels of `ring` show.

    Args:
        pixels: uint8 RGB, shape (h, w, 3).
        base: The same window of the picture whose frame and tone are wanted.
        likely: What `pixels` may show, in the frame of `base`.
        ring: Shape (h, w): pixels that should look alike.
    """
    if np.array_equal(pixels[ring], base[ring]):
        return Aligned(planes=pixels.astype(np.float32), plausible=True)
    shown = [np.asarray(cv2.blur(p.astype(np.float32), (3, 3)), np.float32) for p in likely]
    best = _toned(pixels.astype(np.float32), base, ring)
    least = _unlike(best.planes, shown) * _STILL
    for motion in _motions(pixels, base, likely):
        moved = _toned(moved_by(pixels, motion), base, ring)
        cost = _unlike(moved.planes, shown)
        if cost < least:
            best, least = moved, cost
    return best


def _motions(pixels: RGB, base: RGB, likely: Sequence[RGB]) -> Iterator[NDArray[np.float64]]:
    """Motions that may lay `pixels` on `base`: by grey values, and by outlines.

    A crop is small and its target may have changed altogether; then grey values mislead, and
    outlines of the surroundings, and of a target that kept its shape, do not.
    """
    grey = [np.asarray(cv2.cvtColor(p, cv2.COLOR_RGB2GRAY), np.uint8) for p in (pixels, base)]
    nothing = np.zeros(grey[0].shape, bool)
    yield register(grey[0], grey[1], nothing, nothing).matrix[:2]
    yield by_outlines(pixels, likely)


def _toned(moved: Planes, base: RGB, ring: Mask) -> Aligned:
    """`moved` in the tone of `base`; as it is where no re-rendering gives such a tone."""
    if int(ring.sum()) < _LEAST_PX:
        return Aligned(planes=moved, plausible=True)
    gains, offsets = tone(moved, base, ring)
    shifts = np.abs(128 * (gains - 1) + offsets)
    if gains.min() < _GAINS[0] or gains.max() > _GAINS[1] or shifts.max() > _SHIFT:
        return Aligned(planes=moved, plausible=False)
    return Aligned(planes=np.clip(moved * gains + offsets, 0, 255), plausible=True)


def _unlike(planes: Planes, likely: Sequence[Planes]) -> float:
    """How much of a crop none of the likely ones explains, in grey levels, large ones held down."""
    soft = np.asarray(cv2.blur(planes, (3, 3)), np.float32)
    apart = [np.abs(soft - shown).max(axis=2) for shown in likely]
    return float(np.minimum(np.minimum.reduce(apart), _OTHER).mean())


def tone(
    moving: Planes, fixed: RGB | Planes, ring: Mask
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Gains and offsets of the three channels that carry `moving` to `fixed`, by the ring."""
    lines = [_line(moving[..., c][ring], fixed[..., c][ring]) for c in range(3)]
    gains, offsets = zip(*lines, strict=True)
    return np.array(gains, np.float32), np.array(offsets, np.float32)


def softening_px(base: RGB, moved: Planes, ring: Mask) -> float:
    """The blur of `base`, a Gaussian sigma, that comes nearest to `moved` in the ring."""
    if int(ring.sum()) < _LEAST_PX:
        return 0.0
    grey = cv2.cvtColor(base, cv2.COLOR_RGB2GRAY).astype(np.float32)
    wanted = cv2.cvtColor(moved, cv2.COLOR_RGB2GRAY)

    def cost(sigma_px: float) -> float:
        soft = grey if sigma_px == 0 else cv2.GaussianBlur(grey, (0, 0), sigma_px)
        return float(np.abs(soft - wanted)[ring].mean())

    best = min(_SOFTENINGS_PX, key=cost)
    # A flat ring is as near under any blur: believe one only where it explains something.
    return best if cost(best) < _SOFTER * cost(0.0) else 0.0


def softened(planes: Planes, sigma_px: float) -> Planes:
    """The planes under a Gaussian of `sigma_px`; themselves for 0."""
    if sigma_px == 0:
        return planes
    return np.asarray(cv2.GaussianBlur(planes, (0, 0), sigma_px), np.float32)


def _line(
    moving: NDArray[np.float32], fixed: NDArray[np.uint8] | NDArray[np.float32]
) -> tuple[float, float]:
    """Gain and offset that carry one channel to the other's, blind to what changed."""
    x, y = moving.astype(np.float64), fixed.astype(np.float64)
    unclipped = (x > 4) & (x < 251) & (y > 4) & (y < 251)
    x, y = x[unclipped], y[unclipped]
    if len(x) < _LEAST_PX:
        return 1.0, 0.0
    gain, offset = 1.0, float(np.median(y - x))
    for _ in range(5):
        rest = y - gain * x - offset
        scale = max(1.5, 1.4826 * float(np.median(np.abs(rest))))
        weight = np.clip(1 - (rest / (4.7 * scale)) ** 2, 0, None) ** 2
        mean_x, mean_y = np.average(x, weights=weight), np.average(y, weights=weight)
        spread = np.average((x - mean_x) ** 2, weights=weight)
        shared = np.average((x - mean_x) * (y - mean_y), weights=weight)
        # Values that hardly vary cannot tell a gain from an offset: lean to a gain of 1.
        gain = float((shared + _LEAN) / (spread + _LEAN))
        offset = float(mean_y - gain * mean_x)
    return gain, offset
