"""Krippendorff's alpha for ordinal ratings: agreement of any number of raters beyond chance.

After Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011). DLEBench reports its
annotators' agreement by it (Table 2).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from agent_judge.stats.intervals import Floats


def krippendorff_alpha(ratings: ArrayLike) -> float | None:
    """Ordinal alpha: 1 is perfect agreement, 0 is what chance gives, below 0 is opposition.

    Args:
        ratings: values whose order alone counts, shape (items, raters); NaN where a rater gave
            none. Items with fewer than two ratings do not enter.

    Returns:
        At most 1; None where no item has two ratings or all of them are equal, since then nothing
        tells agreement from chance.

    Example:
        >>> krippendorff_alpha([[1, 1], [2, 2], [3, 3]])
        1.0
        >>> krippendorff_alpha([[2, 2], [2, 2]]) is None
        True
    """
    return alpha_of_counts(value_counts(ratings))


def value_counts(ratings: ArrayLike) -> Floats:
    """How many raters gave each value to each item, shape (items, values), values ascending.

    Args:
        ratings: shape (items, raters); NaN where a rater gave none.
    """
    table = np.asarray(ratings, dtype=np.float64)
    values = np.unique(table[~np.isnan(table)])
    counts: Floats = (table[:, :, None] == values).sum(axis=1).astype(np.float64)
    return counts


def alpha_of_counts(counts: Floats) -> float | None:
    """Ordinal alpha of a table from `value_counts`, or of a choice of its rows."""
    n_ratings = counts.sum(axis=1)
    paired = counts[n_ratings >= 2]
    # Each pair of ratings of an item counts 1 / (its ratings - 1), so every rating weighs the same.
    weighted = paired / (n_ratings[n_ratings >= 2] - 1)[:, None]
    coincidences = weighted.T @ paired - np.diag(weighted.sum(axis=0))
    totals = coincidences.sum(axis=1)
    distance = _ordinal_distance(totals)
    expected = float(totals @ distance @ totals)
    if expected == 0:
        return None
    observed = float((coincidences * distance).sum())
    return 1 - (float(totals.sum()) - 1) * observed / expected


def _ordinal_distance(totals: Floats) -> Floats:
    """Squared number of ratings between two values, each value counted half: a rank distance."""
    middle = np.cumsum(totals) - totals / 2
    distance: Floats = (middle[:, None] - middle) ** 2
    return distance
