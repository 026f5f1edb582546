"""How sure a figure is: intervals that know which rows belong together.

Rows made from one source picture are not independent (one hard picture drags all its edits down),
so whole clusters are resampled, never rows. Both kinds of interval here are 95 % and silent (None)
where the data cannot carry one: too few clusters, or no spread at all.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
"""Row numbers, shape (n,)."""

CONFIDENCE = 0.95
MIN_CLUSTERS = 6
"""With fewer clusters even the range from smallest to largest misses the middle more than once in
twenty: 2 * 0.5**n <= 0.05 needs n >= 6."""
MIN_DEFINED_SHARE = 0.9
"""Where fewer resamples define the figure than this share, those that do are a biased picture."""

ROUNDING = 1e-9
"""A spread up to this is the arithmetic's, not the data's."""


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
    statistics: Callable[[Rows], Mapping[str, float | None]],
    clusters: Sequence[Hashable],
    *,
    seed: int,
    n_resamples: int = 1000,
) -> dict[str, Estimate]:
    """Figures over all rows, with expanded percentile intervals from resampled clusters.

    The percentiles are widened for few clusters as Hesterberg (2015, section 4) proposes: a plain
    percentile interval is too short by about the factor sqrt((n - 1) / n) times the ratio of the
    normal to the t quantile.

    Args:
        statistics: named figures over the given rows; a row may come several times.
        clusters: the cluster of each row, shape (n,).
        seed: of the resampling.
        n_resamples: how many times to resample.

    Returns:
        One estimate for each name that `statistics` gives on all rows.
    """
    figures = statistics(np.arange(len(clusters)))
    members = Clusters.of(clusters)
    if members.n < MIN_CLUSTERS:
        return {name: Estimate(value=value) for name, value in figures.items()}
    rng = np.random.default_rng(seed)
    drawn = [statistics(members.resample(rng)) for _ in range(n_resamples)]
    return {
        name: _percentile_estimate(value, [figure[name] for figure in drawn], members.n)
        for name, value in figures.items()
    }


@dataclass(frozen=True)
class Clusters:
    """Which rows belong together."""

    index: Rows
    """The cluster number of each row, from 0."""
    _order: Rows
    _starts: Rows
    _sizes: Rows

    @classmethod
    def of(cls, keys: Sequence[Hashable]) -> Clusters:
        """Clusters by equal key, numbered in the order of first sight."""
        numbers: dict[Hashable, int] = {}
        index = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)
        sizes = np.bincount(index, minlength=len(numbers))
        return cls(index, np.argsort(index, kind="stable"), np.cumsum(sizes) - sizes, sizes)

    @property
    def n(self) -> int:
        """How many clusters there are."""
        return len(self._sizes)

    def sums(self, values: Floats) -> Floats:
        """The sum of `values` (one a row) over each cluster, shape (n clusters,)."""
        sums: Floats = np.zeros(self.n)
        np.add.at(sums, self.index, values)
        return sums

    def resample(self, rng: np.random.Generator) -> Rows:
        """The rows of as many clusters as there are, drawn with replacement."""
        picks = rng.integers(self.n, size=self.n)
        sizes = self._sizes[picks]
        ends = np.cumsum(sizes)
        # Row i of the result is the (i - first row of its pick)-th member of that pick.
        first = np.repeat(self._starts[picks] - (ends - sizes), sizes)
        return self._order[first + np.arange(len(first))]


def _percentile_estimate(
    value: float | None, drawn: Sequence[float | None], n_clusters: int
) -> Estimate:
    known = np.array([figure for figure in drawn if figure is not None])
    if value is None or len(known) < MIN_DEFINED_SHARE * len(drawn) or np.ptp(known) <= ROUNDING:
        return Estimate(value=value)
    # The tail whose normal quantile is the t quantile of n - 1 degrees, scaled for the missing 1.
    reach = t_quantile(n_clusters - 1) * np.sqrt(n_clusters / (n_clusters - 1))
    tail = float(special.ndtr(-reach))
    low, high = np.quantile(known, [tail, 1 - tail])
    return Estimate(value=value, low=float(low), high=float(high))


def t_quantile(degrees: int, tail: float = (1 - CONFIDENCE) / 2) -> float:
    """The t value that is exceeded with probability `tail`.

    Example:
        >>> round(t_quantile(10), 3)
        2.228
    """
    return float(special.stdtrit(degrees, 1 - tail))


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
