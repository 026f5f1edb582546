import numpy as np
import pytest

from agent_judge.metrics.pair import bands
from agent_judge.metrics.preservation import preservation
from tests.pictures import backdrop

NOTHING = np.zeros((240, 320), np.bool_)


def independent(source, edited, mask):
    """Whole pictures in float64, channel by channel."""
    red, green, blue = (
        (edited[..., c].astype(float) - source[..., c].astype(float)) ** 2 for c in range(3)
    )
    return -np.sqrt((red + green + blue) / 3)[~mask].mean() / 255


def in_uint8(source, edited):
    """What wraps around: the way of the published code."""
    with np.errstate(over="ignore"):
        return -np.sqrt(((edited - source) ** 2).mean(axis=2)).mean() / 255


def test_a_larger_uniform_shift_is_always_a_lower_score():
    black = np.zeros((9, 11, 3), np.uint8)
    nothing = np.zeros((9, 11), np.bool_)
    scores = [preservation(black, black + np.uint8(k), nothing) for k in range(256)]
    assert scores == pytest.approx([-k / 255 for k in range(256)], abs=1e-15)
    assert (np.diff(np.array(scores, float)) < 0).all()


@pytest.mark.parametrize("shift", [16, 32, 64, 128])
def test_shifts_that_uint8_takes_for_nothing_are_seen(shift):
    grey = np.full((8, 8, 3), 100, np.uint8)
    for source, edited in ((grey, grey + np.uint8(shift)), (grey + np.uint8(shift), grey)):
        assert in_uint8(source, edited) == 0
        assert preservation(source, edited, np.zeros((8, 8), bool)) == pytest.approx(-shift / 255)


@pytest.mark.parametrize("size_wh", [(320, 240), (1, 1), (7, 900), (900, 7), (1600, 1000)])
def test_score_equals_an_independent_computation(size_wh):
    rng = np.random.default_rng(1)
    source, edited = (
        rng.integers(0, 256, (size_wh[1], size_wh[0], 3), dtype=np.uint8) for _ in range(2)
    )
    mask = rng.random(size_wh[::-1]) < 0.3
    mask[0, 0] = False
    assert preservation(source, edited, mask) == pytest.approx(independent(source, edited, mask))


def test_only_what_lies_outside_the_region_counts():
    source = backdrop()
    edited = source.copy()
    edited[40:80, 100:160] = 255 - edited[40:80, 100:160]
    region = NOTHING.copy()
    region[40:80, 100:160] = True
    assert preservation(source, edited, region) == 0
    expected = independent(source, edited, ~region)
    assert expected < -0.1
    assert preservation(source, edited, ~region) == pytest.approx(expected)


def test_nothing_outside_the_region_has_no_score():
    assert preservation(backdrop(), backdrop(seed=1), ~NOTHING) is None


def test_scores_span_minus_one_to_zero():
    black = np.zeros((240, 320, 3), np.uint8)
    assert preservation(black, ~black, NOTHING) == -1
    assert preservation(black, black, NOTHING) == 0


def test_inputs_are_left_as_they_were():
    source, edited, mask = backdrop(), backdrop(seed=1), NOTHING.copy()
    copies = [a.copy() for a in (source, edited, mask)]
    preservation(source, edited, mask)
    assert all(np.array_equal(a, b) for a, b in zip((source, edited, mask), copies, strict=True))


@pytest.mark.parametrize(
    ("source", "edited", "mask", "told"),
    [
        (np.zeros((2, 2, 3)), np.zeros((2, 2, 3), np.uint8), np.zeros((2, 2), bool), "source must"),
        (np.zeros((2, 2, 3), np.uint8), np.zeros((2, 2), np.uint8), np.zeros((2, 2), bool), "edit"),
        (np.zeros((2, 2, 3), np.uint8), np.zeros((2, 3, 3), np.uint8), None, "one frame"),
        (np.zeros((0, 2, 3), np.uint8), np.zeros((0, 2, 3), np.uint8), None, "source must be"),
        *(
            (
                np.zeros((2, 2, 3), np.uint8),
                np.zeros((2, 2, 3), np.uint8),
                mask,
                "mask must be bool",
            )
            for mask in (
                np.zeros((2, 2), np.uint8),
                np.zeros((2, 2, 1), bool),
                np.zeros((2, 3), bool),
            )
        ),
    ],
)
def test_pictures_and_masks_that_do_not_fit_are_refused(source, edited, mask, told):
    mask = np.zeros(source.shape[:2], bool) if mask is None else mask
    with pytest.raises(ValueError, match=told):
        preservation(source, edited, mask)


@pytest.mark.parametrize(("height", "width"), [(1, 1), (64, 10), (7813, 64), (9000, 13333)])
def test_bands_cover_every_row_once_and_none_is_thin(height, width):
    found = list(bands(height, width))
    assert [row for band in found for row in range(band.start, band.stop)] == list(range(height))
    assert min(band.stop - band.start for band in found) >= min(height, 32)
