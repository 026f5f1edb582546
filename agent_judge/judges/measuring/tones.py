"""The colours of a part of a crop, compared."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agent_judge.judges.measuring.align import Mask, Planes


def tones_of(lab: Planes, part: Mask) -> list[NDArray[np.float64]]:
    """The median colour of a part, and that of its lighter half: shadows hold little colour."""
    values = lab[part].astype(np.float64)
    light = values[values[:, 0] >= np.median(values[:, 0])]
    return [np.median(values, axis=0), np.median(light, axis=0)]


def nearest_tones(first: Planes, second: Planes, part: Mask) -> float:
    """Lab distance of two parts' colours: of their medians or of their lighter halves."""
    pairs = zip(tones_of(first, part), tones_of(second, part), strict=True)
    return min(float(np.linalg.norm(a - b)) for a, b in pairs)
