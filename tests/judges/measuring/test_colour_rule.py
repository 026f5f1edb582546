import numpy as np
import pytest

from agent_judge.judges.measuring.colour_rule import judge_colour
from agent_judge.records import Box
from tests.judges.measuring.staged import (
    BLUE,
    GREEN,
    RED,
    SIZE_WH,
    YELLOW,
    case,
    disc,
    level,
    photograph,
    shaded,
)

PHOTO = photograph(SIZE_WH)
SOURCE = shaded(PHOTO, RED)
REFERENCE = shaded(PHOTO, (60, 170, 80))


def judged(edited, reference=REFERENCE, asked="Make the ball green.", source=SOURCE):
    return judge_colour(case(source, edited, reference, asked=asked))


@pytest.mark.parametrize("reference", [REFERENCE, None], ids=["reference", "no reference"])
@pytest.mark.parametrize(
    ("edited", "wanted"),
    [
        (shaded(PHOTO, GREEN), 4),
        (shaded(PHOTO, BLUE), 2),
        (shaded(PHOTO, YELLOW), 2),
        (disc(PHOTO, GREEN), 3),
    ],
    ids=["green", "blue", "yellow", "flat green"],
)
def test_the_colour_word_decides_and_shading_is_to_be_kept(edited, wanted, reference):
    assert level(judged(edited, reference)) == wanted


def test_the_text_decides_where_the_reference_has_another_colour():
    assert level(judged(shaded(PHOTO, GREEN), shaded(PHOTO, BLUE))) == 4


def test_a_word_that_the_reference_contradicts_as_well_leaves_it_open():
    assert level(judged(shaded(PHOTO, BLUE), shaded(PHOTO, (50, 85, 200)))) is None


def test_a_shade_on_the_border_of_two_names_is_left_open():
    border = judged(shaded(PHOTO, (152, 100, 20)), None, "Make the ball orange.")
    assert level(border) is None
    assert "taste" in border.why


def test_without_a_colour_word_the_reference_has_one():
    asked = "Make the ball look like grass."
    assert level(judged(shaded(PHOTO, GREEN), asked=asked)) == 4
    assert level(judged(shaded(PHOTO, BLUE), asked=asked)) is None
    assert level(judged(shaded(PHOTO, GREEN), None, asked)) is None


def test_an_edit_that_grew_beyond_the_target_took_more_with_it():
    small = Box(70, 50, 90, 70)
    source, reference = shaded(PHOTO, RED, small), shaded(PHOTO, GREEN, small)
    grown = shaded(reference, GREEN)
    assert level(judged(grown, reference, source=source)) == 3
    assert level(judged(reference, reference, source=source)) == 4


def test_half_a_target_is_left_open():
    half = SOURCE.copy()
    half[:, :78] = REFERENCE[:, :78]
    assert level(judged(half)) is None


def test_detail_on_a_tiny_target_is_not_asked_for():
    tiny = Box(76, 56, 84, 64)
    source, flat = shaded(PHOTO, RED, tiny), disc(PHOTO, GREEN, tiny)
    assert level(judged(flat, shaded(PHOTO, GREEN, tiny), source=source)) == 4


def test_a_flat_target_has_no_detail_to_lose():
    assert (
        level(judged(disc(PHOTO, GREEN), disc(PHOTO, (50, 160, 70)), source=disc(PHOTO, RED))) == 4
    )


def test_a_grain_over_the_old_colour_is_no_edit():
    grain = np.random.default_rng(0).integers(-45, 45, PHOTO.shape)
    inside = disc(np.zeros_like(PHOTO), (1, 1, 1)) > 0
    grainy = np.clip(SOURCE + grain * inside, 0, 255).astype(np.uint8)
    assert level(judged(grainy, None)) in (1, None)


def test_without_a_reference_a_few_pixels_name_no_colour():
    dot = disc(SOURCE, GREEN, Box(74, 54, 88, 68))
    assert level(judged(dot, None)) is None


def test_nothing_changed_is_no_colour():
    assert level(judged(SOURCE)) is None


def test_noise_on_the_shading_does_not_count_as_loss():
    rng = np.random.default_rng(0)
    noisy = np.clip(shaded(PHOTO, GREEN) + rng.normal(0, 5, PHOTO.shape), 0, 255).astype(np.uint8)
    assert level(judged(noisy)) == 4
