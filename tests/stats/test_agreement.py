from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from agent_judge.stats.agreement import agreement, median_level, rater_spearman
from agent_judge.stats.alpha import krippendorff_alpha
from agent_judge.stats.intervals import Estimate
from agent_judge.stats.measures import measure, quadratic_kappa, spearman

NAN = float("nan")


def ratings(seed=0, n=40, n_raters=3):
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 5, n)
    people = np.clip(truth[:, None] + rng.integers(-1, 2, (n, n_raters)), 1, 4).astype(float)
    return np.clip(truth + rng.integers(-1, 2, n), 1, 4).astype(float), people


def test_each_figure_is_the_measure_on_the_raters_mean_or_median():
    judge, people = ratings()
    found = agreement(judge, people, n_resamples=50)
    mean, median = people.mean(axis=1), np.median(people, axis=1)

    assert found.spearman.value == pytest.approx(measure(spearman, judge, mean))
    assert found.bias.value == pytest.approx((judge - mean).mean())
    assert found.mae.value == pytest.approx(abs(judge - mean).mean())
    assert found.exact.value == pytest.approx((judge == median).mean())
    assert found.within_one.value == pytest.approx((abs(judge - median) <= 1).mean())
    assert found.kappa.value == pytest.approx(measure(quadratic_kappa, judge, median))
    assert found.alpha.value == pytest.approx(krippendorff_alpha(np.column_stack([judge, people])))
    assert found.human_alpha.value == pytest.approx(krippendorff_alpha(people))
    assert np.sum(found.confusion) == found.n == 40
    assert found.confusion[0][3] == ((median == 1) & (judge == 4)).sum()


def test_items_without_judge_or_without_any_rater_do_not_count():
    judge, people = ratings(n=12)
    judge[0], people[1, :], people[2, 0] = NAN, NAN, NAN
    found = agreement(judge, people, clusters=list("aabbccddeeff"), n_resamples=50)
    whole = agreement(judge[2:], people[2:], clusters=list("bbccddeeff"), n_resamples=50)

    assert (found.n, found.n_clusters, found.n_raters) == (10, 5, 3)
    assert found == whole


def test_clusters_of_copies_leave_the_interval_as_wide_as_without_the_copies():
    judge, people = ratings(n=30)
    once = agreement(judge, people, clusters=range(30), n_resamples=200)
    thrice = agreement(
        np.repeat(judge, 3),
        np.repeat(people, 3, axis=0),
        clusters=np.repeat(range(30), 3).tolist(),
        n_resamples=200,
    )

    assert thrice.n == 90
    assert astuple(thrice.spearman) == pytest.approx(astuple(once.spearman))


def test_on_another_scale_only_what_survives_a_change_of_scale_is_given():
    judge, people = ratings()
    found = agreement(judge, people / 4, same_scale=False, n_resamples=50)

    assert found.spearman == agreement(judge, people, n_resamples=50).spearman
    for estimate in (found.mae, found.bias, found.exact, found.within_one, found.kappa):
        assert estimate == Estimate(value=None)
    assert found.confusion == ()


@pytest.mark.parametrize(
    ("judge", "people"),
    [
        ([], np.empty((0, 2))),
        ([], np.empty((0, 0))),
        ([None, None], [[1], [2]]),
        ([3], [[4]]),
        ([2] * 8, [[2]] * 8),
        ([2] * 8, [[NAN]] * 8),
    ],
    ids=["empty", "no raters", "no judge", "one item", "constant", "no ratings"],
)
def test_degenerate_tables_give_none_without_a_warning(judge, people):
    found = agreement(judge, people, n_resamples=20)

    assert found.spearman == found.pearson == found.human_alpha == Estimate(value=None)
    assert found.human_spearman is None
    for estimate in (found.mae, found.exact, found.kappa, found.alpha):
        assert estimate.value is None or np.isfinite(estimate.value)


def test_an_even_split_of_raters_goes_to_the_lower_level():
    assert median_level([[1, 2], [1, 4], [4, 4]]).tolist() == [1, 2, 4]


def test_rater_correlation_is_the_mean_over_pairs_that_have_one():
    people = np.array([[1, 1, 2], [2, 2, 2], [3, 4, 2], [4, 3, 2]], dtype=float)

    assert rater_spearman(people) == pytest.approx(measure(spearman, people[:, 0], people[:, 1]))
    assert rater_spearman(people[:, :1]) is None


@pytest.mark.parametrize(
    ("judge", "people", "clusters"),
    [([1, 2], [[1]], None), ([1, 2], [[[1]], [[2]]], None), ([1, 2], [1, 2], ["a"])],
)
def test_shapes_that_do_not_fit_are_refused(judge, people, clusters):
    with pytest.raises(ValueError, match="expected"):
        agreement(judge, people, clusters=clusters)


@pytest.mark.slow
def test_agreement_intervals_have_their_nominal_coverage():
    """120 draws of 24 pictures with 3 edits each: the standard error of 95 % is 2 points."""

    def draw(rng, n_pictures):
        shared = rng.normal(size=n_pictures).repeat(3)
        truth = 0.7 * shared + 0.7 * rng.normal(size=len(shared))
        cuts = [-0.8, 0, 0.8]
        seen = [np.digitize(truth + 0.5 * rng.normal(size=len(shared)), cuts) + 1 for _ in "jab"]
        return seen[0], np.column_stack(seen[1:])

    names = ("spearman", "mae", "bias", "exact", "within_one", "kappa", "alpha")
    truth = agreement(*draw(np.random.default_rng(0), 20_000), n_resamples=1)
    rng = np.random.default_rng(1)
    hits = dict.fromkeys(names, 0)
    for _ in range(120):
        judge, people = draw(rng, 24)
        found = agreement(judge, people, clusters=np.arange(24).repeat(3).tolist(), n_resamples=250)
        for name in names:
            estimate = getattr(found, name)
            hits[name] += estimate.low <= getattr(truth, name).value <= estimate.high

    assert all(hit / 120 >= 0.88 for hit in hits.values()), hits
