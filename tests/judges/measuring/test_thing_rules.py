import numpy as np
import pytest
from scipy import ndimage

from agent_judge.judges.measuring.thing_rules import judge_other, judge_removal, judge_replacement
from tests.judges.measuring.staged import (
    BLUE,
    BOX,
    GREEN,
    GREY,
    RED,
    SIZE_WH,
    YELLOW,
    case,
    disc,
    drawn,
    level,
    shaded,
)

RNG = np.random.default_rng(5)
GRAIN = RNG.normal(0, 7, (SIZE_WH[1], SIZE_WH[0], 1))
FIELD = np.clip(np.array((110, 140, 80)) + GRAIN, 0, 255).astype(np.uint8)
OTHER_FIELD = np.clip(np.array((113, 142, 84)) + GRAIN[:, ::-1], 0, 255).astype(np.uint8)
SOURCE = disc(FIELD, RED)
SQUARE = BOX.grow(-2)
STAR = "Replace the red ball with a blue triangle."


def filled(other):
    """The field with the ball's place filled from another."""
    return np.where(disc(np.zeros_like(FIELD), (1, 1, 1)) > 0, other, FIELD)


@pytest.mark.parametrize(
    ("edited", "wanted"),
    [(FIELD, 4), (filled(OTHER_FIELD), 4), (drawn(FIELD, "rectangle", SQUARE, BLUE), 2)],
    ids=["gone", "another fill", "a square came instead"],
)
def test_a_removal_leaves_what_the_reference_shows(edited, wanted):
    assert level(judge_removal(case(SOURCE, edited, FIELD))) == wanted


@pytest.mark.parametrize("until_px", [90, 84, 78, 74])
def test_a_ball_of_which_a_part_is_left_is_no_other_thing(until_px):
    part = FIELD.copy()
    part[:, :until_px] = SOURCE[:, :until_px]
    assert level(judge_removal(case(SOURCE, part, FIELD))) in (None, 1)


def test_a_fill_that_may_be_something_is_left_open():
    lighter = np.where(disc(np.zeros_like(FIELD), (1, 1, 1)) > 0, (158, 188, 128), FIELD)
    verdict = judge_removal(case(SOURCE, lighter.astype(np.uint8), FIELD))
    assert level(verdict) is None


def test_without_a_reference_a_thing_that_no_longer_stands_out_is_gone():
    assert level(judge_removal(case(SOURCE, FIELD))) == 4
    assert level(judge_removal(case(SOURCE, disc(FIELD, BLUE)))) is None


def test_without_a_reference_what_never_stood_out_cannot_be_seen_to_go():
    hidden = disc(FIELD, (116, 146, 88))
    assert level(judge_removal(case(hidden, FIELD))) is None


REFERENCE = drawn(FIELD, "triangle", SQUARE, (60, 95, 210))


@pytest.mark.parametrize(
    ("edited", "wanted"),
    [
        (drawn(FIELD, "triangle", SQUARE, BLUE), 4),
        (drawn(FIELD, "triangle", SQUARE, YELLOW), 2),
    ],
    ids=["blue triangle", "yellow triangle"],
)
def test_a_replacement_is_the_reference_s_thing_in_the_colour_of_the_text(edited, wanted):
    assert level(judge_replacement(case(SOURCE, edited, REFERENCE, asked=STAR))) == wanted


def test_a_smudge_of_the_right_colour_is_a_thing_that_nobody_knows():
    soft = ndimage.gaussian_filter(REFERENCE.astype(float), (8, 8, 0))
    inside = np.zeros(FIELD.shape[:2], bool)
    inside[40:80, 60:100] = True
    smudge = np.where(inside[..., None], soft, FIELD).astype(np.uint8)
    assert level(judge_replacement(case(SOURCE, smudge, REFERENCE, asked=STAR))) == 3


def test_another_thing_of_no_named_colour_is_left_open():
    asked = "Replace the red ball with a star."
    other = drawn(FIELD, "rectangle", SQUARE, GREEN)
    assert level(judge_replacement(case(SOURCE, other, REFERENCE, asked=asked))) is None


def test_a_word_that_the_reference_contradicts_too_decides_nothing():
    asked = "Replace the red ball with a yellow star."
    other = drawn(FIELD, "triangle", SQUARE, GREEN)
    assert level(judge_replacement(case(SOURCE, other, REFERENCE, asked=asked))) is None


@pytest.mark.parametrize("rule", [judge_replacement, judge_other])
def test_without_a_reference_pixels_cannot_tell(rule):
    assert level(rule(case(SOURCE, REFERENCE, asked=STAR))) is None


def test_whatever_comes_very_near_the_reference_is_right():
    reference = shaded(FIELD, BLUE)
    near = np.clip(reference.astype(int) + 3, 0, 255).astype(np.uint8)
    assert level(judge_other(case(SOURCE, near, reference))) == 4


def test_whatever_does_not_is_left_open():
    assert level(judge_other(case(SOURCE, disc(FIELD, GREY), disc(FIELD, BLUE)))) is None


def test_more_than_the_reference_changed_is_left_open():
    small = drawn(SOURCE, "ellipse", BOX.grow(-12), BLUE)
    more = drawn(drawn(SOURCE, "rectangle", BOX, GREY), "ellipse", BOX.grow(-12), BLUE)
    assert level(judge_other(case(SOURCE, more, small))) is None
