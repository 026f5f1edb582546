import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_judge.errors import ToolError
from agent_judge.records import Box
from agent_judge.tools.base import View
from agent_judge.tools.window import MAX_ASPECT, MIN_CONTEXT_PX, asked_box, fit_window
from agent_judge.tools.zoom_in import (
    MAX_SIDE_PX,
    MIN_SIDE_PX,
    ZoomInTool,
    zoom,
)


def noise(width, height, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


@pytest.fixture
def view():
    return View(source=noise(640, 480), edited=noise(640, 480, seed=1))


sizes = st.tuples(st.integers(1, 3000), st.integers(1, 3000))
numbers = st.floats(-200, 3500, allow_nan=False)


@given(
    size_wh=sizes, corner=st.tuples(numbers, numbers), extent=st.tuples(*[st.floats(0.1, 3500)] * 2)
)
@settings(max_examples=200)
@pytest.mark.slow
def test_window_holds_the_inner_box_lies_in_the_picture_and_is_never_too_thin(
    size_wh, corner, extent
):
    box = [*corner, corner[0] + extent[0], corner[1] + extent[1]]
    inside = Box(*box).clip(size_wh)
    if inside is None:
        with pytest.raises(ToolError, match=f"{size_wh[0]} px wide and {size_wh[1]} px high"):
            asked_box(box, size_wh)
        return
    window = fit_window(inside, size_wh)
    assert window.clip(size_wh) == window
    assert all(float(v).is_integer() for v in window.xyxy)
    assert window.union(inside) == window
    for side, limit in ((window.width, size_wh[0]), (window.height, size_wh[1])):
        longest = max(window.width, window.height)
        assert side >= min(limit, MIN_CONTEXT_PX)
        assert side >= min(limit, longest / MAX_ASPECT)


@pytest.mark.parametrize(
    ("size_wh", "box"),
    [
        pytest.param((640, 480), (0, 0, 6, 9), id="tiny, in the corner"),
        pytest.param((1920, 1080), (100, 500, 900, 503), id="thin, E20"),
        pytest.param((1920, 1080), (0, 0, 1920, 1080), id="the whole picture"),
        pytest.param((1, 1), (0, 0, 1, 1), id="a picture of one pixel"),
        pytest.param((3000, 5), (0, 0, 3000, 5), id="a very thin picture"),
        pytest.param((6000, 4000), (0, 0, 6000, 10), id="wide and thin"),
        pytest.param((640, 480), (-50, -50, 900, 900), id="box larger than the picture"),
    ],
)
def test_shown_size_suits_vision_processors(size_wh, box):
    height, width = zoom(noise(*size_wh), box).pixels.shape[:2]
    assert min(width, height) >= MIN_SIDE_PX
    assert max(width, height) <= MAX_SIDE_PX
    assert max(width, height) <= MAX_ASPECT * min(width, height) + 1


@pytest.mark.slow
def test_small_boxes_are_shown_at_512_to_768_px():
    for side in range(1, 640, 7):
        shown = zoom(noise(1000, 1000), (100, 100, 100 + side, 100 + side))
        assert 512 <= max(shown.pixels.shape) <= 768


def test_window_of_screen_size_is_shown_pixel_for_pixel():
    pixels = noise(2000, 1500)
    shown = zoom(pixels, (100, 200, 1000, 900))
    assert shown.scale == 1.0
    assert np.array_equal(shown.pixels, pixels[200:900, 100:1000])
    assert not np.shares_memory(shown.pixels, pixels)


def test_enlargement_comes_from_full_resolution():
    pixels = np.zeros((4000, 6000, 3), np.uint8)
    pixels[2000:2024, 3000:3024] = 255
    shown = zoom(pixels, (2980, 1980, 3044, 2044))
    bright = np.argwhere(shown.pixels[..., 0] > 127)
    low, high = bright.min(0), bright.max(0) + 1
    assert shown.scale == 8.0
    assert low.tolist() == [160, 160]
    assert high.tolist() == [352, 352]


def test_own_margin_and_scale_are_taken_as_they_are():
    pixels = noise(640, 480)
    shown = zoom(pixels, (100, 100, 140, 140), margin_px=10, scale=4)
    assert shown.window == Box(90, 90, 150, 150)
    assert shown.pixels.shape == (240, 240, 3)
    with pytest.raises(ToolError, match="smaller scale"):
        zoom(pixels, (0, 0, 640, 480), scale=20)


def test_input_is_left_alone_and_the_same_call_gives_the_same_bytes():
    pixels = noise(640, 480)
    before = pixels.copy()
    first, second = (zoom(pixels, (10, 20, 33, 47)) for _ in range(2))
    assert np.array_equal(first.pixels, second.pixels)
    assert np.array_equal(pixels, before)


def test_pictures_show_the_same_window_at_the_same_size(view):
    tool = ZoomInTool()
    replies = [tool(view, {"picture": name, "box": [600, 10, 700, 30]}) for name in view.names]
    assert replies[0].data["box_px"] == replies[1].data["box_px"]
    assert replies[0].pictures[0].pixels.shape == replies[1].pictures[0].pixels.shape
    assert [r.pictures[0].label.split(",")[0] for r in replies] == ["source", "edited"]


def test_reply_says_what_was_asked_and_what_is_shown(view):
    reply = ZoomInTool()(view, {"picture": "edited", "box": [-10, 100, 6, 109]})
    assert reply.data["asked_box_px"] == [-10.0, 100.0, 6.0, 109.0]
    assert reply.data["box_px"] == [0, 73, 64, 137]
    assert reply.data["where"] == "5% from left, 22% from top"
    assert reply.data["scale"] == 8.0
    assert any("border" in note for note in reply.data["notes"])
    assert reply.pictures[0].label == "edited, pixels [0, 73, 64, 137] of 640x480, shown x8"


def test_only_pictures_that_exist_are_offered(view):
    tool = ZoomInTool()
    assert tool.parameters(view)["properties"]["picture"]["enum"] == ["source", "edited"]
    with pytest.raises(ToolError, match=r"\['source', 'edited'\], got 'reference'"):
        tool(view, {"picture": "reference", "box": [0, 0, 5, 5]})
    whole = dataclasses.replace(view, reference=noise(640, 480, seed=2))
    assert tool.parameters(whole)["properties"]["picture"]["enum"][-1] == "reference"


def test_masked_parts_are_named_as_such(view):
    masked = dataclasses.replace(view, masked=(Box(0, 0, 50, 50),))
    near = ZoomInTool()(masked, {"picture": "source", "box": [20, 20, 90, 90]})
    far = ZoomInTool()(masked, {"picture": "source", "box": [320, 220, 390, 290]})
    assert any("white" in note for note in near.data["notes"])
    assert not far.data["notes"]


@pytest.mark.parametrize(
    "box",
    [
        pytest.param([10, 10, 10, 20], id="no width"),
        pytest.param([20, 10, 10, 20], id="corners swapped"),
        pytest.param([1, 2, 3], id="three numbers"),
        pytest.param(None, id="null"),
        pytest.param("10,10,20,20", id="text"),
        pytest.param([0, 0, float("nan"), 5], id="not a number"),
        pytest.param([0, 0, float("inf"), 5], id="infinite"),
    ],
)
def test_what_is_no_box_is_told_to_the_judge(view, box):
    with pytest.raises(ToolError, match="four numbers"):
        ZoomInTool()(view, {"picture": "source", "box": box})
