from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from agent_judge.stats.measures import (
    bias,
    confusion_matrix,
    exact,
    mean_absolute_error,
    measure,
    pearson,
    quadratic_kappa,
    spearman,
    weighted_mean,
)

NAN = float("nan")
ALL = (spearman, pearson, mean_absolute_error, bias, exact, quadratic_kappa)
SPREAD_FREE = {"mean_absolute_error", "bias", "exact"}
"""Measures that a constant column does not leave undefined."""


def levels(seed, n=60):
    rng = np.random.default_rng(seed)
    x = rng.integers(1, 5, n)
    return x, np.clip(x + rng.integers(-1, 3, n), 1, 4)


@pytest.mark.parametrize("seed", range(5))
def test_correlations_with_many_ties_agree_with_scipy(seed):
    x, y = levels(seed)

    assert measure(spearman, x, y) == pytest.approx(scipy.stats.spearmanr(x, y).statistic)
    assert measure(pearson, x, y) == pytest.approx(scipy.stats.pearsonr(x, y).statistic)


def test_correlations_of_continuous_values_agree_with_scipy():
    x, y = np.random.default_rng(0).normal(size=(2, 200))

    assert measure(spearman, x, y) == pytest.approx(scipy.stats.spearmanr(x, y).statistic)
    assert measure(pearson, x, y) == pytest.approx(scipy.stats.pearsonr(x, y).statistic)
    assert measure(pearson, x, x * 7 - 3) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(5))
def test_quadratic_kappa_agrees_with_the_weighted_table_of_its_definition(seed):
    x, y = levels(seed)
    observed = np.array(confusion_matrix(x, y, values=(1, 2, 3, 4))) / len(x)
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0))
    weights = (np.arange(4)[:, None] - np.arange(4)) ** 2

    assert measure(quadratic_kappa, x, y) == pytest.approx(
        1 - (weights * observed).sum() / (weights * expected).sum()
    )


def test_measures_agree_with_a_table_worked_by_hand():
    judge, human = [4, 3, 1, 2], [4, 1, 2, 2]

    assert measure(mean_absolute_error, judge, human) == 0.75  # (0 + 2 + 1 + 0) / 4
    assert measure(bias, judge, human) == 0.25  # (0 + 2 - 1 + 0) / 4: lenient
    assert measure(exact, judge, human) == 0.5
    # Squared differences 0 4 1 0; variances 1.25 and 1.1875, means 2.5 and 2.25.
    assert measure(quadratic_kappa, judge, human) == pytest.approx(
        1 - 1.25 / (1.25 + 1.1875 + 0.0625)
    )
    assert confusion_matrix(human, judge, values=(1, 2, 3, 4)) == (
        (0, 0, 1, 0),
        (1, 1, 0, 0),
        (0, 0, 0, 0),
        (0, 0, 0, 1),
    )


@pytest.mark.parametrize(
    ("x", "y", "defined"),
    [
        ([], [], set()),
        ([NAN, 2.0], [1.0, NAN], set()),
        ([None, None], [None, 3], set()),
        ([3], [3], SPREAD_FREE),
        ([3], [1], SPREAD_FREE | {"quadratic_kappa"}),
        ([2, 2, 2], [2, 2, 2], SPREAD_FREE),
        ([2, 2, 2], [1, 2, 4], SPREAD_FREE | {"quadratic_kappa"}),
        ([0.1] * 3, [0.1] * 3, SPREAD_FREE),
        ([0.1] * 3, [1, 2, 4], SPREAD_FREE | {"quadratic_kappa"}),
    ],
    ids=["empty", "no pair", "none", "equal", "apart", "twos", "constant", "tenths", "a tenth"],
)
def test_what_the_data_do_not_define_is_none_and_nothing_warns(x, y, defined):
    for kind in ALL:
        found = measure(kind, x, y)
        assert (found is not None) == (kind.__name__ in defined)
        assert found is None or np.isfinite(found)


@pytest.mark.parametrize("kind", ALL)
def test_pairs_with_a_missing_value_are_left_out(kind):
    x, y = [1, NAN, 3, 4, 2], [2, 4, NAN, 4, 1]

    assert measure(kind, x, y) == measure(kind, [1, 4, 2], [2, 4, 1])


@pytest.mark.parametrize("kind", ALL)
def test_columns_of_unequal_length_are_refused(kind):
    with pytest.raises(ValueError, match="one length"):
        measure(kind, [1, 2], [1, 2, 3])


@pytest.mark.parametrize("kind", ALL)
def test_a_weight_counts_as_so_many_copies_of_the_pair(kind):
    x, y = (column.astype(float) for column in levels(0, n=12))
    weights = np.random.default_rng(0).integers(0, 4, (6, 12))
    found = kind(x, y, weights.astype(float))

    for times, value in zip(weights, found, strict=True):
        assert value == pytest.approx(measure(kind, x.repeat(times), y.repeat(times)))


@pytest.mark.parametrize("kind", ALL)
def test_a_resample_without_spread_or_rows_is_nan_beside_one_that_has_both(kind):
    weights = np.array([[2.0, 0, 0], [0, 0, 0], [1, 1, 1]])
    found = kind(np.array([1.0, 2, 4]), np.array([1.0, 1, 3]), weights)

    assert np.isnan(found[0]) == (kind.__name__ not in SPREAD_FREE)
    assert np.isnan(found[1])
    assert np.isfinite(found[2])


def test_a_mean_may_have_its_own_values_in_each_resample():
    found = weighted_mean(np.array([[1.0, 2], [5, 7]]), np.array([[1.0, 3], [1, 0]]))

    assert found.tolist() == [1.75, 5.0]
