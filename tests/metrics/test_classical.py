import json
import math

import numpy as np
import pytest
from skimage import data
from skimage.metrics import mean_squared_error, peak_signal_noise_ratio, structural_similarity

from agent_judge.metrics.classical import classical
from agent_judge.metrics.masks import box_mask
from agent_judge.records import Box
from tests.pictures import backdrop


def pair(height=96, width=128):
    source = data.astronaut()[:height, :width]
    noise = np.random.default_rng(0).normal(0, 12, source.shape)
    edited = np.clip(source + noise, 0, 255).astype(np.uint8)
    edited[30:50, 40:70] = (200, 30, 30)
    return source, edited


TARGET = box_mask([Box(40, 30, 70, 50)], (128, 96))


def test_figures_of_the_whole_picture_equal_scikit_image():
    source, edited = pair()
    found = classical(source, edited, TARGET).whole
    a, b = source / 255, edited / 255
    assert found.l1 == pytest.approx(np.abs(a - b).mean())
    assert found.l2 == pytest.approx(mean_squared_error(a, b))
    assert found.psnr == pytest.approx(peak_signal_noise_ratio(source, edited))
    assert found.ssim == pytest.approx(structural_similarity(source, edited, channel_axis=2))


def test_figures_of_a_region_equal_those_of_its_pixels():
    source, edited = pair()
    found = classical(source, edited, TARGET)
    _, similar = structural_similarity(source, edited, channel_axis=2, full=True)
    for measures, mask in ((found.inside, TARGET), (found.outside, ~TARGET)):
        a, b = source[mask] / 255, edited[mask] / 255
        assert measures is not None
        assert measures.l1 == pytest.approx(np.abs(a - b).mean())
        assert measures.l2 == pytest.approx(((a - b) ** 2).mean())
        assert measures.psnr == pytest.approx(10 * math.log10(1 / ((a - b) ** 2).mean()))
        assert measures.ssim == pytest.approx(similar[mask].mean())


def test_bands_give_what_the_whole_picture_gives():
    """Large enough for several bands; a mask that cuts through them."""
    rng = np.random.default_rng(2)
    source = rng.integers(0, 256, (1100, 900, 3), dtype=np.uint8)
    edited = np.where(rng.random(source.shape) < 0.1, 255 - source, source)
    target = rng.random(source.shape[:2]) < 0.2
    found = classical(source, edited, target)
    mean, similar = structural_similarity(source, edited, channel_axis=2, full=True)
    assert found.inside is not None
    assert found.outside is not None
    expected = (mean, similar[target].mean(), similar[~target].mean())
    assert (found.whole.ssim, found.inside.ssim, found.outside.ssim) == pytest.approx(
        expected, abs=1e-9
    )
    difference = (source.astype(float) - edited) / 255
    assert found.inside.l2 == pytest.approx((difference[target] ** 2).mean())


def test_hand_computed_pixels():
    source = np.zeros((1, 2, 3), np.uint8)
    edited = np.array([[[255, 0, 0], [51, 51, 51]]], np.uint8)
    target = np.array([[True, False]])
    found = classical(source, edited, target)
    assert found.inside is not None
    assert found.outside is not None
    assert (found.inside.l1, found.inside.l2) == pytest.approx((1 / 3, 1 / 3))
    assert (found.outside.l1, found.outside.l2) == pytest.approx((0.2, 0.04))
    assert found.outside.psnr == pytest.approx(10 * math.log10(25))
    assert found.whole.l1 == pytest.approx((1 / 3 + 0.2) / 2)


def test_identical_region_has_no_psnr_and_an_l2_of_zero():
    source, edited = pair()
    edited = np.where(TARGET[..., None], edited, source)
    outside = classical(source, edited, TARGET).outside
    assert outside is not None
    assert (outside.l1, outside.l2, outside.psnr) == (0, 0, None)
    assert classical(source, source, None).whole.ssim == pytest.approx(1)


@pytest.mark.parametrize("size_wh", [(6, 40), (40, 6), (1, 1)])
def test_pictures_smaller_than_the_window_have_no_ssim(size_wh):
    source, edited = backdrop(size_wh), backdrop(size_wh, seed=1)
    whole = classical(source, edited, None).whole
    assert whole.ssim is None
    assert whole.l1 > 0


def test_smallest_picture_with_an_ssim_equals_scikit_image():
    source, edited = backdrop((7, 7)), backdrop((7, 7), seed=1)
    expected = structural_similarity(source, edited, channel_axis=2)
    assert classical(source, edited, None).whole.ssim == pytest.approx(expected)


@pytest.mark.parametrize(
    ("target", "inside", "outside"),
    [
        (None, False, False),
        (np.zeros((96, 128), bool), False, True),
        (~TARGET | TARGET, True, False),
    ],
)
def test_region_that_is_not_there_has_no_figures(target, inside, outside):
    source, edited = pair()
    found = classical(source, edited, target)
    assert (found.inside is not None, found.outside is not None) == (inside, outside)


def test_columns_are_flat_and_fit_into_json():
    source, _ = pair()
    columns = classical(source, source, None).columns()
    names = ("l1", "l2", "psnr", "ssim")
    assert list(columns) == [f"{n}{where}" for where in ("", "_inside", "_outside") for n in names]
    assert json.loads(json.dumps(columns, allow_nan=False)) == columns
    assert columns["l1_inside"] is None


def test_swapped_pictures_have_the_same_figures():
    source, edited = pair()
    assert classical(source, edited, TARGET).columns() == pytest.approx(
        classical(edited, source, TARGET).columns()
    )


def test_shapes_that_do_not_fit_are_refused():
    source, edited = pair()
    with pytest.raises(ValueError, match="one frame"):
        classical(source, edited[:-1], None)
    with pytest.raises(ValueError, match="mask must be bool"):
        classical(source, edited, TARGET[:-1])
