"""Rank correlation of columns with people and with the judge, against scipy."""

import pytest
from scipy import stats

from agent_judge.stats.ratings import HumanRating, rated_records
from agent_judge.stats.tracking import tracking
from tests.stats.rows import rows

LEVELS = [4, 3, 3, 1, 2, 4]
PEOPLE = [4, 4, 2, 1, 1, 3]
FIGURES = [0.1, 0.2, 0.4, 0.9, 0.8, None]


def rated():
    records = rows(LEVELS)
    ratings = [
        HumanRating(by="p", criterion="IF", value=value, id=record.id)
        for record, value in zip(records, PEOPLE, strict=True)
    ]
    return rated_records(records, ratings)


def test_each_column_is_correlated_over_the_rows_that_have_it():
    columns = {f"r{i}": {"l1": value, "flat": 1.0} for i, value in enumerate(FIGURES)}
    l1, flat = tracking(rated(), columns)
    assert (l1.mode, l1.criterion, l1.column, l1.n) == ("tool", "IF", "l1", 5)
    assert l1.with_people == pytest.approx(stats.spearmanr(FIGURES[:5], PEOPLE[:5]).statistic)
    assert l1.with_judge == pytest.approx(stats.spearmanr(FIGURES[:5], LEVELS[:5]).statistic)
    assert (flat.with_people, flat.with_judge) == (None, None)


def test_a_column_without_a_figure_has_no_correlation():
    [one] = tracking(rated(), {f"r{i}": {"psnr": None} for i in range(6)})
    assert (one.n, one.with_people, one.with_judge) == (0, None, None)
