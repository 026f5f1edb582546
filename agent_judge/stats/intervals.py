"""How sure a figure is: intervals that know which rows belong together.

Rows made from one source picture are not independent (one hard picture drags all its edits down),
so clusters are what counts, never rows. Every interval here is a 95 % one and silent (None) where
the data cannot carry it: too few clusters, or no spread to resample.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Weights = NDArray[np.float64]
"""How often each row comes in each resample, shape (resamples, rows)."""

CONFIDENCE = 0.95
MIN_CLUSTERS = 6
"""With fewer clusters even the range from smallest to largest misses the middle more than once in
twenty: 2 * 0.5**n <= 0.05 needs n >= 6."""
MIN_DEFINED_SHARE = 0.9
"""Where fewer resamples define the figure than this share, those that do are a biased picture."""

ROUNDING = 1e-9
"""A spread up to this is the arithmetic's, not the data's."""
_BATCH_CELLS = 2**18
"""Resamples times rows at a time: what the processor's cache holds."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A figure with its 95 % interval."""

    value: float | None
    """None where the data do not define it (nothing to compare, no spread to correlate)."""
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        if self.value is None:
            return "n/a"
        if self.low is None or self.high is None:
            return f"{self.value:.3f}"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def bootstrap(
    statistics: Callable[[Weights], Mapping[str, Floats]],
    clusters: Sequence[Hashable],
    *,
    seed: int,
    n_resamples: int = 1000,
) -> dict[str, Estimate]:
    """Figures over all rows, with expanded percentile intervals from resampled clusters.

    The percentiles are widened for few clusters as Hesterberg (2015) proposes: a plain
    percentile interval is too short by about the factor sqrt((n - 1) / n) times the ratio of the
    normal to the t quantile.

    Args:
        statistics: named figures for each resample, shape (resamples,), NaN where undefined, from
            how often each row comes in it, shape (resamples, rows).
        clusters: the cluster of each row, shape (rows,).
        seed: of the resampling.
        n_resamples: how many times to resample.

    Returns:
        One estimate for each name that `statistics` gives.
    """
    members = Clusters.of(clusters)
    figures = {
        name: None if np.isnan(value[0]) else float(value[0])
        for name, value in statistics(np.ones((1, len(clusters)))).items()
    }
    if members.n < MIN_CLUSTERS:
        return {name: Estimate(value=value) for name, value in figures.items()}
    drawn = [statistics(weights) for weights in members.resamples(n_resamples, seed)]
    return {
        name: _percentile_estimate(value, np.concatenate([d[name] for d in drawn]), members.n)
        for name, value in figures.items()
    }


