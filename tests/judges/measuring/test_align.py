import cv2
import numpy as np
import pytest
from scipy import ndimage

from agent_judge.judges.measuring.align import align, softened, softening_px, tone
from tests.judges.measuring.staged import GREEN, RED, disc, photograph

PHOTO = photograph((160, 120))
ALL = np.ones(PHOTO.shape[:2], bool)
INNER = np.zeros_like(ALL)
INNER[12:-12, 12:-12] = True


def toned(pixels, gain, offset):
    return np.clip(pixels * np.array(gain) + np.array(offset), 0, 255).astype(np.uint8)


def far(planes, other):
    return float(np.abs(planes - other.astype(float))[INNER].mean())


def test_a_tone_is_found_channel_by_channel():
    gains, offsets = tone(PHOTO.astype(np.float32), toned(PHOTO, (0.9, 1.0, 1.1), (5, -4, 0)), ALL)
    assert gains == pytest.approx([0.9, 1.0, 1.1], abs=0.02)
    assert offsets == pytest.approx([5, -4, 0], abs=2)


def test_a_third_of_other_pixels_does_not_bend_the_tone():
    other = toned(PHOTO, (0.9,) * 3, (8,) * 3)
    other[:40] = photograph((160, 40), at=(0, 300))
    gains, offsets = tone(PHOTO.astype(np.float32), other, ALL)
    assert gains == pytest.approx([0.9] * 3, abs=0.03)
    assert offsets == pytest.approx([8] * 3, abs=3)


def test_a_flat_part_tells_an_offset_and_no_gain():
    flat = np.full((20, 20, 3), 100, np.float32)
    gains, offsets = tone(flat, flat + 6, np.ones((20, 20), bool))
    assert gains == pytest.approx([1] * 3)
    assert offsets == pytest.approx([6] * 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dx", "dy", "gain", "offset"),
    [(3, -2, 1, 0), (0, 0, 0.92, 6), (-2, 1, 1.06, -5)],
    ids=["moved", "toned", "both"],
)
def test_what_re_rendering_did_is_undone(dx, dy, gain, offset):
    moved = ndimage.shift(PHOTO, (dy, dx, 0), order=1, mode="nearest")
    edited = toned(moved, (gain,) * 3, (offset,) * 3)
    found = align(edited, PHOTO, (PHOTO,), ALL)
    assert found.plausible
    assert far(found.planes, PHOTO) < 0.35 * far(edited, PHOTO)


@pytest.mark.parametrize(
    ("gain", "offset"),
    [((0.3, 0.35, 0.6), (0, 0, 10)), ((1.35,) * 3, (-45,) * 3), ((0.7,) * 3, (38,) * 3)],
    ids=["night", "harsh", "dull"],
)
@pytest.mark.slow
def test_another_light_is_left_and_told(gain, offset):
    assert not align(toned(PHOTO, gain, offset), PHOTO, (PHOTO,), ALL).plausible


def test_a_tone_is_learnt_outside_the_target():
    edited = disc(PHOTO, RED)
    found = align(edited, PHOTO, (PHOTO,), disc(np.zeros_like(PHOTO), (1, 1, 1))[..., 0] == 0)
    assert np.array_equal(found.planes, edited)


def test_what_the_reference_shows_is_a_likely_place_too():
    source, reference = disc(PHOTO, GREEN), disc(PHOTO, RED)
    edited = ndimage.shift(reference, (0, 3, 0), order=1, mode="nearest").astype(np.uint8)
    found = align(edited, source, (source, reference), ALL)
    assert far(found.planes, reference) < 0.4 * far(edited, reference)


@pytest.mark.parametrize("sigma_px", [0.7, 1.4])
def test_the_softening_of_a_picture_is_found(sigma_px):
    soft = ndimage.gaussian_filter(PHOTO.astype(np.float32), (sigma_px, sigma_px, 0))
    assert softening_px(PHOTO, soft, ALL) == sigma_px


def test_a_flat_picture_was_not_softened():
    flat = np.full_like(PHOTO, 90)
    assert softening_px(flat, flat.astype(np.float32), ALL) == 0
    assert softening_px(PHOTO, PHOTO.astype(np.float32), ~ALL) == 0


def test_no_softening_leaves_the_planes():
    planes = PHOTO.astype(np.float32)
    assert softened(planes, 0) is planes
    wanted = cv2.GaussianBlur(planes, (0, 0), 1.0)
    assert np.array_equal(softened(planes, 1.0), wanted)
