import numpy as np
import pytest

from agent_judge.judges.measuring.tones import nearest_tones, tones_of

ALL = np.ones((4, 4), bool)


def planes(lightness, a=0.0, b=0.0):
    lab = np.zeros((4, 4, 3), np.float32)
    lab[..., 0], lab[..., 1], lab[..., 2] = np.reshape(lightness, (4, 4)), a, b
    return lab


def test_tones_are_the_median_and_that_of_the_lighter_half():
    lab = planes(np.arange(16))
    median, light = tones_of(lab, ALL)
    assert median[0] == np.median(np.arange(16))
    assert light[0] == np.median(np.arange(8, 16))


def test_only_the_part_counts():
    lab = planes(np.arange(16))
    part = np.zeros((4, 4), bool)
    part[0] = True
    assert tones_of(lab, part)[0][0] == 1.5


def test_two_patches_are_as_near_as_their_nearest_tones():
    dark_half = planes([10] * 8 + [60] * 8)
    even = planes([60] * 16)
    assert nearest_tones(dark_half, even, ALL) == 0
    apart = planes([60] * 16, a=3, b=4)
    assert nearest_tones(even, apart, ALL) == pytest.approx(5)
