"""How alike two columns of ratings are: one small function a measure.

Each measure exists once, for many resamples of the same pairs at a time: `x` and `y` of shape
(pairs,) and `weights` of shape (resamples, pairs), how often each pair comes, give shape
(resamples,), NaN where the pairs do not define it. `measure` takes one for plain columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agent_judge.stats.intervals import Floats, Weights

Measure = Callable[[Floats, Floats, Weights], Floats]


def measure(kind: Measure, x: ArrayLike, y: ArrayLike) -> float | None:
    """One measure of two columns; pairs with a missing value (None or NaN) are left out.

    Returns:
        None, never NaN, where what is left does not define it.

    Raises:
        ValueError: the columns are not of one length.

    Example:
        >>> measure(spearman, [1, 2, 2, 4], [1, 3, 3, 9])
        1.0
        >>> measure(pearson, [1, 2, None], [3, 3, 4]) is None
        True
    """
    x, y = complete_pairs(x, y)
    found = float(kind(x, y, np.ones((1, len(x))))[0])
    return None if np.isnan(found) else found


def pearson(x: Floats, y: Floats, weights: Weights) -> Floats:
    """Linear correlation, -1 to 1; undefined when either column is constant."""
    return _correlation(x, y, weights)


def spearman(x: Floats, y: Floats, weights: Weights) -> Floats:
    """Rank correlation, -1 to 1, ties at their mean rank; undefined when either is constant."""
    return _correlation(_ranks(x, weights), _ranks(y, weights), weights)


def mean_absolute_error(x: Floats, y: Floats, weights: Weights) -> Floats:
    """Mean of |x - y|, in the unit of the ratings."""
    return weighted_mean(np.abs(x - y), weights)


def bias(x: Floats, y: Floats, weights: Weights) -> Floats:
    """Mean of x - y, in the unit of the ratings."""
    return weighted_mean(x - y, weights)


def exact(x: Floats, y: Floats, weights: Weights) -> Floats:
    """Share of pairs with equal values, 0 to 1; `intervals.share_estimate` has its interval."""
    return weighted_mean((x == y).astype(np.float64), weights)


def quadratic_kappa(x: Floats, y: Floats, weights: Weights) -> Floats:
    """Cohen's kappa with quadratic weights: 1 is perfect, 0 is what chance gives.

    With these weights the table cancels out: kappa is one minus the mean squared difference over
    the one expected of independent columns, `var(x) + var(y) + (mean(x) - mean(y))**2`. Undefined
    when all values of both columns are the same.
    """
    mean_x, mean_y = weighted_mean(x, weights), weighted_mean(y, weights)
    spread_x = weighted_mean((x - mean_x[:, None]) ** 2, weights)
    spread_y = weighted_mean((y - mean_y[:, None]) ** 2, weights)
    expected = spread_x + spread_y + (mean_x - mean_y) ** 2
    one_value = _constant(np.concatenate([x, y]), np.concatenate([weights, weights], axis=-1))
    return 1 - _ratio(weighted_mean((x - y) ** 2, weights), np.where(one_value, np.nan, expected))


def weighted_mean(values: Floats, weights: Weights) -> Floats:
    """Mean over each resample; NaN where it is empty.

    Args:
        values: shape (rows,), or (resamples, rows) when they differ between resamples.
        weights: shape (resamples, rows).
    """
    return _ratio((values * weights).sum(axis=-1), weights.sum(axis=-1))


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
        ValueError: the columns are not of one length.
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"expected two sequences of one length, got {a.shape} and {b.shape}")
    both: NDArray[np.bool_] = ~(np.isnan(a) | np.isnan(b))
    return a[both], b[both]


def _ranks(values: Floats, weights: Weights) -> Floats:
    """The mean rank of each row's value among each resample, shape (resamples, rows)."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    up_to = np.cumsum(weights[:, order], axis=1)
    up_to = np.concatenate([np.zeros((len(weights), 1)), up_to], axis=1)
    first = np.searchsorted(ordered, values, side="left")
    behind = np.searchsorted(ordered, values, side="right")
    ranks: Floats = (up_to[:, first] + up_to[:, behind] + 1) / 2
    return ranks


def _correlation(x: Floats, y: Floats, weights: Weights) -> Floats:
    dx = x - weighted_mean(x, weights)[:, None]
    dy = y - weighted_mean(y, weights)[:, None]
    shared = (weights * dx * dy).sum(axis=-1)
    own = np.sqrt((weights * dx**2).sum(axis=-1) * (weights * dy**2).sum(axis=-1))
    undefined = _constant(x, weights) | _constant(y, weights)
    # Rounding may carry a perfect correlation past 1.
    return np.clip(_ratio(shared, np.where(undefined, np.nan, own)), -1, 1)


def _constant(values: Floats, weights: Weights) -> NDArray[np.bool_]:
    """Whether at most one value comes in each resample, told from the values, not their spread."""
    largest = np.where(weights > 0, values, -np.inf).max(axis=-1, initial=-np.inf)
    smallest = np.where(weights > 0, values, np.inf).min(axis=-1, initial=np.inf)
    constant: NDArray[np.bool_] = largest <= smallest
    return constant


def _ratio(above: Floats, below: Floats) -> Floats:
    """`above / below`, NaN where `below` is 0 or NaN."""
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)
