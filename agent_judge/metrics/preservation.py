"""How much of what was not to be edited stayed as it was (BPM's S_preserve)."""

from __future__ import annotations

import numpy as np

from agent_judge.images import RGB
from agent_judge.metrics.pair import Mask, bands, check_pair

_WHITE = 255


def preservation(source: RGB, edited: RGB, edited_region: Mask) -> float | None:
    """Minus the mean root-mean-square distance of the pixels outside the edited region.

    `-mean(sqrt(mean over channels of d^2)) / 255` over the pixels that are left in. The published
    code takes `d` in uint8, where it wraps around: a shift by 16, 32, 64 or 128 grey levels has a
    square of 0 there and scores as perfect preservation. Here `d` is a signed number, so that a
    larger shift is always a lower score.

    Args:
        source: uint8 RGB, shape (H, W, 3).
        edited: the same frame, shape (H, W, 3).
        edited_region: bool, shape (H, W); True is left out.

    Returns:
        -1 (black became white everywhere) to 0 (nothing changed); None where the region covers the
        whole picture, so that there is nothing to preserve.

    Raises:
        ValueError: shapes or types do not fit.

    Example:
        >>> grey = np.full((2, 2, 3), 100, np.uint8)
        >>> preservation(grey, grey + np.uint8(51), np.zeros((2, 2), bool))
        -0.2
    """
    check_pair(source, edited, edited_region)
    total, count = 0.0, 0
    for rows in bands(*edited_region.shape):
        kept = ~edited_region[rows]
        difference = edited[rows][kept].astype(np.int32) - source[rows][kept]
        total += float(np.sqrt((difference**2).sum(axis=1) / 3).sum())
        count += len(difference)
    return 0.0 - total / count / _WHITE if count else None  # no negative zero
