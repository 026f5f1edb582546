import numpy as np
import pytest

from agent_judge.audit import collapse, paint
from tests.audit.scenes import small_scene


@pytest.mark.parametrize(("name", "style"), collapse.STYLES)
def test_a_style_changes_the_whole_picture(name, style):
    picture = small_scene().picture
    fallen = style(picture)
    assert fallen.shape == picture.shape
    assert fallen.dtype == np.uint8
    everywhere = np.ones(picture.shape[:2], bool)
    assert paint.visible_change(picture, fallen, everywhere, texture=True) > 10


@pytest.mark.parametrize("size_wh", [(100, 300), (700, 200), (360, 260)])
def test_another_place_is_cut_to_size_without_stretching(size_wh):
    other = small_scene(1, size_wh).picture
    cut = collapse.other_place(small_scene().picture, other)
    assert cut.shape == small_scene().picture.shape


def test_another_place_of_equal_size_is_that_place():
    picture, other = small_scene(0).picture, small_scene(1).picture
    # Scaled by less than a pixel, so that rounding never leaves a gap.
    assert np.abs(collapse.other_place(picture, other).astype(int) - other).mean() < 8
