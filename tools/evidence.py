"""Where what is left of the pair is more than re-rendering leaves: colour and structure together.

Colour evidence is the smoothed remainder of luma and chroma in units of its ordinary size;
structure evidence is the remainder's local contrast, which sees a changed texture whose mean
stayed. Each is divided by the level that the pair's own noise rarely reaches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agent_judge.tools.noise_floor import ordinary, rare
from agent_judge.tools.planes import Mask, Plane, local_contrast, resized, smooth
from agent_judge.tools.residual import Remainder

_LUMA_SIGMA_PX, _CHROMA_SIGMA_PX = 1.5, 1.25
"""Smoothing; chroma is kept at half size, where 1.25 is 2.5 px of the picture."""
_LUMA_REST, _CHROMA_REST, _STRUCTURE_REST = 1.2, 1.0, 1.5
"""Grey levels that are nothing even in a flat place."""
_LUMA_SHARE, _CHROMA_SHARE, _CROSS_SHARE, _STRUCTURE_SHARE = 0.06, 0.15, 0.02, 0.12
"""Shares of the local contrast that are nothing: a fortieth of a pixel's motion, lost chroma."""
_MOST = 2.0
"""A floor grows to this multiple of what is nothing anyway; a noisier pair did change."""
_ORDINARY_FACTOR = 2.0
_COLOUR_MARGIN, _STRUCTURE_MARGIN = 1.4, 2.0
"""How far above the rare level evidence begins; the tail of structure is longer."""
_COLOUR_RANGE, _STRUCTURE_RANGE = (4.0, 10.0), (3.0, 5.0)
"""Least and largest level, whatever the pair's noise."""
_OUTLINE_SIGMA_PX = 0.7
_COLOUR_OTHERWISE, _STRUCTURE_OTHERWISE = 5.0, 4.0


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Where the pair differs, for finding regions and for drawing them."""

    strength: Plane
    """1 is the level that re-rendering rarely reaches; 0 where nothing may be reported."""
    distance: Plane
    """Size of the remainder in grey levels, hardly smoothed."""


def weigh(rest: Remainder, usable: Mask) -> Evidence:
    """The evidence in a remainder."""
    size_wh = (usable.shape[1], usable.shape[0])
    luma = smooth(rest.luma, _LUMA_SIGMA_PX)
    nothing = _LUMA_REST + _LUMA_SHARE * rest.luma_contrast
    colour = (luma / _floor(luma, (rest.luma_contrast,), usable, nothing)) ** 2
    colour = np.sqrt(colour + resized(_chroma(rest, usable), size_wh))
    level = _COLOUR_MARGIN * rare(colour, usable, _COLOUR_OTHERWISE / _COLOUR_MARGIN)
    colour /= np.float32(min(max(level, _COLOUR_RANGE[0]), _COLOUR_RANGE[1]))
    strength = np.maximum(colour, _structure(rest, usable), out=colour)
    strength[~usable] = 0
    return Evidence(strength=strength, distance=_distance(rest, size_wh))


def _distance(rest: Remainder, size_wh: tuple[int, int]) -> Plane:
    luma, chroma = smooth(rest.luma, _OUTLINE_SIGMA_PX), smooth(rest.chroma, _OUTLINE_SIGMA_PX / 2)
    squares: Plane = luma * luma + resized((chroma * chroma).sum(axis=2), size_wh)
    return np.sqrt(squares)


def _floor(rest: Plane, contrasts: tuple[Plane, ...], usable: Mask, nothing: Plane) -> Plane:
    expected = ordinary(np.abs(rest), contrasts, usable)
    return np.asarray(np.clip(_ORDINARY_FACTOR * expected, nothing, _MOST * nothing), np.float32)


def _chroma(rest: Remainder, usable: Mask) -> Plane:
    """Squared ratios of both chromas together, at half size."""
    half_wh = (rest.chroma.shape[1], rest.chroma.shape[0])
    seen = resized(usable.astype(np.float32), half_wh) > 0.5
    luma_contrast = resized(rest.luma_contrast, half_wh)
    squares = np.zeros_like(luma_contrast)
    for index in range(2):
        smoothed = smooth(rest.chroma[..., index], _CHROMA_SIGMA_PX)
        contrast = rest.chroma_contrast[..., index]
        nothing = _CHROMA_REST + _CHROMA_SHARE * contrast + _CROSS_SHARE * luma_contrast
        squares += (smoothed / _floor(smoothed, (contrast, luma_contrast), seen, nothing)) ** 2
    return squares


def _structure(rest: Remainder, usable: Mask) -> Plane:
    loss = local_contrast(rest.luma, _LUMA_SIGMA_PX)
    nothing = _STRUCTURE_REST + _STRUCTURE_SHARE * rest.luma_contrast
    ratio = loss / _floor(loss, (rest.luma_contrast,), usable, nothing)
    level = _STRUCTURE_MARGIN * rare(ratio, usable, _STRUCTURE_OTHERWISE / _STRUCTURE_MARGIN)
    return ratio / np.float32(min(max(level, _STRUCTURE_RANGE[0]), _STRUCTURE_RANGE[1]))
