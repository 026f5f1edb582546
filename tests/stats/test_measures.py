from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from agent_judge.stats.measures import (
    bias,
    confusion_matrix,
    mean_absolute_error,
    pearson,
    quadratic_kappa,
    share_within,
    spearman,
)

NAN = float("nan")
ALL = (
    spearman,
    pearson,
    mean_absolute_error,
    bias,
    quadratic_kappa,
    lambda x, y: share_within(x, y, distance=1),
)


def levels(seed, n=60):
    rng = np.random.default_rng(seed)
    x = rng.integers(1, 5, n)
    return x, np.clip(x + rng.integers(-1, 3, n), 1, 4)


@pytest.mark.parametrize("seed", range(5))
def test_correlations_with_many_ties_agree_with_scipy(seed):
    x, y = levels(seed)

    assert spearman(x, y) == pytest.approx(scipy.stats.spearmanr(x, y).statistic)
    assert pearson(x, y) == pytest.approx(scipy.stats.pearsonr(x, y).statistic)


def test_correlations_of_continuous_values_agree_with_scipy():
    x, y = np.random.default_rng(0).normal(size=(2, 200))

    assert spearman(x, y) == pytest.approx(scipy.stats.spearmanr(x, y).statistic)
    assert pearson(x, y) == pytest.approx(scipy.stats.pearsonr(x, y).statistic)
    assert pearson(x, x * 7 - 3) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(5))
def test_quadratic_kappa_agrees_with_the_weighted_table_of_its_definition(seed):
    x, y = levels(seed)
    observed = np.array(confusion_matrix(x, y, values=(1, 2, 3, 4))) / len(x)
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0))
    weights = (np.arange(4)[:, None] - np.arange(4)) ** 2

    assert quadratic_kappa(x, y) == pytest.approx(
        1 - (weights * observed).sum() / (weights * expected).sum()
    )


def test_measures_agree_with_a_table_worked_by_hand():
    judge, human = [4, 3, 1, 2], [4, 1, 2, 2]

    assert mean_absolute_error(judge, human) == 0.75  # (0 + 2 + 1 + 0) / 4
    assert bias(judge, human) == 0.25  # (0 + 2 - 1 + 0) / 4: lenient
    assert share_within(judge, human, distance=0) == 0.5
    assert share_within(judge, human, distance=1) == 0.75
    # Squared differences 0 4 1 0; variances 1.25 and 1.1875, means 2.5 and 2.25.
    assert quadratic_kappa(judge, human) == pytest.approx(1 - 1.25 / (1.25 + 1.1875 + 0.0625))
    assert confusion_matrix(human, judge, values=(1, 2, 3, 4)) == (
        (0, 0, 1, 0),
        (1, 1, 0, 0),
        (0, 0, 0, 0),
        (0, 0, 0, 1),
    )


@pytest.mark.parametrize(
    ("x", "y", "defined"),
    [
        ([], [], ()),
        ([NAN, 2.0], [1.0, NAN], ()),
        ([None, None], [None, 3], ()),
        ([3], [3], ("mean_absolute_error", "bias", "<lambda>")),
        ([3], [1], ("mean_absolute_error", "bias", "quadratic_kappa", "<lambda>")),
        ([2, 2, 2], [2, 2, 2], ("mean_absolute_error", "bias", "<lambda>")),
        ([2, 2, 2], [1, 2, 4], ("mean_absolute_error", "bias", "quadratic_kappa", "<lambda>")),
        ([0.1] * 3, [1, 2, 4], ("mean_absolute_error", "bias", "quadratic_kappa", "<lambda>")),
    ],
    ids=["empty", "no pair", "none", "one equal", "one apart", "all equal", "constant", "tenths"],
)
def test_what_the_data_do_not_define_is_none_and_nothing_warns(x, y, defined):
    for measure in ALL:
        found = measure(x, y)
        assert (found is not None) == (measure.__name__ in defined)
        assert found is None or np.isfinite(found)


@pytest.mark.parametrize("measure", ALL)
def test_pairs_with_a_missing_value_are_left_out(measure):
    x, y = [1, None, 3, 4, 2], [2, 4, None, 4, 1]

    assert measure(x, y) == measure([1, 4, 2], [2, 4, 1])


@pytest.mark.parametrize("measure", ALL)
def test_columns_of_unequal_length_are_refused(measure):
    with pytest.raises(ValueError, match="one length"):
        measure([1, 2], [1, 2, 3])
