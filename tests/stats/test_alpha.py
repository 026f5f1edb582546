from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from agent_judge.stats.alpha import alpha_of_counts, krippendorff_alpha, value_counts

NAN = float("nan")

KRIPPENDORFF_2011 = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""
"""Four observers by twelve units; the paper gives ordinal alpha 0.815."""

HAYES_2007 = """
1 1 2 . 0 0 1 1 2 2 . 0 1 3 1 1 2 1 1 0 0 0 2 0 1 0 0 1 1 1 1 2 2 3 2 2 2 2 2 1
1 1 3 0 0 0 0 . 2 1 1 0 2 3 1 1 1 2 1 0 0 0 3 0 2 1 0 2 1 1 1 1 2 2 2 2 2 2 2 1
2 0 3 0 0 0 2 2 2 1 0 0 2 2 1 1 2 3 0 0 1 . 3 0 . 1 0 1 2 2 0 2 . 2 2 3 2 . 2 1
. 1 3 . . . . 0 . 1 0 0 2 2 . . . 3 1 . 1 0 3 0 2 1 1 2 2 . . 1 2 2 . . . 1 2 .
2 . . 0 0 0 1 . 2 . . . . 3 1 1 2 . . 0 . 0 . . 2 . 0 . . 2 0 . 2 . 2 2 2 2 . 1
"""
"""Five observers by forty articles, four ratings an article (Hayes and Krippendorff 2007, Table 1);
the paper gives ordinal alpha 0.7598."""


def table(text):
    """Items by raters, from a text of raters by items."""
    lines = [line.split() for line in text.strip().splitlines()]
    return np.array([[NAN if v == "." else float(v) for v in line] for line in lines]).T


def alpha_by_pairs(ratings):
    """Ordinal alpha straight from its words: every pair of ratings, one at a time."""
    items = [[v for v in item if not np.isnan(v)] for item in ratings]
    items = [item for item in items if len(item) > 1]
    pool = [v for item in items for v in item]

    def distance(a, b):
        low, high = min(a, b), max(a, b)
        between = sum(low <= v <= high for v in pool)
        return (between - (pool.count(a) + pool.count(b)) / 2) ** 2

    observed = sum(
        2 * distance(a, b) / (len(item) - 1) for item in items for a, b in combinations(item, 2)
    ) / len(pool)
    expected = sum(2 * distance(a, b) for a, b in combinations(pool, 2))
    return 1 - observed / (expected / (len(pool) * (len(pool) - 1)))


@pytest.mark.parametrize(
    ("text", "published", "digits"), [(KRIPPENDORFF_2011, 0.815, 3), (HAYES_2007, 0.7598, 4)]
)
def test_alpha_reproduces_published_examples_with_missing_ratings(text, published, digits):
    assert krippendorff_alpha(table(text)) == pytest.approx(published, abs=0.5 * 10**-digits)


@pytest.mark.parametrize("seed", range(4))
def test_alpha_agrees_with_its_definition_pair_by_pair(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 5, (25, 1))
    ratings = np.clip(truth + rng.integers(-1, 2, (25, 4)), 1, 4).astype(float)
    ratings[rng.random(ratings.shape) < 0.3] = NAN

    assert krippendorff_alpha(ratings) == pytest.approx(alpha_by_pairs(ratings))


def test_only_the_order_of_the_values_counts():
    ratings = table(KRIPPENDORFF_2011)

    assert krippendorff_alpha(ratings**3) == krippendorff_alpha(ratings)


def test_opposed_raters_are_worse_than_chance():
    # Observed disagreement 1, expected 4 * 4 of the 8 * 7 / 2 pairs: alpha = 1 - 1 / (16 / 28).
    assert krippendorff_alpha([[1, 4], [4, 1], [1, 4], [4, 1]]) == pytest.approx(-0.75)


@pytest.mark.parametrize(
    "ratings",
    [
        np.empty((0, 2)),
        [[3, 3], [3, 3]],
        [[1, NAN], [NAN, 4], [2, NAN]],
        [[NAN, NAN]],
        [[1], [2]],
    ],
    ids=["no items", "one value", "no item twice", "nothing", "one rater"],
)
def test_where_chance_cannot_be_told_alpha_is_none(ratings):
    assert krippendorff_alpha(ratings) is None


def test_a_weight_counts_as_so_many_copies_of_the_item():
    ratings = table(HAYES_2007)
    weights = np.random.default_rng(0).integers(0, 3, (5, len(ratings)))
    found = alpha_of_counts(value_counts(ratings), weights.astype(float))

    for times, value in zip(weights, found, strict=True):
        assert value == pytest.approx(krippendorff_alpha(ratings.repeat(times, axis=0)))
