import json

import numpy as np
import pytest

from agent_judge.records import Evidence
from agent_judge.tools.base import ToolReply, View
from agent_judge.tools.views_seen import with_views_seen
from agent_judge.tools.zoom_in import ZoomInTool


@pytest.fixture
def look():
    """One loop: each call zooms, is told what was seen, and becomes evidence."""
    blank = np.zeros((480, 640, 3), np.uint8)
    view = View(source=blank, edited=blank)
    evidence: list[Evidence] = []

    def zoom(picture, box):
        args = {"picture": picture, "box": box}
        reply = with_views_seen(ZoomInTool()(view, args), "zoom_in", evidence)
        evidence.append(Evidence(tool="zoom_in", args=args, text=json.dumps(dict(reply.data))))
        return reply.data

    return zoom


def test_each_look_is_told_of_those_before_it(look):
    assert look("source", [0, 0, 100, 100])["views_seen"] == []
    look("source", [100, 0, 200, 100])
    assert look("edited", [0, 0, 100, 100])["views_seen"] == [
        {"tool": "zoom_in", "picture": "source", "box_px": [0, 0, 100, 100]},
        {"tool": "zoom_in", "picture": "source", "box_px": [100, 0, 200, 100]},
    ]


@pytest.mark.parametrize(
    ("picture", "box", "warned"),
    [
        pytest.param("source", [300, 200, 400, 300], True, id="the same"),
        pytest.param("source", [301, 201, 401, 300], True, id="nearly the same"),
        pytest.param("edited", [300, 200, 400, 300], False, id="the other picture"),
        pytest.param("source", [330, 200, 430, 300], False, id="moved"),
        pytest.param("source", [325, 225, 375, 275], False, id="closer"),
    ],
)
def test_nearly_the_same_look_is_said(look, picture, box, warned):
    look("source", [300, 200, 400, 300])
    notes = look(picture, box)["notes"]
    assert any("before" in note for note in notes) == warned


def test_failed_looks_and_other_tools_are_left_alone():
    failed = ToolReply(data={"error": "outside"})
    assert with_views_seen(failed, "zoom_in", ()) is failed
    other = ToolReply(data={"regions": [], "box_px": [0, 0, 1, 1]})
    assert with_views_seen(other, "difference", ()) is other
    evidence = [
        Evidence(tool="difference", args={}, text="{}"),
        Evidence(tool="zoom_in", args={}, text='{"error": "outside"}'),
    ]
    reply = ToolReply(data={"picture": "source", "box_px": [0, 0, 9, 9], "notes": []})
    assert with_views_seen(reply, "zoom_in", evidence).data["views_seen"] == []
