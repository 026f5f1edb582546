import numpy as np
import pytest
from scipy import stats

from agent_judge.audit import paint
from agent_judge.audit.colours import COLOURS, colour_name
from agent_judge.records import Box
from tests.pictures import backdrop

SIZE_WH = (120, 90)
BOX = Box(30, 20, 70, 60)
MASK = paint.ellipse_mask(BOX, SIZE_WH)
EDITS = {
    "recolor": lambda p: paint.recolor(p, MASK, (200, 30, 30)),
    "fill": lambda p: paint.fill(p, MASK, (45, 0)),
    "clone": lambda p: paint.clone(p, MASK, (45, 10)),
    "smear": lambda p: paint.smear(p, MASK, 4),
    "flatten": lambda p: paint.flatten(p, MASK, (10, 200, 10)),
    "cover": lambda p: paint.cover(p, MASK, np.full_like(p, 255)),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_changes_the_mask_only_and_leaves_its_input_alone(name):
    picture = backdrop(SIZE_WH)
    before = picture.copy()
    edited = EDITS[name](picture)
    assert edited.dtype == np.uint8
    assert np.array_equal(picture, before)
    assert np.array_equal(edited[~MASK], picture[~MASK])
    assert (edited[MASK] != picture[MASK]).any()


@pytest.mark.parametrize("name", COLOURS)
def test_a_recoloured_part_has_the_colour_asked_for(name):
    for shade in COLOURS[name]:
        edited = paint.recolor(backdrop(SIZE_WH), MASK, shade, lightness_pull=0.85)
        assert colour_name(edited, MASK) == name


def test_recolouring_keeps_the_shading():
    picture = backdrop(SIZE_WH)
    core = paint.ellipse_mask(BOX.grow(-4), SIZE_WH)
    before = paint.lab(picture)[core][:, 0]
    after = paint.lab(paint.recolor(picture, MASK, (40, 90, 205)))[core][:, 0]
    assert stats.spearmanr(before, after).statistic > 0.97


def test_a_hole_in_a_plain_picture_is_filled_with_plain():
    plain = np.full((90, 120, 3), (90, 120, 150), np.uint8)
    holed = paint.flatten(plain, MASK, (255, 0, 0))
    wide = paint.ellipse_mask(BOX.grow(3), SIZE_WH)
    assert np.abs(paint.fill(holed, wide, (50, 0)).astype(int) - plain).max() <= 1


def test_two_offsets_give_two_fills():
    picture = backdrop(SIZE_WH)
    assert (paint.fill(picture, MASK, (45, 0)) != paint.fill(picture, MASK, (0, 30))).any()


def test_an_ellipse_has_the_area_of_an_ellipse():
    assert MASK.sum() == pytest.approx(np.pi / 4 * BOX.area, rel=0.02)
    assert paint.mask_box(MASK) == BOX


def test_an_empty_mask_has_no_box():
    with pytest.raises(ValueError, match="empty"):
        paint.mask_box(np.zeros((4, 4), bool))


def test_a_smudge_stays_in_its_box():
    picture = backdrop(SIZE_WH)
    small = paint.ellipse_mask(Box(45, 35, 55, 45), SIZE_WH)
    smudged = paint.smudge(picture, paint.flatten(picture, small, (255, 0, 0)), BOX, 3)
    outside = ~paint.box_mask(BOX, SIZE_WH)
    assert np.array_equal(smudged[outside], picture[outside])
    assert paint.visible_change(picture, smudged, small, texture=True) > 10


def test_other_gravel_is_a_change_of_texture_that_nobody_sees():
    rng = np.random.default_rng(0)
    one, other = (rng.integers(0, 255, (90, 120, 1)).repeat(3, 2).astype(np.uint8) for _ in "ab")
    assert paint.visible_change(one, other, MASK, texture=True) > 25
    assert paint.visible_change(one, other, MASK, texture=False) < 5


def test_no_change_is_not_visible():
    picture = backdrop(SIZE_WH)
    assert paint.visible_change(picture, picture, MASK, texture=True) == 0
