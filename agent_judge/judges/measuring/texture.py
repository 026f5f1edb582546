"""Detail inside a target: does shading agree, how sharp is it, which way does a pattern run."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from agent_judge.judges.measuring.align import Mask, Planes
from agent_judge.judges.measuring.laid_over import Plane

_BINS = 12


def agreement(first: Planes, second: Planes, part: Mask) -> float:
    """Correlation of lightness inside a part, -1 to 1: shading and detail kept are near 1."""
    a, b = (_lightness(p, 0.7)[part] for p in (first, second))
    if a.std() < 1e-3 or b.std() < 1e-3:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def detail(lab: Planes, part: Mask) -> float:
    """Root mean square of the slope of lightness in a part."""
    across, down = _slopes(lab)
    return float(np.sqrt(np.mean((across**2 + down**2)[part])))


def edges(lab: Planes, part: Mask) -> float:
    """Root mean square of the slope of colour in a part."""
    return float(np.sqrt(np.mean(np.sum(_colour_slopes(lab)[part] ** 2, axis=1))))


def edges_found(lab: Planes, like: Planes, part: Mask) -> float:
    """Share of the edges of `like` that lie at the same place in `lab`: near 0 to about 1."""
    shown, wanted = (_colour_slopes(p)[part] for p in (lab, like))
    return float((shown * wanted).sum() / max(float((wanted * wanted).sum()), 1e-6))


def variation(lab: Planes, part: Mask) -> float:
    """Standard deviation of lightness in a part: what detail there is to lose."""
    return float(_lightness(lab, 0.7)[part].std())


def direction_gap(first: Planes, second: Planes, part: Mask) -> float:
    """How differently edges run inside a part, 0 (alike) to 1.

    Histograms of edge directions are compared, so that phase, scale and tones of a pattern do not
    matter: chequers run two ways, stripes one, dots every way.
    """
    a, b = (_directions(p, part) for p in (first, second))
    return float(np.abs(a - b).sum() / 2)


def _directions(lab: Planes, part: Mask) -> NDArray[np.float64]:
    across, down = _slopes(lab)
    power = (across**2 + down**2)[part]
    angle = (np.degrees(np.arctan2(down, across)) % 180)[part]
    bins, _ = np.histogram(angle, bins=_BINS, range=(0, 180), weights=power)
    smooth = bins + 0.5 * np.roll(bins, 1) + 0.5 * np.roll(bins, -1)
    return np.asarray(smooth / max(float(smooth.sum()), 1e-6), np.float64)


def _slopes(lab: Planes) -> tuple[Plane, Plane]:
    light = _lightness(lab, 0.8)
    across = cv2.Scharr(light, cv2.CV_32F, 1, 0, scale=1 / 32)
    down = cv2.Scharr(light, cv2.CV_32F, 0, 1, scale=1 / 32)
    return np.asarray(across, np.float32), np.asarray(down, np.float32)


def _colour_slopes(lab: Planes) -> Planes:
    """Slopes of all three planes, shape (h, w, 6)."""
    soft = cv2.GaussianBlur(lab, (0, 0), 0.8)
    slopes = [cv2.Scharr(soft, cv2.CV_32F, *d, scale=1 / 32) for d in ((1, 0), (0, 1))]
    return np.asarray(np.concatenate(slopes, axis=2), np.float32)


def _lightness(lab: Planes, sigma_px: float) -> Plane:
    return np.asarray(cv2.GaussianBlur(lab[..., 0], (0, 0), sigma_px), np.float32)
