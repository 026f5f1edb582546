"""One window around a target, the same whole pixels in every picture."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_judge.oracle.crop import crop, crop_window
from agent_judge.records import Box
from tests.pictures import scene

RULE = {"margin_share": 0.5, "margin_min_px": 32.0}


@pytest.mark.parametrize(
    ("box", "window"),
    [
        (Box(300, 200, 314, 210), (268, 168, 346, 242)),  # small: at least 32 px
        (Box(300, 200, 400, 240), (250, 150, 450, 290)),  # half the longer side
        (Box(0, 0, 10, 10), (0, 0, 42, 42)),  # at the corner
        (Box(590, 390, 600, 400), (558, 358, 600, 400)),  # at the far corner
        (Box(0, 0, 600, 400), (0, 0, 600, 400)),  # the whole picture
        (Box(-50, -50, 700, 500), (0, 0, 600, 400)),  # larger than the picture
        (Box(300.2, 200.9, 314.5, 210.1), (268, 168, 347, 243)),  # outward to whole pixels
    ],
)
def test_window_is_the_box_grown_and_clipped(box, window):
    assert crop_window(box, (600, 400), **RULE).xyxy == window


def test_a_picture_of_one_pixel_is_its_own_window():
    assert crop_window(Box(0, 0, 1, 1), (1, 1), **RULE) == Box(0, 0, 1, 1)


def test_a_box_outside_has_no_window():
    with pytest.raises(ValueError, match="outside"):
        crop_window(Box(700, 700, 710, 710), (600, 400), **RULE)


@given(st.floats(0, 599), st.floats(0, 399), st.floats(0.01, 900), st.floats(0.01, 900))
def test_window_holds_the_box_and_lies_inside(x, y, width, height):
    box = Box(x, y, x + width, y + height)
    window = crop_window(box, (600, 400), **RULE)
    assert window.clip((600, 400)) == window
    assert window.outward() == window
    seen = box.clip((600, 400))
    assert seen is not None
    assert window.union(seen) == window


def test_crop_keeps_the_same_window_in_all_three_pictures():
    pictures = [scene((320, 240), seed).pixels for seed in range(3)]
    window = crop_window(Box(300, 10, 312, 20), (320, 240), **RULE)
    crops = [crop(picture, window) for picture in pictures]
    for picture, cut in zip(pictures, crops, strict=True):
        np.testing.assert_array_equal(cut, picture[0:52, 268:320])


def test_crop_is_a_copy():
    picture = scene().pixels
    before = picture.copy()
    crop(picture, Box(0, 0, 10, 10))[:] = 0
    np.testing.assert_array_equal(picture, before)
