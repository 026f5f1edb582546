import numpy as np
import pytest
from scipy import ndimage
from skimage.color import deltaE_cie76, rgb2lab

from agent_judge.judges.measuring.laid_over import distance, inside, lay_crops_over, to_lab
from agent_judge.records import Box
from tests.judges.measuring.staged import (
    BOX,
    GREEN,
    GREY,
    RED,
    SIZE_WH,
    disc,
    drawn,
    photograph,
    rendered_anew,
)

PHOTO = photograph(SIZE_WH)
SOURCE = disc(PHOTO, RED)


def lab(pixels):
    return to_lab(pixels.astype(np.float32))


def test_lab_is_that_of_another_library():
    assert np.abs(lab(PHOTO) - rgb2lab(PHOTO)).max() < 0.5


def test_distance_is_delta_e_between_flat_colours():
    red, grey = (np.full((20, 20, 3), c, np.uint8) for c in (RED, GREY))
    wanted = deltaE_cie76(rgb2lab(red), rgb2lab(grey))
    assert distance(lab(red), lab(grey)) == pytest.approx(wanted, abs=0.5)


def test_a_move_by_one_pixel_is_no_distance():
    moved = np.roll(PHOTO, 1, axis=1)
    assert distance(lab(PHOTO), lab(moved))[4:-4, 4:-4].max() < 0.01
    assert distance(lab(PHOTO), lab(np.roll(PHOTO, 4, axis=1)))[4:-4, 4:-4].max() > 10


def test_inside_is_the_boxes_grown_and_clipped():
    mask = inside((Box(2, 2, 4, 4), Box(8, 0, 12, 1)), (6, 10), 1)
    wanted = np.zeros((6, 10), bool)
    wanted[1:5, 1:5] = wanted[0:2, 7:10] = True
    assert np.array_equal(mask, wanted)


def test_a_pair_of_one_picture_has_no_noise():
    laid = lay_crops_over(SOURCE, SOURCE, None, (BOX,))
    assert laid.noise == 0
    assert np.array_equal(laid.edited, laid.source)


def test_noise_is_that_of_the_surroundings_alone():
    quiet = lay_crops_over(SOURCE, disc(PHOTO, GREEN), None, (BOX,))
    noisy = lay_crops_over(SOURCE, rendered_anew(SOURCE, quality=15), None, (BOX,))
    assert quiet.noise < 0.5 < noisy.noise


def test_a_moved_and_toned_picture_is_laid_back():
    moved = ndimage.shift(disc(PHOTO, GREEN), (2, -3, 0), order=1, mode="nearest")
    edited = np.clip(moved * 0.94 + 6, 0, 255).astype(np.uint8)
    laid = lay_crops_over(SOURCE, edited, disc(PHOTO, GREEN), (BOX,))
    assert laid.reference is not None
    target = inside((BOX,), laid.target.shape, -6)
    assert np.median(distance(laid.edited, laid.reference)[target]) < 3


def test_large_crops_are_reduced_with_their_boxes():
    large = np.kron(SOURCE, np.ones((8, 8, 1), np.uint8))
    laid = lay_crops_over(large, large, None, (Box(480, 320, 800, 640),))
    assert max(laid.target.shape) == 512
    assert laid.boxes[0].xyxy == pytest.approx((192, 128, 320, 256))


def test_where_all_else_is_another_scene_the_rim_of_the_target_serves():
    other = photograph(SIZE_WH, at=(0, 300))
    kept = inside((BOX,), other.shape, 6)[..., None]
    edited = np.where(kept, SOURCE, other)
    laid = lay_crops_over(SOURCE, edited, None, (BOX,))
    assert max(laid.target.shape) <= 54
    assert distance(laid.edited, laid.source)[laid.target].max() < 3


def test_the_ring_leaves_out_the_soft_edge_of_an_edit():
    laid = lay_crops_over(SOURCE, drawn(SOURCE, "rectangle", BOX, GREEN), None, (BOX,))
    assert not (laid.ring & inside((BOX,), laid.ring.shape, 2)).any()
