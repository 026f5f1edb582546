from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from agent_judge.stats.intervals import (
    Clusters,
    Estimate,
    bootstrap,
    mean_estimate,
    share_estimate,
)


def mean_of(values):
    return lambda weights: {"mean": weights @ values / weights.sum(axis=1)}


def clustered_sample(rng, *, n_clusters, size, mean=0.0):
    """Values whose clusters share a shift, so that rows carry less than they seem to."""
    shift = rng.normal(size=n_clusters).repeat(size)
    values = mean + shift + 0.5 * rng.normal(size=n_clusters * size)
    return values, np.arange(n_clusters).repeat(size).tolist()


def test_resampling_draws_as_many_whole_clusters_as_there_are():
    keys = ["a", "b", "a", "c", "b", "a"]
    (weights,) = Clusters.of(keys).resamples(500, seed=0)

    assert weights.shape == (500, 6)
    assert (weights[:, 0] == weights[:, 2]).all()
    assert (weights[:, 0] == weights[:, 5]).all()
    assert (weights[:, 1] == weights[:, 4]).all()
    assert (weights[:, [0, 1, 3]].sum(axis=1) == 3).all()
    # Each cluster comes once on average; the standard error of the mean is 0.04.
    assert weights[:, [0, 1, 3]].mean(axis=0) == pytest.approx([1, 1, 1], abs=0.15)


def test_many_rows_come_in_batches_that_add_up():
    sizes = [len(batch) for batch in Clusters.of(range(100_000)).resamples(5, seed=0)]

    assert sizes == [2, 2, 1]


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    values = np.random.default_rng(1).normal(size=30)
    run = [
        bootstrap(mean_of(values), range(30), seed=seed, n_resamples=100)["mean"]
        for seed in (5, 5, 6)
    ]

    assert run[0] == run[1] != run[2]


@pytest.mark.parametrize(("n_clusters", "has_interval"), [(1, False), (5, False), (6, True)])
def test_an_interval_needs_six_clusters_however_many_rows(n_clusters, has_interval):
    values, keys = clustered_sample(np.random.default_rng(0), n_clusters=n_clusters, size=40)

    found = bootstrap(mean_of(values), keys, seed=0, n_resamples=50)["mean"]

    assert found.value == pytest.approx(values.mean())
    assert (found.low is not None) == has_interval


def test_no_spread_gives_no_interval_rather_than_one_of_no_width():
    found = bootstrap(mean_of(np.full(20, 3.0)), range(20), seed=0, n_resamples=50)

    assert found["mean"] == Estimate(value=3.0)


@pytest.mark.parametrize(("n_defined", "has_interval"), [(45, True), (44, False)])
def test_a_figure_that_many_resamples_leave_undefined_has_no_interval(n_defined, has_interval):
    def statistics(weights):
        numbers = np.arange(len(weights), dtype=float)
        return {"x": np.where(numbers < n_defined, numbers, np.nan)}

    found = bootstrap(statistics, range(10), seed=0, n_resamples=50)["x"]

    assert found.value == 0.0
    assert (found.low is not None) == has_interval


def test_the_interval_of_a_mean_ends_at_its_limits():
    found = mean_estimate(np.array([20.0, -4, -4, -4, -4, -4]), 95.0, (0, 100))

    assert found.high == 100.0
    assert found.low is not None
    assert 0 < found.low < 95


def coverage(interval, *, n_clusters, size, n_draws):
    """Share of seeded draws whose interval for the mean holds the true mean, 0."""
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(n_draws):
        found = interval(*clustered_sample(rng, n_clusters=n_clusters, size=size))
        hits += found.low <= 0 <= found.high
    return hits / n_draws


def robust(values, keys):
    mean = float(values.mean())
    return mean_estimate(Clusters.of(keys).sums(values - mean) / len(values), mean, (-9, 9))


def resampled(n_resamples):
    return lambda values, keys: bootstrap(mean_of(values), keys, seed=0, n_resamples=n_resamples)[
        "mean"
    ]


@pytest.mark.parametrize("n_clusters", [8, 40])
def test_the_robust_interval_of_a_clustered_mean_has_its_nominal_coverage(n_clusters):
    """1000 draws: the standard error of a coverage of 95 % is 0.7 points."""
    assert 0.925 <= coverage(robust, n_clusters=n_clusters, size=4, n_draws=1000) <= 0.975


def test_an_interval_that_takes_rows_for_independent_covers_far_too_little():
    rows_apart = coverage(
        lambda values, _: robust(values, range(len(values))), n_clusters=40, size=4, n_draws=300
    )

    assert rows_apart < 0.85


@pytest.mark.parametrize("n_clusters", [12, 20, 60])
@pytest.mark.slow
def test_the_bootstrap_interval_of_a_clustered_mean_has_its_nominal_coverage(n_clusters):
    """400 draws: the standard error of a coverage of 95 % is 1.1 points."""
    assert 0.92 <= coverage(resampled(1000), n_clusters=n_clusters, size=3, n_draws=400) <= 0.98


@pytest.mark.parametrize("n_hits", [0, 3, 20])
def test_the_interval_of_a_share_of_single_rows_is_wilsons_with_the_t_quantile(n_hits):
    found = share_estimate(np.arange(20) < n_hits, range(20))
    # The two shares whose test statistic is the t quantile: the definition of Wilson's interval.
    grid = np.linspace(0, 1, 200_001)[1:-1]
    reach = scipy.stats.t.ppf(0.975, 19)
    inside = grid[abs(n_hits / 20 - grid) <= reach * np.sqrt(grid * (1 - grid) / 20)]

    assert (found.low, found.high) == pytest.approx((inside[0], inside[-1]), abs=1e-4)


@pytest.mark.parametrize(("share", "n_clusters"), [(0.6, 12), (0.95, 12), (0.95, 60)])
def test_the_interval_of_a_clustered_share_has_at_least_its_nominal_coverage(share, n_clusters):
    """1000 draws of three rows a cluster: the standard error of 95 % is 0.7 points."""
    rng = np.random.default_rng(3)
    keys = np.arange(n_clusters).repeat(3).tolist()
    hits = 0
    for _ in range(1000):
        own = rng.beta(2 * share, 2 * (1 - share), n_clusters).repeat(3)
        found = share_estimate(rng.random(len(own)) < own, keys)
        hits += found.low <= share <= found.high

    assert hits / 1000 >= 0.93


@pytest.mark.parametrize(("hits", "value"), [([], None), ([True, False], 0.5)])
def test_a_share_of_fewer_than_six_clusters_has_no_interval(hits, value):
    assert share_estimate(np.array(hits, dtype=bool), range(len(hits))) == Estimate(value=value)
