from __future__ import annotations

import numpy as np
import pytest

from agent_judge.stats.intervals import Clusters, Estimate, bootstrap, mean_estimate


def figures(values):
    return lambda rows: {"mean": float(values[rows].mean()), "max": float(values[rows].max())}


def clustered_sample(rng, *, n_clusters, size, mean=0.0):
    """Values whose clusters share a shift, so that rows carry less than they seem to."""
    shift = rng.normal(size=n_clusters).repeat(size)
    values = mean + shift + 0.5 * rng.normal(size=n_clusters * size)
    return values, np.arange(n_clusters).repeat(size).tolist()


def test_resampling_draws_whole_clusters_in_every_size():
    keys = ["a", "b", "a", "c", "b", "a"]
    clusters = Clusters.of(keys)
    members = {"a": {0, 2, 5}, "b": {1, 4}, "c": {3}}
    rng = np.random.default_rng(0)

    for _ in range(50):
        drawn = clusters.resample(rng).tolist()
        times = {key: [drawn.count(row) for row in rows] for key, rows in members.items()}
        assert all(len(set(counts)) == 1 for counts in times.values())
        assert sum(counts[0] for counts in times.values()) == 3


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    values = np.random.default_rng(1).normal(size=30)
    run = [
        bootstrap(figures(values), range(30), seed=seed, n_resamples=100)["mean"]
        for seed in (5, 5, 6)
    ]

    assert run[0] == run[1] != run[2]


@pytest.mark.parametrize(("n_clusters", "has_interval"), [(1, False), (5, False), (6, True)])
def test_an_interval_needs_six_clusters_however_many_rows(n_clusters, has_interval):
    values, keys = clustered_sample(np.random.default_rng(0), n_clusters=n_clusters, size=40)

    found = bootstrap(figures(values), keys, seed=0, n_resamples=50)["mean"]

    assert found.value == pytest.approx(values.mean())
    assert (found.low is not None) == has_interval


def test_no_spread_gives_no_interval_rather_than_one_of_no_width():
    found = bootstrap(figures(np.full(20, 3.0)), range(20), seed=0, n_resamples=50)

    assert found["mean"] == Estimate(value=3.0)


@pytest.mark.parametrize(("n_defined", "has_interval"), [(45, True), (44, False)])
def test_a_figure_that_many_resamples_leave_undefined_has_no_interval(n_defined, has_interval):
    calls = iter(range(1000))

    def statistics(_rows):
        call = next(calls)
        return {"x": float(call) if call <= n_defined else None}

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
    return lambda values, keys: bootstrap(
        lambda rows: {"mean": float(values[rows].mean())}, keys, seed=0, n_resamples=n_resamples
    )["mean"]


@pytest.mark.parametrize("n_clusters", [8, 40])
def test_the_robust_interval_of_a_clustered_mean_has_its_nominal_coverage(n_clusters):
    """1000 draws: the standard error of a coverage of 95 % is 0.7 points."""
    assert 0.925 <= coverage(robust, n_clusters=n_clusters, size=4, n_draws=1000) <= 0.975


def test_an_interval_that_takes_rows_for_independent_covers_far_too_little():
    rows_apart = coverage(
        lambda values, _: robust(values, range(len(values))), n_clusters=40, size=4, n_draws=300
    )

    assert rows_apart < 0.85


def test_the_bootstrap_interval_of_a_clustered_mean_has_its_nominal_coverage():
    """150 draws: the standard error of a coverage of 95 % is 1.8 points."""
    assert 0.9 <= coverage(resampled(150), n_clusters=40, size=4, n_draws=150) < 1


@pytest.mark.slow
@pytest.mark.parametrize("n_clusters", [12, 20, 100])
def test_the_bootstrap_interval_keeps_its_coverage_with_few_clusters(n_clusters):
    """400 draws: the standard error of a coverage of 95 % is 1.1 points."""
    assert 0.92 <= coverage(resampled(1000), n_clusters=n_clusters, size=3, n_draws=400) <= 0.98
