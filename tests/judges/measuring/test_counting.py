import numpy as np
import pytest
from scipy import ndimage

from agent_judge.judges.measuring.counting import count_things
from agent_judge.records import Box
from tests.judges.measuring.staged import BLUE, GREEN, RED, changes, disc, drawn, ground

SIZE_WH = (200, 90)
CLOUDS = ground(3, SIZE_WH)
GROUND = (CLOUDS // 12 + 110).astype(np.uint8)
"""Calm, as the ground of things in a row mostly is."""
PLACES = [Box(20 + 28 * i, 34, 38 + 28 * i, 52) for i in range(6)]
ROW = Box(18, 32, 180, 54)


def things(which, colour=RED, kind="ellipse", strange=None, on=GROUND):
    picture = on
    for i in which:
        picture = drawn(picture, kind, PLACES[i], strange if strange and i == which[0] else colour)
    return picture


def test_on_a_ground_of_many_colours_an_outline_that_is_gone_is_a_thing_that_is_gone():
    source, edited = things((0, 1, 2, 3), on=CLOUDS), things((0,), on=CLOUDS)
    counted = count_things(changes(source, edited, things((1, 2), on=CLOUDS), PLACES[:4]))
    assert counted is not None
    assert (counted.edited.present, counted.edited.altered) == (1, 0)
    assert counted.reference == 2


def labelled(picture):
    apart = np.abs(picture.astype(int) - GROUND).sum(axis=2) > 60
    return ndimage.label(apart)[1]


@pytest.mark.parametrize("present", [(0, 3), (0, 1, 2), (1, 2, 3, 5), (0, 1, 2, 3, 4, 5)])
def test_things_in_one_box_are_counted_by_their_outlines(present):
    source, edited = things((0, 1, 2, 3)), things(present)
    counted = count_things(changes(source, edited, source, (ROW,)))
    assert counted is not None
    assert counted.source == counted.reference == labelled(source) == 4
    assert (counted.edited.present, counted.edited.altered) == (labelled(edited), 0)


@pytest.mark.parametrize("present", [(0,), (0, 2), (0, 1, 2, 3)])
def test_one_box_a_thing_tells_which_places_are_taken(present):
    source, edited = things((0, 1, 2, 3)), things(present)
    counted = count_things(changes(source, edited, things((1, 2)), PLACES[:4]))
    assert counted is not None
    assert (counted.source, counted.reference) == (4, 2)
    assert (counted.edited.present, counted.edited.altered) == (labelled(edited), 0)


@pytest.mark.parametrize("boxes", [(ROW,), PLACES[:3]], ids=["one box", "a box a thing"])
def test_a_thing_of_another_colour_is_there_but_altered(boxes):
    source, edited = things((0, 1, 2)), things((0, 1, 2), strange=BLUE)
    counted = count_things(changes(source, edited, things((0, 1)), boxes))
    assert counted is not None
    assert (counted.edited.present, counted.edited.altered) == (3, 1)


@pytest.mark.parametrize("boxes", [(ROW,), PLACES[:3]], ids=["one box", "a box a thing"])
def test_without_a_reference_it_has_no_count(boxes):
    counted = count_things(changes(things((0, 1, 2)), things((0, 1)), None, boxes))
    assert counted is not None
    assert counted.reference is None


@pytest.mark.slow
def test_a_like_thing_beyond_the_box_counts():
    source = things((0, 1, 2))
    box = Box(18, 32, 96, 54)
    beyond = count_things(changes(source, things((0, 1, 2, 4)), source, (box,)))
    unlike = count_things(changes(source, disc(source, GREEN, PLACES[4]), source, (box,)))
    assert beyond is not None
    assert unlike is not None
    assert (beyond.edited.present, unlike.edited.present) == (4, 3)


def test_things_that_run_together_are_not_counted():
    source = things((0, 1, 2, 3))
    merged = drawn(source, "rectangle", Box(20, 34, 66, 52), RED)
    assert count_things(changes(source, merged, source, (ROW,))) is None


@pytest.mark.slow
@pytest.mark.parametrize("boxes", [(ROW,), PLACES[:3]], ids=["one box", "a box a thing"])
def test_things_that_do_not_stand_out_are_not_counted(boxes):
    busy = np.random.default_rng(0).integers(0, 255, GROUND.shape, dtype=np.uint8)
    source = busy.copy()
    source[36:50, 24:90] //= 2
    edited = np.random.default_rng(1).integers(0, 255, GROUND.shape, dtype=np.uint8)
    assert count_things(changes(source, edited, source, boxes)) is None


def test_specks_are_no_things():
    source = things((0, 1, 2))
    specked = disc(source, RED, Box(130, 40, 136, 46))
    counted = count_things(changes(source, specked, source, (ROW,)))
    assert counted is not None
    assert counted.edited.present == 3


def test_a_slender_thing_that_fills_little_of_its_box_is_missed_when_it_goes():
    """The middle of its box hardly changes, and still nothing stands out there any more."""
    slender = [Box(box.x1 + 1, box.y1 + 6, box.x2 - 1, box.y2 - 7) for box in PLACES[:4]]
    source = GROUND
    for box in slender:
        source = drawn(source, "rectangle", box, (62, 64, 66))
    edited = source.copy()
    x1, y1, x2, y2 = map(int, PLACES[3].xyxy)
    edited[y1:y2, x1:x2] = GROUND[y1:y2, x1:x2]
    counted = count_things(changes(source, edited, None, PLACES[:4]))
    assert counted is not None
    assert (counted.source, counted.edited.present) == (4, 3)
