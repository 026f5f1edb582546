"""The box codec: round trips in every convention, and the size at which pictures are shown."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_judge.judges.coordinates import Convention, CoordinateSystem, patches
from agent_judge.records import Box

SYSTEMS: list[CoordinateSystem] = ["shown_pixels", "xyxy_1000", "yxyx_1000"]
sides = st.integers(1, 9000)
conventions = st.builds(
    Convention,
    system=st.sampled_from(SYSTEMS),
    max_side_px=st.none() | st.integers(64, 2000),
    max_short_side_px=st.none() | st.integers(64, 1000),
    max_patches=st.none() | st.integers(16, 3000),
    patch_px=st.sampled_from([14, 28, 32]),
    min_side_px=st.sampled_from([1, 28]),
)


@st.composite
def pictures_and_boxes(draw):
    size_wh = draw(sides), draw(sides)
    unit = st.floats(0, 1, allow_nan=False)
    x1, x2 = sorted((draw(unit), draw(unit)))
    y1, y2 = sorted((draw(unit), draw(unit)))
    width, height = size_wh
    return size_wh, (x1 * width, y1 * height, x2 * width + 1e-3, y2 * height + 1e-3)


@given(conventions, pictures_and_boxes())
@pytest.mark.slow
def test_what_is_written_in_a_convention_is_read_back_the_same(convention, drawn):
    size_wh, xyxy = drawn
    box = Box(*xyxy)
    back = convention.decode(convention.encode(box, size_wh), size_wh)
    assert back.xyxy == pytest.approx(box.xyxy, abs=1e-6 * max(size_wh), rel=1e-9)


@given(conventions, sides, sides)
def test_the_whole_picture_is_the_whole_frame_in_every_convention(convention, width, height):
    whole = convention.encode(Box(0, 0, width, height), (width, height))
    shown_w, shown_h = convention.shown_wh((width, height))
    expected = {
        "shown_pixels": [0, 0, shown_w, shown_h],
        "xyxy_1000": [0, 0, 1000, 1000],
        "yxyx_1000": [0, 0, 1000, 1000],
    }
    assert whole == pytest.approx(expected[convention.system])


@given(conventions, sides, sides)
def test_pictures_are_shown_within_every_limit_of_their_family(convention, width, height):
    shown = convention.shown_wh((width, height))
    if min(shown) <= convention.min_side_px:
        return  # the least side comes first: a sliver may be longer than the limit
    slack = 1  # rounding of the other side
    if convention.max_side_px is not None:
        assert max(shown) <= convention.max_side_px + slack
    if convention.max_short_side_px is not None:
        assert min(shown) <= convention.max_short_side_px + slack
    if convention.max_patches is not None:
        columns, rows = (math.ceil((s - slack) / convention.patch_px) for s in shown)
        assert columns * rows <= convention.max_patches
    assert shown[0] <= max(width, convention.min_side_px) or min(width, height) < 28


@pytest.mark.parametrize(
    ("convention", "size_wh", "shown"),
    [
        (Convention(), (4000, 3000), (4000, 3000)),
        (Convention(max_side_px=1568), (4000, 3000), (1568, 1176)),
        (Convention(max_side_px=1568), (300, 200), (300, 200)),
        (Convention(max_side_px=1999, max_short_side_px=768), (4000, 3000), (1024, 768)),
        (Convention(max_side_px=1999, max_short_side_px=768), (500, 8000), (125, 1999)),
        (Convention(min_side_px=28), (6, 9), (28, 42)),
        (Convention(min_side_px=28), (1, 1), (28, 28)),
    ],
)
def test_the_size_shown(convention, size_wh, shown):
    assert convention.shown_wh(size_wh) == shown


def test_the_patch_limit_is_used_up_as_far_as_it_goes():
    convention = Convention(max_patches=2500, patch_px=32)
    assert 2400 <= patches(convention.shown_wh((4000, 3000)), 32) <= 2500


@pytest.mark.parametrize(
    "numbers",
    [
        [],
        [1, 2, 3],
        [1, 2, 3, 4, 5],
        [1, 2, 1, 4],
        [3, 2, 1, 4],
        [0, 0, math.nan, 1],
        [0, 0, math.inf, 1],
        [0, 0, 10**400, 1],
        [0, 0, True, 1],
        ["0", 0, 1, 1],
        [None, 0, 1, 1],
    ],
)
def test_what_is_no_box_is_refused(numbers):
    with pytest.raises(ValueError):  # noqa: PT011 - any words
        Convention().decode(numbers, (10, 10))


def test_replies_repeat_pixel_boxes_in_the_judges_own_convention():
    data: dict[str, Any] = {
        "regions": [{"box_px": [100, 50, 200, 150]}],
        "note": "x",
        "seen_box_px": None,
    }
    told = Convention(system="yxyx_1000").annotate(data, (1000, 500))
    assert told["regions"][0] == {
        "box_px": [100, 50, 200, 150],
        "box": [100.0, 100.0, 300.0, 200.0],
    }
    assert told["seen_box_px"] is None
    assert data["regions"] == [{"box_px": [100, 50, 200, 150]}]
    assert Convention().annotate(data, (1000, 500)) == data


@pytest.mark.parametrize(
    ("system", "words"),
    [
        ("shown_pixels", "800 wide and 600 high"),
        ("xyxy_1000", "[x1, y1, x2, y2] from 0 to 1000"),
        ("yxyx_1000", "[y1, x1, y2, x2] from 0 to 1000"),
    ],
)
def test_the_prompt_tells_the_convention(system, words):
    assert words in Convention(system=system, max_side_px=800).in_words((4000, 3000))
