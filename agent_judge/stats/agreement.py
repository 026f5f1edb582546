"""Can the judge be believed? How its levels agree with those of people.

No single figure answers that (closeness of means is not ranking, and ranking is not closeness), so
rank correlation, error, bias, hit rates, kappa and alpha always come together. Each has an interval
clustered by source picture: a bootstrap, for the two shares Wilson's. Bias is judge minus human:
above 0 the judge is lenient.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from agent_judge.levels import Scale
from agent_judge.stats.alpha import alpha_of_counts, value_counts
from agent_judge.stats.intervals import Estimate, Floats, Weights, bootstrap, share_estimate
from agent_judge.stats.measures import (
    bias,
    confusion_matrix,
    mean_absolute_error,
    measure,
    pearson,
    quadratic_kappa,
    spearman,
)

_LADDER = Scale(1, 4)
_UNDEFINED = Estimate(value=None)


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How a judge agrees with people over the items that both have rated.

    The fields from `mae` on are undefined when people rated on another scale than the judge.
    """

    n: int
    """Items with a judge's value and at least one rater's."""
    n_clusters: int
    """Source pictures among them."""
    n_raters: int
    """People who rated at least one of them."""
    spearman: Estimate
    """Rank correlation with the raters' mean."""
    pearson: Estimate
    """Linear correlation with the raters' mean."""
    human_alpha: Estimate
    """Ordinal Krippendorff alpha of the raters alone: what people reach among themselves."""
    human_spearman: float | None
    """Mean rank correlation over pairs of raters: the same, without an interval."""
    mae: Estimate = _UNDEFINED
    """Mean absolute difference to the raters' mean, in levels."""
    bias: Estimate = _UNDEFINED
    """Mean of judge minus raters' mean, in levels."""
    exact: Estimate = _UNDEFINED
    """Share of items at the raters' median level, 0 to 1."""
    within_one: Estimate = _UNDEFINED
    """Share of items at most one level from the raters' median, 0 to 1."""
    kappa: Estimate = _UNDEFINED
    """Cohen's kappa with quadratic weights against the raters' median."""
    alpha: Estimate = _UNDEFINED
    """Ordinal Krippendorff alpha with the judge as one more rater."""
    confusion: tuple[tuple[int, ...], ...] = ()
    """Items by the raters' median level (row) and the judge's level (column), worst first; empty
    where levels are no whole numbers."""


def agreement(
    judge: ArrayLike,
    humans: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    scale: Scale = _LADDER,
    same_scale: bool = True,
    seed: int = 0,
    n_resamples: int = 1000,
) -> Agreement:
    """How a judge's values agree with people's.

    Args:
        judge: one value an item, shape (items,); NaN or None where it gave none.
        humans: shape (items, raters), or (items,) for one rater; NaN or None for no rating.
        clusters: what items of one source picture share, shape (items,); None: nothing is shared.
        scale: the judge's levels.
        same_scale: whether people used the same. Without it, and for levels that are no whole
            numbers, only what survives a change of scale is given: the correlations and the
            raters' own agreement.
        seed: of the intervals.
        n_resamples: of the intervals.

    Raises:
        ValueError: the shapes do not fit.
    """
    judged, rated = _table(judge, humans)
    keys = list(range(len(judged)) if clusters is None else clusters)
    if len(keys) != len(judged):
        raise ValueError(f"expected one cluster for each of {len(judged)} items, got {len(keys)}")
    same_scale = same_scale and scale.whole
    usable = ~np.isnan(judged) & ~np.isnan(rated).all(axis=1)
    judged, rated = judged[usable], rated[usable]
    keys = [key for key, use in zip(keys, usable, strict=True) if use]
    figures = bootstrap(
        _figures(judged, rated, same_scale=same_scale), keys, seed=seed, n_resamples=n_resamples
    )
    return Agreement(
        n=len(judged),
        n_clusters=len(set(keys)),
        n_raters=int((~np.isnan(rated)).any(axis=0).sum()),
        human_spearman=rater_spearman(rated),
        **figures,
        **(_hits(judged, median_level(rated), keys) if same_scale else {}),
        confusion=confusion_matrix(median_level(rated), judged, scale.levels) if same_scale else (),
    )


def median_level(ratings: ArrayLike) -> Floats:
    """The raters' median of each item; an even split goes to the lower level.

    Args:
        ratings: levels, shape (items, raters); NaN for no rating, at least one an item.

    Example:
        >>> median_level([[1, 4, 4], [2, 3, float("nan")]]).tolist()
        [4.0, 2.0]
    """
    median: Floats = np.floor(np.nanmedian(np.asarray(ratings, dtype=np.float64), axis=1))
    return median


def rater_spearman(ratings: ArrayLike) -> float | None:
    """Mean rank correlation over the pairs of raters that have one.

    Args:
        ratings: shape (items, raters); NaN for no rating.
    """
    columns = np.asarray(ratings, dtype=np.float64).T
    found = [measure(spearman, a, b) for a, b in combinations(columns, 2)]
    defined = [figure for figure in found if figure is not None]
    return sum(defined) / len(defined) if defined else None


def _table(judge: ArrayLike, humans: ArrayLike) -> tuple[Floats, Floats]:
    judged = np.asarray(judge, dtype=np.float64)
    rated = np.asarray(humans, dtype=np.float64)
    rated = rated[:, None] if rated.ndim == 1 else rated
    if judged.ndim != 1 or rated.ndim != 2 or len(judged) != len(rated):
        raise ValueError(
            f"expected shapes (items,) and (items, raters), got {judged.shape} and {rated.shape}"
        )
    return judged, rated


def _hits(judged: Floats, median: Floats, clusters: Sequence[Hashable]) -> dict[str, Estimate]:
    return {
        "exact": share_estimate(judged == median, clusters),
        "within_one": share_estimate(np.abs(judged - median) <= 1, clusters),
    }


def _figures(
    judged: Floats, rated: Floats, *, same_scale: bool
) -> Callable[[Weights], dict[str, Floats]]:
    mean, median = np.nanmean(rated, axis=1), median_level(rated)
    with_judge = value_counts(np.column_stack([judged, rated]))
    humans_only = value_counts(rated)

    def any_scale(weights: Weights) -> dict[str, Floats]:
        return {
            "spearman": spearman(judged, mean, weights),
            "pearson": pearson(judged, mean, weights),
            "human_alpha": alpha_of_counts(humans_only, weights),
        }

    def levels(weights: Weights) -> dict[str, Floats]:
        return {
            **any_scale(weights),
            "mae": mean_absolute_error(judged, mean, weights),
            "bias": bias(judged, mean, weights),
            "kappa": quadratic_kappa(judged, median, weights),
            "alpha": alpha_of_counts(with_judge, weights),
        }

    return levels if same_scale else any_scale
