import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from scipy.stats import pearsonr

from agent_judge.judges.measuring.texture import (
    agreement,
    detail,
    direction_gap,
    edges_found,
    variation,
)
from agent_judge.records import Box
from tests.judges.measuring.staged import patterned

SIDE = 48
ALL = np.ones((SIDE, SIDE), bool)
INNER = np.zeros((SIDE, SIDE), bool)
INNER[8:-8, 8:-8] = True


def lab(lightness):
    planes = np.zeros((SIDE, SIDE, 3), np.float32)
    planes[..., 0] = lightness
    return planes


def noise(seed=0):
    return gaussian_filter(np.random.default_rng(seed).normal(50, 20, (SIDE, SIDE)), 1)


def pattern(name, cell_px=5, low=20.0, high=90.0):
    rgb = patterned(np.zeros((SIDE, SIDE, 3), np.uint8), name, Box(0, 0, SIDE, SIDE), cell_px)
    return lab(np.where(rgb[..., 0] > 128, high, low))


def test_agreement_is_the_correlation_of_softened_lightness():
    a, b = noise(), noise() * 0.5 + noise(1)
    soft = [gaussian_filter(p, 0.7)[8:-8, 8:-8].ravel() for p in (a, b)]
    assert agreement(lab(a), lab(b), INNER) == pytest.approx(pearsonr(*soft)[0], abs=0.02)


def test_agreement_ignores_gain_and_offset():
    assert agreement(lab(noise()), lab(noise() * 0.4 + 30), ALL) == pytest.approx(1, abs=1e-4)


def test_a_flat_part_agrees_with_nothing():
    assert agreement(lab(noise()), lab(50.0), ALL) == 0


def test_detail_of_a_ramp_is_its_slope():
    ramp = np.tile(np.arange(SIDE) * 1.5, (SIDE, 1))
    assert detail(lab(ramp), INNER) == pytest.approx(1.5, rel=1e-3)
    assert detail(lab(ramp.T), INNER) == pytest.approx(1.5, rel=1e-3)
    assert detail(lab(40.0), INNER) == pytest.approx(0, abs=1e-4)


def test_variation_is_the_spread_of_softened_lightness():
    wanted = gaussian_filter(noise(), 0.7)[8:-8, 8:-8].std()
    assert variation(lab(noise()), INNER) == pytest.approx(wanted, rel=0.02)


def test_all_edges_are_found_in_the_picture_itself_and_none_in_a_flat_one():
    picture = pattern("chequers")
    assert edges_found(picture, picture, INNER) == pytest.approx(1)
    assert edges_found(lab(50.0), picture, INNER) == pytest.approx(0, abs=1e-3)


def test_edges_elsewhere_are_not_found():
    moved = np.roll(pattern("bars", cell_px=8), 4, axis=1)
    assert edges_found(moved, pattern("bars", cell_px=8), INNER) < 0.1


@pytest.mark.parametrize(
    ("first", "second"), [("stripes", "bars"), ("stripes", "chequers"), ("bars", "chequers")]
)
def test_patterns_that_run_other_ways_are_apart(first, second):
    assert direction_gap(pattern(first), pattern(second), INNER) > 0.3


@pytest.mark.parametrize("name", ["stripes", "bars", "chequers"])
def test_scale_phase_and_tones_of_a_pattern_do_not_matter(name):
    other = np.roll(pattern(name, cell_px=7, low=35, high=70), (3, 2), axis=(0, 1))
    assert direction_gap(pattern(name), other, INNER) < 0.1


def test_the_gap_has_no_direction():
    a, b = pattern("stripes"), pattern("chequers")
    assert direction_gap(a, b, INNER) == pytest.approx(direction_gap(b, a, INNER))
    assert direction_gap(a, a, INNER) == 0
