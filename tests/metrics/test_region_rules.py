import pytest

from agent_judge.metrics.region_rules import on_canvas, position_rule, size_rule
from agent_judge.records import Box

WH = (500, 500)


def square(area_side):
    return [Box(10, 10, 10 + area_side, 110)]


@pytest.mark.parametrize(
    ("asked", "after", "score"),
    [
        ("bigger", 121, 1),
        ("bigger", 120, 0),
        ("bigger", 100, 0),
        ("bigger", 50, 0),
        ("smaller", 79, 1),
        ("smaller", 80, 0),
        ("smaller", 121, 0),
        ("unchanged", 100, 1),
        ("unchanged", 120, 1),
        ("unchanged", 80, 1),
        ("unchanged", 121, 0),
        ("unchanged", 79, 0),
    ],
)
def test_size_is_judged_by_the_ratio_of_areas(asked, after, score):
    ruling = size_rule(asked, square(100), square(after))
    assert (ruling.score, ruling.measured) == (score, True)


@pytest.mark.parametrize(
    ("asked", "before", "after", "told"),
    [
        ("none", square(10), square(100), "no size was asked for"),
        ("bigger", [], square(100), "in the source picture"),
        ("bigger", square(100), [], "in the edited picture"),
    ],
)
def test_size_that_cannot_be_told_passes_and_says_so(asked, before, after, told):
    ruling = size_rule(asked, before, after)
    assert (ruling.score, ruling.measured) == (1, False)
    assert told in ruling.told


def test_what_two_boxes_share_counts_once():
    twice = [*square(100), *square(100)]
    assert size_rule("unchanged", square(100), twice).score == 1


ANCHOR = Box(200, 200, 300, 300)


@pytest.mark.parametrize(
    ("asked", "box", "score"),
    [
        ("left", (100, 200, 150, 300), 1),
        ("left", (350, 200, 400, 300), 0),
        ("right", (350, 200, 400, 300), 1),
        ("right", (100, 200, 150, 300), 0),
        ("above", (200, 50, 300, 150), 1),
        ("above", (200, 350, 300, 400), 0),
        ("below", (200, 350, 300, 400), 1),
        ("below", (200, 50, 300, 150), 0),
        # As far across as along is neither side.
        ("left", (100, 300, 200, 400), 0),
        ("left", (100, 299, 200, 399), 1),
        ("below", (100, 300, 200, 400), 0),
        ("left", (200, 200, 300, 300), 0),
        # An IoU of 0.4 exactly, then just under it.
        ("left", (180, 200, 220, 300), 1),
        ("left", (200, 200, 240, 300), 0),
        ("left", (200, 200, 239, 300), 1),
        ("inside", (201, 201, 299, 299), 1),
        ("inside", (200, 210, 290, 290), 0),
        ("inside", (210, 210, 290, 300), 0),
        ("inside", (150, 150, 350, 350), 0),
        ("unchanged", (200, 200, 300, 300), 1),
        ("unchanged", (220, 219, 320, 319), 1),
        ("unchanged", (220, 220, 320, 320), 0),
        ("unchanged", (161, 200, 261, 300), 1),
        ("unchanged", (160, 200, 260, 300), 0),
    ],
)
@pytest.mark.parametrize("size_wh", [(500, 500), (1000, 250), (777, 333)])
def test_position_is_judged_on_a_canvas_of_500(asked, box, score, size_wh):
    x, y = size_wh[0] / 500, size_wh[1] / 500

    def in_picture(x1, y1, x2, y2):
        return Box(x1 * x, y1 * y, x2 * x, y2 * y)

    ruling = position_rule(
        asked,
        [in_picture(*box)],
        [in_picture(*ANCHOR.xyxy)],
        size_wh=size_wh,
    )
    assert (ruling.score, ruling.measured) == (score, True)


LEFT, RIGHT = Box(100, 200, 150, 300), Box(350, 200, 400, 300)


@pytest.mark.parametrize(
    ("boxes", "score"),
    [
        ([LEFT, LEFT], 1),
        ([LEFT, RIGHT], 0.5),
        ([RIGHT, LEFT, LEFT], 0.5),
        ([RIGHT, RIGHT], 0),
    ],
)
def test_of_several_added_objects_all_some_or_none_stand_as_asked(boxes, score):
    assert position_rule("left", boxes, [ANCHOR], size_wh=WH).score == score


@pytest.mark.parametrize(
    ("asked", "edited", "anchors", "told"),
    [
        ("none", [LEFT], [ANCHOR], "no position was asked for"),
        ("left", [], [ANCHOR], "edited object"),
        ("left", [RIGHT], [], "placed by"),
    ],
)
def test_position_that_cannot_be_told_passes_and_says_so(asked, edited, anchors, told):
    ruling = position_rule(asked, edited, anchors, size_wh=WH)
    assert (ruling.score, ruling.measured) == (1, False)
    assert told in ruling.told


def test_several_anchors_count_as_the_box_around_them():
    apart = [Box(200, 200, 210, 210), Box(290, 290, 300, 300)]
    inside = Box(240, 240, 260, 260)
    assert position_rule("inside", [inside], apart, size_wh=WH).score == 1


def test_canvas_stretches_both_axes_to_500():
    assert on_canvas(Box(0, 0, 64, 48), (64, 48)) == Box(0, 0, 500, 500)
