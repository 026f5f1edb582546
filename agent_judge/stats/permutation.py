"""Could a paired difference be chance? The sign-flip permutation test, by clusters."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agent_judge.stats.intervals import ROUNDING, Clusters, Floats

_BATCH = 256
"""Flip patterns at a time: bounds the memory at 256 numbers a cluster."""


def sign_flip_p_value(
    differences: ArrayLike,
    clusters: Sequence[Hashable],
    *,
    seed: int,
    n_flips: int = 9999,
) -> float | None:
    """Two-sided p of no difference: how often random signs give a mean as far from 0 as this one.

    Were both sides alike, swapping them within a cluster would change nothing but the sign of its
    differences. All patterns of signs are tried when they are no more than `n_flips`, else so many
    random ones, of which the observed pattern is one more.

    Args:
        differences: one a pair, shape (pairs,).
        clusters: the cluster of each pair; pairs of one cluster flip together.
        seed: of the random patterns.
        n_flips: how many patterns at most.

    Returns:
        0 to 1; None without pairs.

    Example:
        >>> sign_flip_p_value([1, 1, 1, 2, 1, 1], range(6), seed=0)
        0.03125
    """
    members = Clusters.of(clusters)
    if not members.n:
        return None
    sums = members.sums(np.asarray(differences, dtype=np.float64))
    # Rounding must not break the tie between a pattern and its equals.
    reach = float(abs(sums.sum()) - ROUNDING * np.abs(sums).sum())
    n_patterns: int = 2**members.n
    if n_patterns <= n_flips:
        every = np.arange(n_patterns)[:, None] >> np.arange(members.n) & 1
        return _n_as_far(every, sums, reach) / n_patterns
    rng = np.random.default_rng(seed)
    hits, left = 1, n_flips
    while left:
        batch = min(_BATCH, left)
        hits += _n_as_far(rng.integers(2, size=(batch, members.n), dtype=np.int8), sums, reach)
        left -= batch
    return hits / (n_flips + 1)


def _n_as_far(flipped: NDArray[np.integer], sums: Floats, reach: float) -> int:
    return int((np.abs((1 - 2 * flipped) @ sums) >= reach).sum())
