"""The parts of the difference tool that are formulas, against independent ones."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from skimage import data
from skimage.color import rgb2gray
from skimage.metrics import structural_similarity

from agent_judge.tools.noise_floor import ordinary, rare
from agent_judge.tools.planes import local_contrast, smooth
from agent_judge.tools.remarks import grid_period
from agent_judge.tools.residual import Tone, explain, fit_tone


def photo_pair():
    first = (rgb2gray(data.astronaut()) * 255).astype(np.float32)
    rng = np.random.default_rng(0)
    second = gaussian_filter(first, 0.8) * 0.9 + 10 + rng.normal(0, 4, first.shape)
    second[200:230, 200:240] = 60
    return first, second.astype(np.float32)


def test_smoothing_is_a_gaussian_cut_off_at_three_sigma():
    plane = np.random.default_rng(0).normal(0, 10, (60, 80)).astype(np.float32)
    wanted = gaussian_filter(plane.astype(np.float64), 2.0, mode="mirror", truncate=3.0)
    np.testing.assert_allclose(smooth(plane, 2.0), wanted, atol=1e-4)


def test_the_structure_term_is_that_of_ssim():
    first, second = photo_pair()
    sigma, c1, c2 = 1.5, (0.01 * 255) ** 2, (0.03 * 255) ** 2
    loss = local_contrast(first - second, sigma) ** 2
    sizes = local_contrast(first, sigma) ** 2 + local_contrast(second, sigma) ** 2
    _, ssim = structural_similarity(
        first.astype(np.float64),
        second.astype(np.float64),
        data_range=255,
        gaussian_weights=True,
        sigma=sigma,
        use_sample_covariance=False,
        full=True,
    )
    # skimage's window ends at 3.5 sigma, ours at 3: means and contrasts differ by about 1 %.
    means = [gaussian_filter(p.astype(np.float64), sigma, truncate=3.5) for p in (first, second)]
    luminance = (2 * means[0] * means[1] + c1) / (means[0] ** 2 + means[1] ** 2 + c1)
    inner = np.s_[8:-8, 8:-8]
    np.testing.assert_allclose(
        (1 - loss / (sizes + c2))[inner], (ssim / luminance)[inner], atol=0.04
    )


def test_contrast_at_half_size_still_counts_the_finest_detail():
    checks = (np.indices((40, 40)).sum(axis=0) % 2 * 20).astype(np.float32)
    np.testing.assert_allclose(local_contrast(checks, 1.0, (20, 20)), 10, atol=0.01)


def test_the_ordinary_difference_follows_contrast_and_forgets_an_edit():
    rng = np.random.default_rng(0)
    contrast = rng.uniform(0, 30, (300, 300)).astype(np.float32)
    size = np.abs(rng.normal(0, 1, contrast.shape) * (2 + 0.2 * contrast)).astype(np.float32)
    seen = np.ones(size.shape, bool)
    clear = ordinary(size, (contrast,), seen)
    size[:90, :100] += 100
    edited = ordinary(size, (contrast,), seen)
    # The mean of |x| is 0.8 of the deviation; cutting at three medians takes a few per cent off.
    np.testing.assert_allclose(clear, 0.8 * (2 + 0.2 * contrast), rtol=0.12)
    np.testing.assert_allclose(edited, clear, rtol=0.3)


@pytest.mark.parametrize("tail", ["light", "heavy"])
def test_the_rare_level_lies_where_the_largest_of_harmless_pixels_lies(tail):
    largest, foreseen = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        draw = rng.normal if tail == "light" else rng.laplace
        ratio = np.abs(draw(0, 1, (320, 400))).astype(np.float32)
        largest.append(ratio.max())
        foreseen.append(rare(ratio, np.ones(ratio.shape, bool), 0.0))
    assert np.mean(foreseen) == pytest.approx(np.mean(largest), rel=0.1)


def test_an_edit_of_a_tenth_hardly_moves_the_rare_level():
    ratio = np.abs(np.random.default_rng(0).normal(0, 1, (320, 400))).astype(np.float32)
    seen = np.ones(ratio.shape, bool)
    before = rare(ratio, seen, 0.0)
    ratio[:100, :128] += 50
    assert rare(ratio, seen, 0.0) < 1.5 * before


def test_a_picture_too_small_to_tell_takes_the_given_level():
    ratio = np.ones((20, 20), np.float32)
    assert rare(ratio, np.ones(ratio.shape, bool), 5.0) == 5.0


def test_tone_is_measured_beside_an_edit():
    source = data.coffee()
    edited = source.astype(np.float64) * (1.05, 0.95, 1.0) + (4, -3, 6)
    edited[100:200, 200:340] = (20, 230, 20)
    edited = np.clip(np.round(edited), 0, 255).astype(np.uint8)
    tone = fit_tone(source, edited, np.ones(source.shape[:2], bool))
    np.testing.assert_allclose(tone.gain, (1.05, 0.95, 1.0), atol=0.01)
    np.testing.assert_allclose(tone.offset, (4, -3, 6), atol=1.0)


def test_the_inverse_tone_leads_back():
    tone = Tone(gain=(1.1, 0.9, 1.0), offset=(5.0, -4.0, 0.5))
    levels = np.arange(40, 200, dtype=np.float64)
    for gain, offset, back, left in zip(
        tone.gain, tone.offset, tone.inverse().gain, tone.inverse().offset, strict=True
    ):
        np.testing.assert_allclose((levels * gain + offset) * back + left, levels)


def test_softening_a_picture_leaves_hardly_a_remainder():
    source = data.astronaut()
    soft = np.dstack([gaussian_filter(source[..., c], 0.9) for c in range(3)]).astype(np.uint8)
    rest = explain(source, soft, np.ones(source.shape[:2], bool))
    assert np.sqrt(np.mean(rest.luma**2)) < 1.0
    assert rest.sharpness < 0.7


def test_a_slow_tint_is_no_remainder_but_a_large_change_is():
    source = data.coffee()
    waves = 8 * np.sin(np.indices(source.shape[:2])[1] / 40)[..., None]
    tinted = np.clip(source + waves, 0, 255)
    tinted[100:300, 100:300] += 40
    rest = explain(
        source, np.clip(tinted, 0, 255).astype(np.uint8), np.ones(source.shape[:2], bool)
    )
    assert np.abs(rest.luma[320:, :]).mean() < 1.5
    assert np.median(rest.luma[150:250, 150:250]) > 25


@pytest.mark.parametrize(("period", "told"), [(2, 2), (4, 4), (8, 8), (16, 16), (7, None)])
def test_a_grid_is_told_by_its_period(period, told):
    rest = np.random.default_rng(0).normal(0, 1, (256, 320)).astype(np.float32)
    rest[:, ::period] += 2
    assert grid_period(rest) == told


def test_noise_is_no_grid():
    rest = np.random.default_rng(1).normal(0, 3, (256, 320)).astype(np.float32)
    assert grid_period(rest) is None