@dataclass(frozen=True)
class Clusters:
    """Which rows belong together."""

    index: NDArray[np.intp]
    """The cluster number of each row, from 0."""
    n: int
    """How many clusters there are."""

    @classmethod
    def of(cls, keys: Sequence[Hashable]) -> Clusters:
        """Clusters by equal key, numbered in the order of first sight."""
        numbers: dict[Hashable, int] = {}
        index = [numbers.setdefault(key, len(numbers)) for key in keys]
        return cls(np.array(index, dtype=np.intp), len(numbers))

    def sums(self, values: Floats) -> Floats:
        """The sum of `values` (one a row) over each cluster, shape (n,)."""
        sums: Floats = np.bincount(self.index, weights=values, minlength=self.n).astype(np.float64)
        return sums

    def resamples(self, n_resamples: int, seed: int) -> Iterator[Weights]:
        """How often each row comes when n clusters are drawn with replacement, batch by batch."""
        rng = np.random.default_rng(seed)
        left = n_resamples
        while left:
            batch = min(left, max(1, _BATCH_CELLS // max(1, len(self.index))))
            # One count of all picks of the batch: pick c of resample b has the number b * n + c.
            picks = rng.integers(self.n, size=(batch, self.n)) + self.n * np.arange(batch)[:, None]
            times = np.bincount(picks.ravel(), minlength=batch * self.n).reshape(batch, self.n)
            yield times[:, self.index].astype(np.float64)
            left -= batch


def _percentile_estimate(value: float | None, drawn: Floats, n_clusters: int) -> Estimate:
    known = drawn[~np.isnan(drawn)]
    if value is None or len(known) < MIN_DEFINED_SHARE * len(drawn) or np.ptp(known) <= ROUNDING:
        return Estimate(value=value)
    # The tail whose normal quantile is the t quantile of n - 1 degrees, scaled for the missing 1.
    reach = t_quantile(n_clusters - 1) * math.sqrt(n_clusters / (n_clusters - 1))
    tail = NormalDist().cdf(-reach)
    low, high = np.quantile(known, [tail, 1 - tail])
    return Estimate(value=value, low=float(low), high=float(high))


def t_quantile(degrees: int) -> float:
    """The t value beyond which, on both sides together, lies what the intervals leave out.

    Example:
        >>> round(t_quantile(10), 3)
        2.228
    """
    from scipy import special  # takes half a second, which only who needs an interval waits for

    return float(special.stdtrit(degrees, (1 + CONFIDENCE) / 2))


def standard_error(influences: Floats) -> float | None:
    """Cluster-robust standard error of a figure; None for a single cluster.

    Args:
        influences: for each cluster how far it moves the figure, shape (n clusters,). For a mean
            over N rows that is `(sum of the cluster's values - its rows * mean) / N`.
    """
    n = len(influences)
    return float(np.sqrt(n / (n - 1) * np.sum(influences**2))) if n > 1 else None


def mean_estimate(influences: Floats, value: float | None, limits: tuple[float, float]) -> Estimate:
    """A mean, or a combination of means, with its cluster-robust t interval.

    Args:
        influences: for each cluster how far it moves the figure, as for `standard_error`.
        value: the figure; None where the rows do not define it.
        limits: smallest and largest value that the figure can take; the interval ends there.
    """
    error = standard_error(influences) if len(influences) >= MIN_CLUSTERS else None
    if value is None or error is None or error <= ROUNDING * (limits[1] - limits[0]):
        return Estimate(value=value)
    reach = t_quantile(len(influences) - 1) * error
    return Estimate(
        value=value, low=max(limits[0], value - reach), high=min(limits[1], value + reach)
    )


def share_estimate(hits: NDArray[np.bool_], clusters: Sequence[Hashable]) -> Estimate:
    """A share of rows with its interval: Wilson's, for as many rows as the clusters are worth.

    A bootstrap of a share near 0 or 1 is far too short, and has no length at all where every row is
    a hit. Here the rows count for as many independent ones as would leave the share as unsure as
    its cluster-robust standard error says (Korn and Graubard 1998), never fewer than the clusters.

    Args:
        hits: whether each row counts, shape (rows,).
        clusters: the cluster of each row, shape (rows,).

    Example:
        >>> str(share_estimate(np.array([True] * 20), range(20)))
        '1.000 [0.820, 1.000]'
    """
    members, n_rows = Clusters.of(clusters), len(hits)
    if members.n < MIN_CLUSTERS:
        return Estimate(value=float(hits.mean()) if n_rows else None)
    share = float(hits.mean())
    off: Floats = hits.astype(np.float64) - share
    error = standard_error(members.sums(off) / n_rows) or 0.0
    n = share * (1 - share) / error**2 if error > ROUNDING else members.n
    n = min(max(n, members.n), n_rows)
    t2 = t_quantile(members.n - 1) ** 2
    middle = (share + t2 / (2 * n)) / (1 + t2 / n)
    reach = math.sqrt(t2 * (share * (1 - share) / n + t2 / (4 * n**2))) / (1 + t2 / n)
    return Estimate(value=share, low=max(0.0, middle - reach), high=min(1.0, middle + reach))
