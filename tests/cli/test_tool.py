import json

import numpy as np
import pytest

from agent_judge.images import encode_png, load_image
from agent_judge.tools.difference import find_differences
from agent_judge.tools.zoom_in import zoom
from tests.cli.calls import call
from tests.pictures import scene

SOURCE = scene((200, 160)).pixels


@pytest.fixture
def pair(tmp_path):
    edited = SOURCE.copy()
    edited[60:90, 70:110] = (255, 255, 0)
    for name, pixels in (("source", SOURCE), ("edited", edited)):
        (tmp_path / f"{name}.png").write_bytes(encode_png(pixels))
    return tmp_path / "source.png", tmp_path / "edited.png"


def test_zoom_in_shows_what_the_judge_gets(pair, tmp_path, capsys):
    out = tmp_path / "z.png"
    assert call("tool", "zoom_in", pair[0], "--box", "10,20,40,60", "-o", out) == 0
    expected = zoom(SOURCE, (10, 20, 40, 60))
    assert np.array_equal(load_image(out), expected.pixels)
    assert json.loads(capsys.readouterr().out)["box_px"] == list(expected.window.xyxy)


def test_zoom_in_takes_margin_and_scale(pair, tmp_path, capsys):
    out = tmp_path / "z.png"
    args = ("--box", "10,20,40,60", "--margin-px", "5", "--scale", "3", "-o", out)
    assert call("tool", "zoom_in", pair[0], *args) == 0
    assert json.loads(capsys.readouterr().out)["box_px"] == [5, 15, 45, 65]
    assert load_image(out).shape == (150, 120, 3)


def test_difference_as_json_has_the_fields_of_a_difference(pair, capsys):
    assert call("tool", "difference", *pair, "--json") == 0
    found = find_differences(SOURCE, load_image(pair[1]))
    told = json.loads(capsys.readouterr().out)
    boxes = [region.pop("box_px") for region in told["regions"]]
    assert told == found.to_json()
    assert boxes == [region["box_xyxy"] for region in told["regions"]] != []


def test_difference_in_words_lists_the_regions(pair, capsys):
    assert call("tool", "difference", *pair) == 0
    shown = capsys.readouterr().out
    assert "1. [" in shown
    assert "1 regions; changed" in shown


def test_enhance_writes_a_crop_four_times_as_large(pair, tmp_path, capsys):
    out = tmp_path / "e.png"
    assert call("tool", "enhance", pair[0], "--box", "0,0,70,80", "-o", out) == 0
    told = json.loads(capsys.readouterr().out)
    x1, y1, x2, y2 = told["box_px"]
    assert told["picture"] == str(pair[0])
    assert "source" not in json.dumps({**told, "picture": ""})
    assert load_image(out).shape == (4 * (y2 - y1), 4 * (x2 - x1), 3)


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("zoom_in", "{0}", "--box", "1,2,3"), "expected four numbers"),
        (("zoom_in", "{0}", "--box", "900,2,950,8"), "outside the picture"),
        (("zoom_in", "{0}", "--box", "1,2,30,inf"), "four numbers"),
        (("zoom_in", "nowhere.png", "--box", "1,2,3,4"), "nowhere.png"),
        (("difference", "{0}", "nowhere.png"), "nowhere.png"),
        (("grounding", "{0}", "--phrase", "disc"), "not available"),
        (("enhance", "{0}", "--box", "0,0,9,9", "-o", "/none/x.png"), "cannot write"),
        (("enhance", "{0}", "--network", "best"), "animevideov3, x4plus, realesrgan-"),
    ],
)
def test_what_cannot_be_done_is_one_line(pair, capsys, args, told):
    assert call("tool", *(arg.format(pair[0]) for arg in args)) == 2
    shown = capsys.readouterr().err
    assert told in shown
    assert shown.count("\n") == 1
