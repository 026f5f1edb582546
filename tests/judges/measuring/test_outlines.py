import numpy as np
import pytest
from scipy import ndimage
from skimage.transform import AffineTransform, warp

from agent_judge.judges.measuring.outlines import by_outlines, moved_by
from tests.judges.measuring.staged import GREEN, RED, disc, photograph

PHOTO = photograph((160, 120))


def shifted(pixels, dx, dy):
    return ndimage.shift(pixels, (dy, dx, 0), order=1, mode="nearest").astype(np.uint8)


@pytest.mark.slow
@pytest.mark.parametrize(("dx", "dy"), [(3, -2), (-5, 0), (0, 6), (1.5, 0.5)])
def test_a_move_is_found_and_undone(dx, dy):
    motion = by_outlines(shifted(PHOTO, dx, dy), [PHOTO])
    assert motion[:, 2] == pytest.approx([-dx, -dy], abs=0.35)
    assert motion[:, :2] == pytest.approx(np.eye(2))


def test_a_target_of_another_colour_does_not_mislead():
    motion = by_outlines(shifted(disc(PHOTO, RED), 4, 2), [disc(PHOTO, GREEN)])
    assert motion[:, 2] == pytest.approx([-4, -2], abs=0.35)


def test_a_zoom_is_found():
    about = AffineTransform(translation=(-80, -60)) + AffineTransform(scale=1.015)
    zoom = about + AffineTransform(translation=(80, 60))
    zoomed = warp(PHOTO, zoom.inverse, mode="edge", preserve_range=True).astype(np.uint8)
    assert by_outlines(zoomed, [PHOTO])[0, 0] == pytest.approx(1 / 1.015, abs=0.006)


def test_a_picture_stands_still_on_itself():
    assert by_outlines(PHOTO, [PHOTO]) == pytest.approx(np.eye(3)[:2], abs=0.02)


def test_the_likeliest_of_several_counts():
    other = photograph((160, 120), at=(0, 300))
    motion = by_outlines(shifted(PHOTO, 3, 0), [other, PHOTO])
    assert motion[:, 2] == pytest.approx([-3, 0], abs=0.35)


@pytest.mark.parametrize("shape", [(1, 1), (9, 9), (8, 40)])
def test_a_tiny_picture_stands_still(shape):
    tiny = np.zeros((*shape, 3), np.uint8)
    assert by_outlines(tiny, [tiny]) == pytest.approx(np.eye(3)[:2])


def test_moving_by_whole_pixels_copies_them():
    moved = moved_by(PHOTO, np.array([[1, 0, 2], [0, 1, 3]], float))
    assert np.abs(moved[5:-5, 5:-5] - PHOTO[2:-8, 3:-7]).max() < 0.5
