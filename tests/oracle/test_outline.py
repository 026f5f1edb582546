"""A frame around a place: outside the box, and visible on any ground."""

import numpy as np
import pytest

from agent_judge.oracle.outline import BLACK, YELLOW, outlined
from agent_judge.records import Box


def changed(pixels, box):
    return np.any(outlined(pixels, box) != pixels, axis=2)


@pytest.mark.parametrize("level", [0, 128, 255])
def test_two_lines_stand_around_the_box_and_nothing_within_changes(level):
    pixels = np.full((60, 80, 3), level, np.uint8)
    framed = outlined(pixels, Box(20, 30, 40, 45))
    across = [tuple(v) for v in framed[35, 15:21].tolist()]
    grey = (level, level, level)
    assert across == [grey, grey, BLACK, YELLOW, grey, grey]
    assert (framed[29:46, 19:41] == pixels[29:46, 19:41]).all()


def test_the_picture_itself_is_not_touched():
    pixels = np.full((60, 80, 3), 9, np.uint8)
    outlined(pixels, Box(20, 30, 40, 45))
    assert (pixels == 9).all()


@pytest.mark.parametrize(
    "box", [Box(0, 0, 80, 60), Box(-9, -9, 99, 99), Box(0, 0, 1, 1), Box(79, 59, 80, 60)]
)
def test_at_the_border_the_lines_lie_inside_the_picture(box):
    mark = changed(np.full((60, 80, 3), 9, np.uint8), box)
    rows, columns = np.nonzero(mark)
    assert mark.any()
    assert {rows.min() == 0 or rows.max() == 59, columns.min() == 0 or columns.max() == 79} == {
        True
    }


def test_lines_are_as_wide_as_the_picture_needs():
    pixels = np.full((3000, 4000, 3), 9, np.uint8)
    assert changed(pixels, Box(2000, 1500, 2010, 1510))[1505].sum() == 2 * 2 * 10


def test_a_box_outside_the_picture_is_refused():
    with pytest.raises(ValueError, match="outside"):
        outlined(np.zeros((60, 80, 3), np.uint8), Box(81, 10, 90, 20))
