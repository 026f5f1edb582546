"""Every target is painted white, a little beyond its box, in every picture alike."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_judge.oracle.mask import mask_box, paint_white
from agent_judge.records import Box
from tests.pictures import scene

RULE = {"margin_px": 4.0, "margin_share": 0.02}


@pytest.mark.parametrize(
    ("box", "painted", "margin_px"),
    [
        (Box(100, 50, 150, 60), (95, 45, 155, 65), 5.0),
        (Box(100, 50, 110, 60), (95, 45, 115, 65), 4.2),  # outward to whole pixels
        (Box(0, 0, 50, 50), (0, 0, 55, 55), 5.0),  # at the border
        (Box(0, 0, 320, 240), (0, 0, 320, 240), 10.4),  # the whole picture
        (Box(10, 10, 11, 11), (5, 5, 16, 16), 4.02),  # one pixel
    ],
)
def test_mask_is_the_box_grown_by_4_px_and_2_per_cent(box, painted, margin_px):
    rectangle, used_px = mask_box(box, (320, 240), **RULE)
    assert rectangle.xyxy == painted
    assert used_px == pytest.approx(margin_px)


def test_a_box_outside_has_no_mask():
    with pytest.raises(ValueError, match="outside"):
        mask_box(Box(700, 700, 710, 710), (320, 240), **RULE)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.floats(0, 300), st.floats(0, 200), st.floats(1, 90)), max_size=4))
@pytest.mark.slow
def test_only_the_rectangles_turn_white_and_the_input_stays(spots):
    picture = scene().pixels
    before = picture.copy()
    boxes = [mask_box(Box(x, y, x + side, y + side), (320, 240), **RULE)[0] for x, y, side in spots]
    painted = paint_white(picture, boxes)
    is_white = np.zeros((240, 320), bool)
    for y in range(240):
        for box in boxes:
            if box.y1 <= y < box.y2:
                is_white[y, int(box.x1) : int(box.x2)] = True
    assert (painted[is_white] == 255).all()
    np.testing.assert_array_equal(painted[~is_white], before[~is_white])
    np.testing.assert_array_equal(picture, before)


def test_the_target_is_gone_from_every_picture_alike():
    edited, source = scene(seed=1), scene(seed=1).pixels.copy()
    x1, y1, x2, y2 = (int(v) for v in edited.boxes[0].xyxy)
    source[y1:y2, x1:x2] = 0
    rectangle, _ = mask_box(edited.boxes[0], (320, 240), **RULE)
    np.testing.assert_array_equal(
        paint_white(source, [rectangle]), paint_white(edited.pixels, [rectangle])
    )
