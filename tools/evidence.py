"""Where what is left of the pair is more than re-rendering leaves: colour and structure together.

Colour evidence is the smoothed remainder of luma and chroma in units of its ordinary size;
structure evidence is the remainder's local contrast, which sees a changed texture whose mean
stayed. Each is divided by the level that the pair's own noise rarely reaches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agent_judge.tools.noise_floor import ordinary, rare
from agent_judge.tools.planes import Mask, Plane, covered, half, local_contrast, resized, smooth
from agent_judge.tools.residual import Remainder

_LUMA_SIGMA_PX, _CHROMA_SIGMA_PX = 0.7, 1.25
"""Smoothing at half size: with the halving itself 1.5 and 2.6 px of the picture."""
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
    """At half size. 1 is what re-rendering rarely reaches; 0 where nothing may be reported."""
    distance: Plane
    """At full size: the remainder in grey levels, hardly smoothed."""


def weigh(rest: Remainder, usable: Mask) -> Evidence:
    """The evidence in a remainder, of which the pixels `usable` count."""
    seen = covered(usable, half(usable.shape))
    strength = np.maximum(_colour(rest, seen), _structure(rest, seen))
    strength[~seen] = 0
    return Evidence(strength=strength, distance=_distance(rest))


def _colour(rest: Remainder, seen: Mask) -> Plane:
    luma = smooth(resized(rest.luma, half(rest.luma.shape)), _LUMA_SIGMA_PX)
    nothing = _LUMA_REST + _LUMA_SHARE * rest.luma_contrast
    squares = np.square(luma / _floor(luma, (rest.luma_contrast,), seen, nothing))
    for index in range(2):
        chroma = smooth(rest.chroma[..., index], _CHROMA_SIGMA_PX)
        contrast = rest.chroma_contrast[..., index]
        nothing = _CHROMA_REST + _CHROMA_SHARE * contrast + _CROSS_SHARE * rest.luma_contrast
        floor = _floor(chroma, (contrast, rest.luma_contrast), seen, nothing)
        squares += np.square(chroma / floor)
    ratio: Plane = np.sqrt(squares)
    level = _COLOUR_MARGIN * rare(ratio, seen, _COLOUR_OTHERWISE / _COLOUR_MARGIN)
    return ratio / np.float32(min(max(level, _COLOUR_RANGE[0]), _COLOUR_RANGE[1]))


def _structure(rest: Remainder, seen: Mask) -> Plane:
    loss = local_contrast(rest.luma, _LUMA_SIGMA_PX, half(rest.luma.shape))
    nothing = _STRUCTURE_REST + _STRUCTURE_SHARE * rest.luma_contrast
    ratio: Plane = loss / _floor(loss, (rest.luma_contrast,), seen, nothing)
    level = _STRUCTURE_MARGIN * rare(ratio, seen, _STRUCTURE_OTHERWISE / _STRUCTURE_MARGIN)
    return ratio / np.float32(min(max(level, _STRUCTURE_RANGE[0]), _STRUCTURE_RANGE[1]))


def _floor(rest: Plane, contrasts: tuple[Plane, ...], seen: Mask, nothing: Plane) -> Plane:
    expected = ordinary(np.abs(rest), contrasts, seen)
    return np.asarray(np.clip(_ORDINARY_FACTOR * expected, nothing, _MOST * nothing), np.float32)


def _distance(rest: Remainder) -> Plane:
    luma, chroma = smooth(rest.luma, _OUTLINE_SIGMA_PX), smooth(rest.chroma, _OUTLINE_SIGMA_PX / 2)
    whole_wh = (luma.shape[1], luma.shape[0])
    squares: Plane = luma * luma + resized((chroma * chroma).sum(axis=2), whole_wh)
    return np.sqrt(squares, out=squares)
