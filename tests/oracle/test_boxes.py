"""Boxes of every format land on the same pixels of the source, or say why they do not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_judge.errors import BoxError
from agent_judge.oracle.boxes import box_fault, canonical_boxes
from agent_judge.records import Box, BoxFormat

SIZE_WH = (600, 400)
SAME_BOX: dict[BoxFormat, list[float]] = {
    "xyxy": [300, 200, 330, 220],
    "xywh": [300, 200, 30, 20],
    "xyxy_norm": [0.5, 0.5, 0.55, 0.55],
    "xyxy_1000": [500, 500, 550, 550],
    "yxyx_1000": [500, 500, 550, 550],
}


def one(numbers: object, box_format: BoxFormat = "xyxy", frame: tuple[int, int] | None = None):
    boxes, notes = canonical_boxes(
        [numbers],  # type: ignore[list-item]
        SIZE_WH,
        box_format=box_format,
        box_frame=frame,
    )
    return boxes[0], notes


@pytest.mark.parametrize("box_format", SAME_BOX)
def test_every_format_names_the_same_pixels(box_format: BoxFormat):
    box, notes = one(SAME_BOX[box_format], box_format)
    assert box.xyxy == pytest.approx((300, 200, 330, 220))
    assert notes == ()


def test_yxyx_puts_y_first():
    assert one([100, 500, 200, 700], "yxyx_1000")[0].xyxy == pytest.approx((300, 40, 420, 80))


@pytest.mark.parametrize(
    ("numbers", "box_format"),
    [
        ([0.58, 0.52, 0.61, 0.55], "xyxy"),  # I20
        ([0, 0, 1, 1], "xyxy"),  # I20: a 1x1 crop on a large picture
        ([0.5, 0.5, 0.1, 0.1], "xywh"),
        ([0, 0, 1, 1], "xywh"),
        ([0.58, 0.52, 0.61, 0.55], "xyxy_1000"),
        ([0.0, 0.0, 1.0, 1.0], "yxyx_1000"),
    ],
)
def test_normalised_numbers_declared_otherwise_are_refused(numbers, box_format):
    with pytest.raises(BoxError, match=r'looks normalised: set box_format to "xyxy_norm".*600x400'):
        one(numbers, box_format)


def test_one_pixel_of_a_tiny_picture_is_a_box():
    assert canonical_boxes([[0, 0, 1, 1]], (4, 3)) == ((Box(0, 0, 1, 1),), ())


@pytest.mark.parametrize(
    ("numbers", "box_format", "word"),
    [
        ([300, 200, 314, 200], "xyxy", "y2 > y1"),  # I22: zero height
        ([314, 200, 300, 210], "xyxy", "x2 > x1"),
        ([300, 200, 0, 10], "xywh", "a width above 0"),
        ([300, 200, 10, -1], "xywh", "a height above 0"),
        ([300, 200, 314], "xyxy", "four numbers"),
        ([300, 200, 314, 210, 1], "xyxy", "four numbers"),
        ([], "xyxy", "four numbers"),
        (None, "xyxy", "four numbers"),
        ("300,200,314,210", "xyxy", "four numbers"),
        ([300, 200, float("nan"), 210], "xyxy", "finite"),
        ([300, 200, float("inf"), 210], "xyxy", "finite"),
        ([300, 200, 10**400, 210], "xyxy", "finite"),
        ([300, "200", 314, 210], "xyxy", "finite"),
        ([True, False, 314, 210], "xyxy", "finite"),
        ([300, 200, 314, 210], "xyxy_norm", "0 to 1"),
        ([1200, 200, 1900, 900], "xyxy_1000", "0 to 1000"),
    ],
)
def test_a_faulty_box_is_told_in_words(numbers, box_format, word):  # I22
    assert word in (box_fault(numbers, box_format) or "")
    with pytest.raises(BoxError, match=word):
        one(numbers, box_format)


def test_a_small_overhang_is_clipped_with_a_note():  # I23
    box, notes = one([570, 380, 603, 400])
    assert box == Box(570, 380, 600, 400)
    assert notes == ("box stuck out by 3 px, clipped",)


def test_a_negative_start_does_not_wrap():  # I23
    box, notes = one([-5, -2, 20, 30])
    assert box == Box(0, 0, 20, 30)
    assert "5 px" in notes[0]


@pytest.mark.parametrize(
    "numbers", [[600, 10, 640, 50], [10, 400, 20, 410], [-30, -30, 0, 0], [5000, 5000, 5010, 5010]]
)
def test_a_box_outside_is_an_error_that_states_the_size(numbers):  # I23
    with pytest.raises(BoxError, match="outside the source, which is 600x400"):
        one(numbers)


def test_a_box_mostly_outside_was_drawn_on_another_size():
    with pytest.raises(BoxError, match=r"only 6%.*600x400.*box_frame"):
        one([500, 300, 900, 700])


def test_a_box_as_large_as_the_picture_or_a_little_larger_is_the_picture():
    assert one([0, 0, 600, 400])[0] == Box(0, 0, 600, 400)
    assert one([-4, -4, 604, 404])[0] == Box(0, 0, 600, 400)


def test_rounding_at_the_far_edge_is_not_worth_a_note():
    assert one([0.5, 0.5, 1.0000001, 1.0], "xyxy_norm") == (Box(300, 200, 600, 400), ())


def test_boxes_of_another_frame_are_scaled_with_a_note():
    box, notes = one([30, 20, 60, 40], frame=(300, 200))
    assert box == Box(60, 40, 120, 80)
    assert notes == ("boxes scaled from 300x200 to the source's 600x400",)


def test_shares_do_not_depend_on_the_frame():
    assert one([0.1, 0.1, 0.2, 0.2], "xyxy_norm", (300, 200))[0].xyxy == pytest.approx(
        one([0.1, 0.1, 0.2, 0.2], "xyxy_norm")[0].xyxy
    )


@pytest.mark.parametrize(
    ("frame", "fits"),
    [((1500, 1000), True), ((1500, 1010), True), ((1500, 1020), False), ((400, 600), False)],
)
def test_a_frame_fits_when_its_aspect_does(frame, fits):
    if fits:
        assert one([30, 20, 60, 40], frame=frame)[1]
    else:
        with pytest.raises(BoxError, match="box_frame"):
            one([30, 20, 60, 40], frame=frame)


def test_the_box_at_fault_is_numbered():
    with pytest.raises(BoxError, match="box 2 of 3: "):
        canonical_boxes([[1, 1, 9, 9], [700, 1, 710, 9], [2, 2, 9, 9]], SIZE_WH)


@st.composite
def pictures_and_boxes(draw):
    width, height = draw(st.integers(17, 6000)), draw(st.integers(17, 6000))
    x1, y1 = draw(st.integers(0, width - 2)), draw(st.integers(0, height - 2))
    x2, y2 = draw(st.integers(x1 + 2, width)), draw(st.integers(y1 + 2, height))
    return (width, height), Box(x1, y1, x2, y2)


def written(box: Box, size_wh: tuple[int, int], box_format: BoxFormat) -> list[float]:
    """The box as an annotation tool of that format would write it."""
    width, height = size_wh
    x1, y1, x2, y2 = box.xyxy
    match box_format:
        case "xyxy":
            return [x1, y1, x2, y2]
        case "xywh":
            return [x1, y1, x2 - x1, y2 - y1]
        case "xyxy_norm":
            return [x1 / width, y1 / height, x2 / width, y2 / height]
        case "xyxy_1000":
            return [x1 / width * 1e3, y1 / height * 1e3, x2 / width * 1e3, y2 / height * 1e3]
        case "yxyx_1000":
            return [y1 / height * 1e3, x1 / width * 1e3, y2 / height * 1e3, x2 / width * 1e3]


@given(pictures_and_boxes(), st.sampled_from(sorted(SAME_BOX)))
def test_what_is_written_in_any_format_comes_back(picture_and_box, box_format):
    size_wh, box = picture_and_box
    numbers = written(box, size_wh, box_format)
    if box_format != "xyxy_norm" and max(numbers) <= 1:  # rightly taken for normalised
        return
    boxes, notes = canonical_boxes([numbers], size_wh, box_format=box_format)
    assert np.abs(np.subtract(boxes[0].xyxy, box.xyxy)).max() < 1e-6
    assert notes == ()


NUMBER = st.one_of(st.floats(), st.integers(), st.booleans(), st.none(), st.text(max_size=3))


@given(st.one_of(st.lists(NUMBER, max_size=6), NUMBER), st.sampled_from(sorted(SAME_BOX)))
def test_any_numbers_give_a_box_inside_or_a_box_error(numbers, box_format):
    try:
        box, _ = one(numbers, box_format)
    except BoxError:
        return
    assert 0 <= box.x1 < box.x2 <= 600
    assert 0 <= box.y1 < box.y2 <= 400
