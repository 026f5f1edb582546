from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from agent_judge.stats.power import samples_needed


@pytest.mark.parametrize(
    ("effect", "published"), [(0.2, 199), (0.5, 34), (0.8, 15)], ids=["small", "medium", "large"]
)
def test_numbers_of_pairs_are_those_of_the_published_tables(effect, published):
    """Cohen's three effects at 80 % power and 5 %, as G*Power prints them for a paired t test."""
    assert samples_needed(100 * effect, 100) == published


def test_the_number_of_pairs_has_its_power_in_a_simulation():
    """2000 draws: the standard error of 90 % is 0.7 points."""
    n = samples_needed(-20, 40, power_01=0.9)
    assert n is not None
    draws = np.random.default_rng(0).normal(20, 40, (2000, n))

    assert 0.87 <= (scipy.stats.ttest_1samp(draws, 0, axis=1).pvalue <= 0.05).mean() <= 0.93


@pytest.mark.parametrize(("difference", "sd", "n"), [(0, 40, None), (5, 0, None), (1000, 1, 2)])
def test_edges(difference, sd, n):
    assert samples_needed(difference, sd) == n
