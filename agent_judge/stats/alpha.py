"""Krippendorff's alpha for ordinal ratings: agreement of any number of raters beyond chance.

After Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011). DLEBench reports its
annotators' agreement by it (Table 2).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from agent_judge.stats.intervals import Floats, Weights


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
    counts = value_counts(ratings)
    found = float(alpha_of_counts(counts, np.ones((1, len(counts))))[0])
    return None if np.isnan(found) else found


def value_counts(ratings: ArrayLike) -> Floats:
    """How many raters gave each value to each item, shape (items, values), values ascending.

    Args:
        ratings: shape (items, raters); NaN where a rater gave none.
    """
    table = np.asarray(ratings, dtype=np.float64)
    values = np.unique(table[~np.isnan(table)])
    counts: Floats = (table[:, :, None] == values).sum(axis=1).astype(np.float64)
    return counts


def alpha_of_counts(counts: Floats, weights: Weights) -> Floats:
    """Ordinal alpha of each resample of the items; NaN where it is undefined.

    Args:
        counts: from `value_counts`, shape (items, values).
        weights: how often each item comes, shape (resamples, items).
    """
    n_ratings = counts.sum(axis=1, keepdims=True)
    paired = np.where(n_ratings >= 2, counts, 0)
    # Each pair of ratings of an item counts 1 / (its ratings - 1), so every rating weighs the same.
    share = paired / np.maximum(n_ratings - 1, 1)
    drawn = np.swapaxes(weights[:, :, None] * share, 1, 2)
    coincidences = drawn @ paired
    diagonal = np.arange(counts.shape[1])
    coincidences[:, diagonal, diagonal] -= drawn.sum(axis=2)
    totals = coincidences.sum(axis=2)
    distance = _ordinal_distance(totals)
    observed = (coincidences * distance).sum(axis=(1, 2))
    expected = (totals[:, :, None] * totals[:, None, :] * distance).sum(axis=(1, 2))
    undefined = np.full_like(expected, np.nan)
    ratio = np.divide(observed, expected, out=undefined, where=expected > 0)
    alpha: Floats = 1 - (totals.sum(axis=1) - 1) * ratio
    return alpha


def _ordinal_distance(totals: Floats) -> Floats:
    """Squared number of ratings between two values, each value counted half: a rank distance."""
    middle = np.cumsum(totals, axis=1) - totals / 2
    distance: Floats = (middle[:, :, None] - middle[:, None, :]) ** 2
    return distance
