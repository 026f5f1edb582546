"""What a judge has looked at so far, told with every new look (DLEBench 4.2).

A judge that searches by zooming forgets where it has been. The memory is the evidence of its
loop: nothing is kept here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agent_judge.records import Box, Evidence
from agent_judge.tools.base import ToolReply

_LOOKS = ("zoom_in", "enhance")
_SAME_IOU = 0.9


def with_views_seen(reply: ToolReply, tool: str, evidence: Sequence[Evidence]) -> ToolReply:
    """The reply of a look, with the looks before it.

    Args:
        reply: What the tool answered; only looks that succeeded are added to.
        tool: The tool's name.
        evidence: The loop's evidence before this reply, in order.
    """
    if tool not in _LOOKS or "box_px" not in reply.data:
        return reply
    seen = _views(evidence)
    data = {**reply.data, "views_seen": seen}
    window = Box(*reply.data["box_px"])
    if any(
        view["picture"] == reply.data["picture"] and window.iou(Box(*view["box_px"])) >= _SAME_IOU
        for view in seen
    ):
        data["notes"] = [
            *reply.data["notes"],
            "you have seen nearly this view of this picture before: move on to another place, "
            "another size or the other picture",
        ]
    return replace(reply, data=data)


def _views(evidence: Sequence[Evidence]) -> list[dict[str, Any]]:
    """Picture, window and tool of each successful look, each once."""
    views = []
    for item in evidence:
        data = json.loads(item.text) if item.tool in _LOOKS else {}
        if "box_px" in data:
            view = {"tool": item.tool, "picture": data["picture"], "box_px": data["box_px"]}
            if view not in views:
                views.append(view)
    return views
