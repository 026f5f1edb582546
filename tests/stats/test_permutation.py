from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.stats

from agent_judge.stats.permutation import sign_flip_p_value


@pytest.mark.parametrize("seed", range(3))
def test_the_exact_test_agrees_with_scipys(seed):
    values = np.random.default_rng(seed).integers(-3, 5, 10).astype(float)
    theirs = scipy.stats.permutation_test(
        (values,),
        lambda x, axis: x.mean(axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
    )

    assert sign_flip_p_value(values, range(10), seed=0) == pytest.approx(theirs.pvalue)


def test_the_random_test_comes_near_the_exact_one():
    values = np.random.default_rng(1).normal(0.4, 1, 12)
    exact = sign_flip_p_value(values, range(12), seed=0)
    drawn = sign_flip_p_value(values, range(12), seed=0, n_flips=4000)
    assert exact is not None

    # 4 standard errors of a share of 4000.
    assert drawn == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 4000))
    assert drawn != exact


def test_pairs_of_one_cluster_flip_together():
    values, clusters = [1, 2, -1, 3, 1, 1, 2], list("aabbccd")
    sums = [3, 2, 2, 2]
    as_far = [abs(np.dot(signs, sums)) >= 9 for signs in product((1, -1), repeat=4)]

    assert sign_flip_p_value(values, clusters, seed=0) == np.mean(as_far)


def test_a_random_test_never_gives_zero_and_repeats_with_its_seed():
    values = [1.0] * 40
    p = sign_flip_p_value(values, range(40), seed=3, n_flips=99)

    assert p == 0.01
    assert p == sign_flip_p_value(values, range(40), seed=3, n_flips=99)


@pytest.mark.parametrize(
    ("values", "p"), [([], None), ([0, 0, 0], 1.0), ([2], 1.0), ([0.1, 0.2, -0.3], 1.0)]
)
def test_edges(values, p):
    assert sign_flip_p_value(values, range(len(values)), seed=0) == p


def test_without_a_difference_the_test_is_wrong_as_often_as_it_says():
    """500 null draws at 5 %: the standard error is 1 point."""
    rng = np.random.default_rng(5)
    draws = rng.choice([-2, -1, 0, 0, 0, 1, 2], size=(500, 12))
    found = [sign_flip_p_value(draw, range(12), seed=0) for draw in draws]

    assert 0.01 <= np.mean([p is not None and p <= 0.05 for p in found]) <= 0.08
