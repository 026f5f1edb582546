"""How alike two columns of ratings are: one small function a measure.

Each takes two equally long sequences, leaves out pairs in which either is missing (None or NaN),
and gives None, never NaN, where what is left does not define it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agent_judge.stats.intervals import Floats


def spearman(x: ArrayLike, y: ArrayLike) -> float | None:
    """Rank correlation, -1 to 1; ties share their mean rank. None when either is constant.

    Example:
        >>> spearman([1, 2, 2, 4], [1, 3, 3, 9])
        1.0
    """
    x, y = complete_pairs(x, y)
    return _correlation(_ranks(x), _ranks(y))


def pearson(x: ArrayLike, y: ArrayLike) -> float | None:
    """Linear correlation, -1 to 1. None when either is constant."""
    return _correlation(*complete_pairs(x, y))


def mean_absolute_error(x: ArrayLike, y: ArrayLike) -> float | None:
    """Mean of |x - y|, in the unit of the ratings."""
    x, y = complete_pairs(x, y)
    return float(np.abs(x - y).mean()) if len(x) else None


def bias(x: ArrayLike, y: ArrayLike) -> float | None:
    """Mean of x - y, in the unit of the ratings."""
    x, y = complete_pairs(x, y)
    return float((x - y).mean()) if len(x) else None


def share_within(x: ArrayLike, y: ArrayLike, *, distance: float) -> float | None:
    """Share of pairs with |x - y| <= distance, 0 to 1; distance 0 is exact agreement.

    Example:
        >>> share_within([1, 2, 4, 4], [1, 3, 4, 1], distance=1)
        0.75
    """
    x, y = complete_pairs(x, y)
    return float((np.abs(x - y) <= distance).mean()) if len(x) else None


def quadratic_kappa(x: ArrayLike, y: ArrayLike) -> float | None:
    """Cohen's kappa with quadratic weights: 1 is perfect, 0 is what chance gives.

    With these weights the table cancels out: kappa is one minus the mean squared difference over
    the one expected of independent columns, `var(x) + var(y) + (mean(x) - mean(y))**2`.

    Returns:
        At most 1; None when all values of both are the same.
    """
    x, y = complete_pairs(x, y)
    if not len(x) or np.ptp([*x, *y]) == 0:
        return None
    expected = x.var() + y.var() + (x.mean() - y.mean()) ** 2
    return float(1 - ((x - y) ** 2).mean() / expected)


def confusion_matrix(
    rows: ArrayLike, columns: ArrayLike, values: Sequence[float]
) -> tuple[tuple[int, ...], ...]:
    """Counts of pairs by value, `[row value][column value]` in the order of `values`.

    Pairs with a value that is not listed are left out.

    Example:
        >>> confusion_matrix([1, 1, 2], [1, 2, 2], values=(1, 2))
        ((1, 1), (0, 1))
    """
    x, y = complete_pairs(rows, columns)
    return tuple(tuple(int(((x == r) & (y == c)).sum()) for c in values) for r in values)


def complete_pairs(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """The pairs in which both values are there.

    Raises:
        ValueError: the sequences are not of one length.
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"expected two sequences of one length, got {a.shape} and {b.shape}")
    both: NDArray[np.bool_] = ~(np.isnan(a) | np.isnan(b))
    return a[both], b[both]


def _ranks(values: Floats) -> Floats:
    """Ranks from 1, ties at their mean rank."""
    # Ten times as fast as scipy's on the short columns that a bootstrap ranks thousands of times.
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[which]
    return ranks


def _correlation(x: Floats, y: Floats) -> float | None:
    if not len(x) or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    x, y = x - x.mean(), y - y.mean()
    # Rounding may carry a perfect correlation past 1.
    return float(np.clip(x @ y / np.sqrt((x @ x) * (y @ y)), -1, 1))
