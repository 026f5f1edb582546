from __future__ import annotations

import math
import random

import numpy as np
import pytest
import scipy.stats

from agent_judge.stats.intervals import Estimate
from agent_judge.stats.scale import scale_plot
from tests.stats.rows import record


def growing(n, level_of):
    """Rows whose targets grow, in a shuffled order."""
    rows = [
        record(
            level_of(i),
            id=f"r{i:03}",
            area_pct=0.01 * 1.2**i,
            target_boxes=((0, 0, 10 + i, 20 + i),),
        )
        for i in range(n)
    ]
    random.Random(0).shuffle(rows)
    return rows


def test_the_curve_is_a_window_of_ten_over_rows_sorted_by_area():
    levels = [1, 1, 2, 1, 3, 2, 2, 4, 3, 3, 4, 4, 3]
    found = scale_plot("IF", growing(13, levels.__getitem__), n_resamples=50)
    areas = np.log10([0.01 * 1.2**i / 100 for i in range(13)])

    assert [step.mean_level for step in found.curve] == pytest.approx(
        [np.mean(levels[i : i + 10]) for i in range(4)]
    )
    assert [step.log10_area for step in found.curve] == pytest.approx(
        [areas[i : i + 10].mean() for i in range(4)]
    )
    assert found.row_correlation.value == pytest.approx(
        scipy.stats.spearmanr(levels, areas).statistic
    )
    assert found.histogram == (3, 3, 4, 3)
    assert "over 13 rows" in found.sentence


def test_a_model_that_needs_large_targets_correlates_and_one_that_fails_anyway_does_not():
    rng = np.random.default_rng(0)
    steps = rng.integers(0, 2, 60)
    needs = scale_plot("IF", growing(60, lambda i: 1 + i // 20 + int(steps[i])), n_resamples=50)
    fails = scale_plot("IF", growing(60, lambda i: 1 + int(steps[i])), n_resamples=50)

    low, high = fails.row_correlation.low, fails.row_correlation.high
    assert needs.row_correlation.low is not None
    assert needs.row_correlation.low > 0.5
    assert low is not None
    assert high is not None
    assert low < 0 < high
    assert needs.curve_correlation == pytest.approx(1, abs=0.1)


def test_points_stand_at_the_smallest_target_relative_to_the_picture():
    row = record(2, area_pct=3.0, target_boxes=((0, 0, 100, 100), (5, 5, 15, 25)))
    found = scale_plot("IF", [row], {"a": (100, 200)})

    (point,) = found.points
    assert (point.id, point.level) == ("a", 2)
    assert point.log10_width == pytest.approx(math.log10(0.1))
    assert point.log10_height == pytest.approx(math.log10(0.1))


def test_rows_of_unknown_picture_size_are_on_the_curve_alone():
    found = scale_plot("IF", growing(12, lambda i: 1 + i % 4), {}, n_resamples=10)

    assert found.points == ()
    assert len(found.curve) == 3


def test_rows_without_level_box_or_criterion_do_not_count():
    rows = [record(3), record("refused", area_pct=1.0), record(3, criterion="VC", area_pct=1.0)]
    found = scale_plot("IF", rows)

    assert found.histogram == (0, 0, 0, 0)
    assert found.curve == ()
    assert found.curve_correlation is None
    assert found.row_correlation == Estimate(value=None)
    assert "no correlation in 0 rows" in found.sentence
