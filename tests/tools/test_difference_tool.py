import json

import cv2
import numpy as np
import pytest
from skimage import data

from agent_judge.records import Box
from agent_judge.tools.base import View
from agent_judge.tools.difference import DifferenceTool, find_differences
from tests.pictures import backdrop, resized

GREEN = (40, 200, 60)


def dotted(count, side=8, size_wh=(480, 320)):
    """A picture and the same with `count` green squares, in reading order from the top left."""
    source = backdrop(size_wh, 6)
    edited = source.copy()
    cells = [(x, y) for y in range(20, size_wh[1] - 20, 40) for x in range(20, size_wh[0] - 20, 40)]
    for x, y in cells[:count]:
        edited[y : y + side, x : x + side] = GREEN
    return View(source=source, edited=edited)


def boxes_in(value, key=""):
    """Every list of four numbers in a reply, with the key that it stands under."""
    if isinstance(value, dict):
        return [found for k, v in value.items() for found in boxes_in(v, k)]
    if isinstance(value, list) and len(value) == 4 and all(isinstance(v, int) for v in value):
        return [(key, value)]
    return [found for v in value for found in boxes_in(v, key)] if isinstance(value, list) else []


def test_the_reply_is_json_with_the_fields_of_a_difference_and_a_summary():
    view = dotted(2)
    reply = DifferenceTool()(view, {})
    read = json.loads(json.dumps(reply.data))
    assert read == reply.data
    found = find_differences(view.source, view.edited)
    assert set(found.to_json()) | {"summary", "crops"} == set(read)
    assert list(read["regions"][0]) == ["box_px", "area_px", "strength", "edge_only", "whereabouts"]
    assert [r["box_px"] for r in read["regions"]] == [list(r.box_xyxy) for r in found.regions]
    assert read["summary"].startswith("2 regions differ beyond noise")
    assert read["regions"][0]["whereabouts"].endswith("from top")


def test_every_box_of_the_reply_is_under_a_key_that_ends_in_box_px():
    found = boxes_in(dict(DifferenceTool()(dotted(3), {}).data))
    assert len(found) == 3
    assert all(key.endswith("box_px") for key, _ in found)


def test_a_crop_shows_one_window_of_source_and_edited_side_by_side():
    view = dotted(1)
    [picture] = DifferenceTool()(view, {}).pictures
    window = json.loads(picture.label.removeprefix("difference 1: source and edited at "))
    x1, y1, x2, y2 = window
    assert Box(*window).iou(Box(20, 20, 28, 28)) > 0
    width = x2 - x1
    native = picture.native
    assert native is not None
    np.testing.assert_array_equal(native[:, :width], view.source[y1:y2, x1:x2])
    np.testing.assert_array_equal(native[:, -width:], view.edited[y1:y2, x1:x2])
    assert max(picture.pixels.shape) > 4 * max(y2 - y1, width)


@pytest.mark.parametrize(("count", "shown"), [(0, 0), (1, 1), (6, 6), (9, 6)])
@pytest.mark.slow
def test_no_more_crops_than_allowed(count, shown):
    reply = DifferenceTool()(dotted(count), {})
    assert len(reply.pictures) == reply.data["crops"] == shown
    assert [p.label.split(":")[0] for p in reply.pictures] == [
        f"difference {n}" for n in range(1, shown + 1)
    ]


def test_no_region_is_said_in_words():
    assert DifferenceTool()(dotted(0), {}).data["summary"] == (
        "no region differs by more than re-rendering noise."
    )


def test_regions_left_out_of_the_list_are_counted():
    reply = DifferenceTool(max_listed=5, max_crops=2)(dotted(12), {})
    assert len(reply.data["regions"]) == 5
    assert reply.data["omitted"] == 7
    assert len(reply.pictures) == 2
    assert reply.data["summary"].startswith("12 regions differ")
    assert "7 regions not listed" in reply.data["summary"]


@pytest.mark.slow
def test_a_changed_scene_is_a_share_and_one_crop():
    source = data.astronaut()
    other = resized(np.ascontiguousarray(data.coffee()), (512, 512))
    reply = DifferenceTool()(View(source=source, edited=other), {})
    assert len(reply.pictures) == 1
    assert "most of the scene changed" in reply.data["summary"]
    assert "%" in reply.data["summary"]


def test_the_painted_mask_is_left_out():
    view = dotted(1)
    edited = view.edited.copy()
    cv2.circle(edited, (300, 200), 12, (250, 20, 20), -1)
    mask = Box(280, 180, 321, 221)
    white = [view.source.copy(), edited]
    for pixels in white:
        pixels[180:221, 280:321] = 255
    seen = View(source=white[0], edited=np.roll(white[1], 0), masked=(mask,))
    [region] = DifferenceTool()(seen, {}).data["regions"]
    assert Box(*region["box_px"]).iou(Box(20, 20, 28, 28)) > 0.6


def test_the_tool_takes_no_arguments():
    parameters = DifferenceTool().parameters(dotted(0))
    assert parameters == {"type": "object", "properties": {}, "additionalProperties": False}
    assert DifferenceTool().name == "difference"
    assert "box_px" in DifferenceTool().description
