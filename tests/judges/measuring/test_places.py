"""Instruction Following on full pictures, where no box is given."""

import pytest

from agent_judge.judges.measuring.finding import Finding
from agent_judge.judges.measuring.places import find_places, judge_targets
from agent_judge.records import Box
from tests.judges.measuring.staged import (
    BLUE,
    GREEN,
    RED,
    YELLOW,
    disc,
    exhibits,
    level,
    photograph,
    shaded,
)

PHOTO = photograph()
FIRST, SECOND = Box(60, 60, 96, 96), Box(210, 150, 246, 186)
ASKED = "Make it green."


def balls(first, second=None):
    picture = shaded(PHOTO, first, FIRST)
    return picture if second is None else shaded(picture, second, SECOND)


def half_done(second):
    picture = balls(GREEN, second)
    picture[:, 60:78] = balls(RED, second)[:, 60:78]
    return picture


def judged(edited, source, reference=None, kind="color"):
    return judge_targets(exhibits("IF", source, edited, reference, asked=ASKED, kind=kind))


def test_the_reference_shows_where_the_targets_are():
    shown = exhibits("IF", balls(RED, RED), balls(RED, RED), balls(GREEN, GREEN))
    places = find_places(shown)
    assert len(places) == 2
    assert all(max(p.iou(b) for p in places) > 0.7 for b in (FIRST, SECOND))


@pytest.mark.parametrize(
    ("colour", "wanted"), [(GREEN, 4), (BLUE, 2), (RED, 1)], ids=["green", "blue", "unchanged"]
)
def test_the_target_that_the_reference_shows_is_judged(colour, wanted):
    finding = judged(balls(colour), balls(RED), balls((60, 170, 80)))
    assert level(finding) == wanted
    assert isinstance(finding, Finding)
    assert finding.target_box is not None
    assert finding.target_box.iou(FIRST) > 0.7


def test_an_edit_elsewhere_is_none_of_the_target():
    elsewhere = disc(balls(RED), GREEN, SECOND)
    assert level(judged(elsewhere, balls(RED), balls(GREEN))) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edited", "wanted"),
    [((GREEN, GREEN), 4), ((GREEN, BLUE), 2), ((GREEN, RED), 1), ((RED, BLUE), 1)],
)
def test_of_several_targets_the_worst_decides(edited, wanted):
    assert level(judged(balls(*edited), balls(RED, RED), balls(GREEN, GREEN))) == wanted


def test_an_unedited_target_decides_even_where_another_is_left_open():
    assert level(judged(half_done(RED), balls(RED, RED), balls(GREEN, GREEN))) == 1


def test_a_wrongly_edited_target_decides_nothing_where_another_is_left_open():
    assert level(judged(half_done(BLUE), balls(RED, RED), balls(GREEN, GREEN))) is None


def test_a_reference_like_the_source_shows_no_target():
    assert level(judged(balls(GREEN), balls(RED), balls(RED))) is None


def test_without_reference_and_boxes_only_nothing_is_known():
    assert level(judged(balls(RED), balls(RED))) == 1
    assert level(judged(balls(GREEN), balls(RED))) is None


@pytest.mark.slow
def test_a_set_is_known_untouched_or_as_the_reference_has_it():
    source, reference = balls(RED, RED), disc(PHOTO, RED, FIRST)
    source = disc(disc(PHOTO, RED, FIRST), RED, SECOND)
    assert level(judged(source, source, reference, "count")) == 1
    assert level(judged(reference, source, reference, "count")) == 4
    other = disc(disc(source, YELLOW, FIRST), BLUE, SECOND)
    assert level(judged(other, source, reference, "count")) is None
