import numpy as np
import pytest

from agent_judge.judges.measuring.target import judge_target
from agent_judge.records import Box
from tests.judges.measuring.staged import (
    BLUE,
    BOX,
    GREEN,
    RED,
    SIZE_WH,
    disc,
    exhibits,
    level,
    photograph,
    rendered_anew,
    shaded,
)

KINDS = ["color", "material", "shape", "ocr", "count", "replacement", "removal", "other"]
PHOTO = photograph(SIZE_WH)
SOURCE = shaded(PHOTO, RED)
REFERENCE = shaded(PHOTO, GREEN)


def judged(edited, reference=REFERENCE, kind="color", source=SOURCE):
    pictures = (source, edited, reference)
    shown = exhibits("IF", *pictures, asked="Make it green.", kind=kind, targets=[BOX])
    return judge_target(shown, pictures, (BOX,))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reference", [REFERENCE, None], ids=["reference", "none"])
def test_an_unchanged_target_was_not_edited_whatever_was_asked(kind, reference):
    assert level(judged(SOURCE, reference, kind)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("reference", [REFERENCE, None], ids=["reference", "none"])
@pytest.mark.parametrize(
    "edited",
    [
        rendered_anew(SOURCE, 40),
        np.roll(SOURCE, (1, 1), (0, 1)),
        np.clip(SOURCE * 0.95 + 7, 0, 255).astype(np.uint8),
    ],
    ids=["jpeg", "moved", "toned"],
)
def test_what_re_rendering_does_to_a_target_is_no_edit(edited, reference):
    assert level(judged(edited, reference)) in ((1,) if reference is not None else (1, None))


def test_an_edit_elsewhere_instead_is_none():
    elsewhere = disc(SOURCE, GREEN, Box(8, 8, 28, 28))
    assert level(judged(elsewhere)) == 1


@pytest.mark.slow
def test_surroundings_that_changed_as_much_as_a_target_could_leave_it_open():
    noise = np.random.default_rng(0).integers(0, 255, SOURCE.shape, dtype=np.uint8)
    assert level(judged(noise)) is None
    noise[50:70, 70:90] = SOURCE[50:70, 70:90]
    assert level(judged(noise, disc(SOURCE, BLUE, Box(72, 52, 88, 68)))) is None


def test_a_reference_that_shows_no_change_leaves_it_open():
    assert level(judged(REFERENCE, SOURCE)) is None


def test_half_of_a_change_is_left_open_and_a_trace_of_one_is_none():
    def mixed(share):
        return (SOURCE * (1 - share) + REFERENCE * share).astype(np.uint8)

    assert level(judged(mixed(0.15))) == 1
    assert level(judged(mixed(0.4), kind="color")) is None


def test_a_weak_change_of_nearly_all_of_the_target_is_left_open():
    source, reference = disc(PHOTO, (200, 60, 60)), disc(PHOTO, (10, 10, 10))
    weak = disc(PHOTO, (180, 60, 90))
    assert level(judged(weak, reference, "color", source)) is None


def test_something_that_came_beside_the_reference_s_place_is_left_open():
    first, second = Box(64, 44, 76, 56), Box(84, 64, 94, 74)
    reference, edited = disc(SOURCE, BLUE, first.grow(3)), disc(SOURCE, BLUE, second)
    assert level(judged(edited, reference, "other")) is None
    assert level(judged(SOURCE, reference, "other")) == 1


@pytest.mark.slow
def test_a_stronger_edit_never_ranks_lower():
    levels = []
    for share in np.linspace(0, 1, 9):
        edited = (SOURCE * (1 - share) + REFERENCE * share).astype(np.uint8)
        found = level(judged(edited, kind="other"))
        levels += [] if found is None else [found]
    assert levels == sorted(levels)
    assert (levels[0], levels[-1]) == (1, 4)


def test_without_a_reference_a_colour_is_known_by_its_word():
    assert level(judged(REFERENCE, None)) == 4
    assert level(judged(shaded(PHOTO, BLUE), None)) == 2


@pytest.mark.parametrize("kind", ["material", "shape", "replacement", "other"])
def test_without_a_reference_other_changes_are_left_open(kind):
    assert level(judged(REFERENCE, None, kind)) is None


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_reference_s_own_pixels_are_never_a_wrong_action(kind):
    assert level(judged(REFERENCE, kind=kind)) in (4, None)
