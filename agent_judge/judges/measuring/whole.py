"""What happened to the picture as a whole: another place, another light, another style?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from agent_judge.judges.measuring.align import Mask, Planes, tone
from agent_judge.judges.measuring.laid_over import inside, to_lab
from agent_judge.records import Box
from agent_judge.tools.base import RGB

_SIDE_PX = 384
_REACH_PX = 2
"""Small motions are forgiven up to this many pixels at low resolution."""
_GAIN, _OFFSET = 0.1, 10.0
"""A tone within these bounds is re-rendering; beyond them it is another light."""


@dataclass(frozen=True, kw_only=True)
class Whole:
    """Two pictures compared at low resolution."""

    typical: float
    """Median Lab distance after an ordinary change of tone is taken out."""
    outlines: float
    """Agreement of outlines, -1 to 1; about 0 for unrelated pictures."""


def compare_whole(source: RGB, edited: RGB, white: Sequence[Box]) -> Whole:
    """The pair as a whole, outside the rectangles that were painted white."""
    height, width = source.shape[:2]
    factor = min(1.0, _SIDE_PX / max(height, width))
    size_wh = (max(8, round(width * factor)), max(8, round(height * factor)))
    small = [
        np.asarray(cv2.resize(p, size_wh, interpolation=cv2.INTER_AREA), np.float32)
        for p in (source, edited)
    ]
    scaled = [Box(*(v * factor for v in box.xyxy)) for box in white]
    seen = ~inside(scaled, small[0].shape, 1)
    if not seen.any():
        return Whole(typical=0.0, outlines=1.0)
    toned = _in_tone(small[0], small[1], seen)
    a, b = (
        np.asarray(cv2.GaussianBlur(to_lab(p), (0, 0), 0.7), np.float32) for p in (toned, small[1])
    )
    typical = float(np.median(_least_distance(a, b)[seen]))
    return Whole(typical=typical, outlines=_agreement(a, b, seen))


def _in_tone(base: Planes, other: Planes, seen: Mask) -> Planes:
    """`base` with the tone of `other`, as far as re-rendering changes tones."""
    gain, offset = tone(base, other, seen)
    gain, offset = np.clip(gain, 1 - _GAIN, 1 + _GAIN), np.clip(offset, -_OFFSET, _OFFSET)
    return np.asarray(np.clip(base * gain + offset, 0, 255), np.float32)


def _least_distance(first: Planes, second: Planes) -> Planes:
    side = 2 * _REACH_PX + 1
    reach = ((_REACH_PX, _REACH_PX), (_REACH_PX, _REACH_PX), (0, 0))
    padded = np.pad(second, reach, mode="edge")
    height, width = first.shape[:2]
    least = np.full((height, width), np.inf, np.float32)
    for y in range(side):
        for x in range(side):
            apart = first - padded[y : y + height, x : x + width]
            np.minimum(least, np.einsum("ijk,ijk->ij", apart, apart), out=least)
    return np.asarray(np.sqrt(least), np.float32)


def _agreement(first: Planes, second: Planes, seen: Mask) -> float:
    """Correlation of the slopes of lightness."""
    slopes = [
        np.stack([cv2.Scharr(p[..., 0], cv2.CV_32F, *d)[seen] for d in ((1, 0), (0, 1))])
        for p in (first, second)
    ]
    power = float(np.sqrt((slopes[0] ** 2).sum() * (slopes[1] ** 2).sum()))
    return float((slopes[0] * slopes[1]).sum() / power) if power > 1e-6 else 0.0
