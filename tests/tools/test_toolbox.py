import json
from dataclasses import replace

import numpy as np
import pytest

from agent_judge.errors import ToolError
from agent_judge.tools.base import ToolPicture, ToolReply, View
from agent_judge.tools.enhanced_crops import MAX_SIDE_PX, with_enhanced_crops
from agent_judge.tools.loaded import shared_upscaler
from agent_judge.tools.super_resolution import SCALE
from agent_judge.tools.toolbox import build_tools


@pytest.fixture
def view():
    rng = np.random.default_rng(3)
    source = rng.integers(0, 256, (40, 50, 3), dtype=np.uint8).repeat(4, 0).repeat(4, 1)
    edited = source.copy()
    edited[60:84, 80:104] = (230, 20, 40)
    return View(source=source, edited=edited, reference=edited)


def test_tools_come_in_the_order_of_the_protocol():
    assert [t.name for t in build_tools()] == ["grounding", "zoom_in", "difference", "enhance"]
    enhanced = build_tools(enhance_crops=True, detector="x", device="cpu", max_crops=2)
    assert [t.name for t in enhanced] == ["grounding", "zoom_in", "difference", "enhance"]


@pytest.mark.parametrize("reference", [True, False])
def test_without_a_reference_no_tool_speaks_of_one(view, reference):
    if not reference:
        view = View(source=view.source, edited=view.edited)
    told = json.dumps([[t.description, t.parameters(view)] for t in build_tools()])
    assert ("reference" in told) == reference


def test_schemas_are_closed_objects_that_require_only_what_they_have(view):
    for tool in build_tools(enhance_crops=True):
        schema = tool.parameters(view)
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert set(schema.get("required", ())) <= set(schema["properties"])


@pytest.mark.slow
def test_replies_are_plain_json_whose_boxes_are_marked(view):
    calls = {
        "zoom_in": {"picture": "source", "box": [80, 60, 104, 84]},
        "difference": {},
        "enhance": {"picture": "edited", "box": [80, 60, 104, 84]},
    }
    for tool in build_tools(enhance_crops=True):
        if tool.name in calls:
            data = tool(view, calls[tool.name]).data
            assert json.loads(json.dumps(data)) == data


def test_enhanced_crops_follow_their_plain_crop_and_come_from_full_resolution(view):
    plain, enhanced = (build_tools(enhance_crops=on)[1] for on in (False, True))
    args = {"picture": "edited", "box": [80, 60, 150, 140]}
    before, after = plain(view, args), enhanced(view, args)
    assert np.array_equal(after.pictures[0].pixels, before.pictures[0].pixels)
    assert after.pictures[1].pixels.shape == (80 * SCALE, 70 * SCALE, 3)
    assert after.pictures[1].label.startswith(before.pictures[0].label)
    assert after.data == {**before.data, "enhanced_crops": 1}


def test_crops_large_enough_to_see_are_not_enhanced():
    large = ToolPicture(label="a", pixels=np.zeros((10, MAX_SIDE_PX + 1, 3), np.uint8))
    reply = with_enhanced_crops(
        ToolReply(data={}, pictures=(large,)), shared_upscaler("animevideov3")
    )
    assert reply.pictures == (large,)
    assert reply.data["enhanced_crops"] == 0


def test_what_went_wrong_with_an_enhanced_crop_stands_in_its_label():
    def run_out(pixels):
        raise MemoryError

    upscaler = replace(shared_upscaler("animevideov3"), run=run_out)
    plain = ToolPicture(label="a", pixels=np.zeros((8, 8, 3), np.uint8))
    _, enhanced = with_enhanced_crops(ToolReply(data={}, pictures=(plain,)), upscaler).pictures
    assert enhanced.label.startswith("a; the same part, x4, plain interpolation (fallback); memory")


def test_grounding_without_a_detector_says_so_and_how_to_get_one(view):
    grounding = build_tools()[0]
    assert grounding.description.startswith("NOT AVAILABLE")
    with pytest.raises(ToolError, match=r"pip install 'agent-judge\[models\]'"):
        grounding(view, {"picture": "source", "phrases": ["a red cup"]})
