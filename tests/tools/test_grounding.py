import json

import numpy as np
import pytest

from agent_judge.errors import ToolError
from agent_judge.records import Box
from agent_judge.tools.base import View
from agent_judge.tools.detector import UNKNOWN
from agent_judge.tools.grounding import (
    MAX_CANDIDATES,
    MAX_PHRASES,
    GroundingTool,
    _phrases,
    reply_data,
)
from agent_judge.tools.tiled_search import Found, Look, Search, search
from tests.tools.red_finder import RedFinder, picture


def told(pixels, phrases, detector=None, region=None):
    result = search(pixels, phrases, detector or RedFinder(), region)
    size_wh = (pixels.shape[1], pixels.shape[0])
    return reply_data(result, "source", phrases, size_wh, "red-finder")


def test_two_equal_things_are_both_listed_with_their_places_t16():
    data = told(picture(600, 400, (60, 180, 90, 220), (510, 180, 540, 220)), ["left red box"])
    assert [c["where"] for c in data["candidates"]] == [
        "12% from left, 50% from top",
        "88% from left, 50% from top",
    ]
    assert any("does not understand position words" in note for note in data["notes"])


def test_plain_phrases_get_no_word_about_positions():
    data = told(picture(600, 400, (60, 180, 90, 220)), ["bright lamp"])
    assert not any("position" in note for note in data["notes"])


def test_missing_box_is_no_word_of_absence_and_the_scale_is_said_t11():
    data = told(picture(3000, 2000), ["red cup"])
    assert data["candidates"] == []
    said = " ".join(data["notes"])
    assert "no box found for ['red cup']: that does not mean it is absent" in said
    assert "at x1: things under about 16 px are easily missed" in said
    assert data["closest_scale"] == 1


def test_scale_of_a_tiny_region_is_written_as_a_number():
    notes = told(picture(600, 400), ["cup"], region=Box(10, 10, 11, 11))["notes"]
    assert "at x800: things under about 1 px are easily missed" in notes[0]


def test_phrases_with_and_without_a_box_are_told_apart():
    data = told(picture(600, 400, (60, 180, 90, 220)), ["red box", "blue cup"])
    assert [c["phrase"] for c in data["candidates"]] == ["red box"]
    assert any("['blue cup']" in note for note in data["notes"])


def test_a_box_that_fits_no_phrase_is_listed_and_is_no_find():
    look = Look(window=Box(0, 0, 100, 100), scale=1.0)
    other = Found(box=Box(1, 2, 30, 40), phrase=UNKNOWN, score=0.5, look=look, cut=False)
    data = reply_data(Search(found=(other,), looks=(look,)), "source", ["cup"], (100, 100), "x")
    assert [c["phrase"] for c in data["candidates"]] == ["unknown"]
    assert any("no box found for ['cup']" in note for note in data["notes"])


@pytest.mark.parametrize(
    ("asked", "phrases"),
    [
        pytest.param(["Red cup", "box", "red cup."], ["Red cup", "box"], id="first spelling stays"),
        pytest.param(["cup", "red cup", "cups"], ["cup", "red cup", "cups"], id="only alike"),
        pytest.param(["a", "a."] * 8, ["a"], id="counted once"),
    ],
)
def test_phrases_that_are_one_to_the_detector_are_asked_once(asked, phrases):
    assert _phrases(asked) == phrases


def test_box_thinner_than_what_is_written_stays_a_box():
    look = Look(window=Box(0, 0, 100, 100), scale=1.0)
    thin = Found(box=Box(10.01, 99.96, 10.02, 100), phrase="cup", score=0.5, look=look, cut=False)
    data = reply_data(Search(found=(thin,), looks=(look,)), "edited", ["cup"], (100, 100), "x")
    assert data["candidates"][0]["box_px"] == [10.0, 99.9, 10.1, 100.0]


def test_reply_is_plain_json_and_counts_what_it_leaves_out():
    look = Look(window=Box(0, 0, 100, 100), scale=1.0)
    many = tuple(
        Found(box=Box(i, 0, i + 1, 1), phrase="cup", score=0.5, look=look, cut=False)
        for i in range(MAX_CANDIDATES + 3)
    )
    result = Search(found=many, looks=(look,))
    data = reply_data(result, "edited", ["cup"], (100, 100), "x")
    assert len(data["candidates"]) == MAX_CANDIDATES
    assert data["omitted"] == 3
    assert json.loads(json.dumps(data)) == data


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param({"phrases": []}, "1 to 8", id="no phrase"),
        pytest.param({"phrases": ["a"] * 2 + list("bcdefghi")}, "1 to 8", id="too many"),
        pytest.param({"phrases": "red cup"}, "list of texts", id="text in place of a list"),
        pytest.param({"phrases": [3]}, "list of texts", id="numbers"),
        pytest.param({"phrases": ["cup", "?!"]}, "must name something", id="signs only"),
        pytest.param({}, "list of texts", id="none"),
        pytest.param({"phrases": ["a"], "region": [900, 0, 950, 10]}, "outside", id="region"),
        pytest.param({"phrases": ["a"], "picture": "reference"}, "must be one of", id="picture"),
        pytest.param({"phrases": ["a"]}, "not available", id="no detector here"),
    ],
)
def test_calls_that_cannot_be_done_are_told_to_the_judge(args, message):
    blank = np.zeros((48, 64, 3), np.uint8)
    view = View(source=blank, edited=blank)
    with pytest.raises(ToolError, match=message):
        GroundingTool()(view, {"picture": "source", **args})
    assert MAX_PHRASES == 8
