"""Label Studio exports -> boxes by picture, as shares of its width and height."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from agent_judge.errors import InputError
from agent_judge.formats.annotations import Annotation
from agent_judge.formats.entries import BadEntry, read_entries
from agent_judge.images import SUFFIXES

_UPLOADED = re.compile(r"[0-9a-f]{8}-(?=.)")
"""What an upload puts before a file's name."""
_PERCENT = 100
_OTHER_SHAPE = (BadEntry, KeyError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What reading a file of another kind as an export raises."""


def read_label_studio(path: Path) -> Iterator[Annotation]:
    """The boxes of each picture.

    Rectangles (turned ones too), ellipses and polygons give their upright boxes. Brush strokes
    give none: export them as masks. Of several annotations of a task the one marked as ground
    truth is taken, else the first that was not cancelled, and that is told.

    Args:
        path: the JSON or JSON-MIN export.

    Raises:
        InputError: it is no such file.
    """
    for entry in read_entries(path):
        try:
            task = entry.values()
            picture = _picture(task)
            regions, remark = _regions(task)
            shapes = [shape for region in regions for shape in _shape(region)]
        except _OTHER_SHAPE as err:
            told = f"no task that can be read: {err}"
            raise InputError(f"{str(path)!r}, line {entry.line}: {told}") from err
        brushed = len(regions) - len(shapes)
        if brushed:
            remark = f"{brushed} regions are no boxes (export brushes as masks); {remark}"
        yield Annotation(
            name=picture,
            boxes=[box for box, _ in shapes],
            box_format="xyxy_norm",
            targets=list(dict.fromkeys(word for _, words in shapes for word in words)),
            remark=remark.removesuffix("; "),
        )


def _picture(task: Mapping[str, Any]) -> str:
    """The name of a task's picture, out of a path or an address.

    Raises:
        BadEntry: nothing in the task's data looks like one.
    """
    data = task.get("data", task)
    for value in data.values():
        if not isinstance(value, str):
            continue
        parts = urlsplit(value)
        inside = parse_qs(parts.query).get("d", [])
        path = PurePosixPath(inside[0] if inside else unquote(parts.path))
        if path.suffix.lower() in SUFFIXES:
            return str(path.with_name(_UPLOADED.sub("", path.name, count=1)))
    raise BadEntry("expected a path to a picture in its data")


def _regions(task: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], str]:
    """The regions that count, and a remark where there was a choice."""
    if "annotations" not in task:  # JSON-MIN: each control is a key of its own
        lists = [value for value in task.values() if isinstance(value, list)]
        return [r for regions in lists for r in regions if isinstance(r, Mapping)], ""
    done = [a for a in task["annotations"] if not a.get("was_cancelled")]
    if not done:
        return [], ""
    chosen = next((a for a in done if a.get("ground_truth")), done[0])
    remark = f"the first of {len(done)} annotations" if len(done) > 1 else ""
    remark = "" if chosen.get("ground_truth") else remark
    flat = ({**r, **r.get("value", {})} for r in chosen["result"])
    return [r for r in flat if r.get("type") not in ("choices", "textarea", "rating")], remark


def _shape(region: Mapping[str, Any]) -> list[tuple[list[float], list[str]]]:
    """A region's upright box and its labels; nothing for a shape without corners."""
    words = next((v for k, v in region.items() if k.endswith("labels") and isinstance(v, list)), [])
    width, height = region.get("original_width", 1), region.get("original_height", 1)
    if "points" in region:
        corners = [(x * width, y * height) for x, y in region["points"]]
    elif "radiusX" in region:
        x, y, rx, ry = (region[name] for name in ("x", "y", "radiusX", "radiusY"))
        corners = [((x - rx) * width, (y - ry) * height), ((x + rx) * width, (y + ry) * height)]
    elif "width" in region:
        corners = _turned(region, width, height)
    else:
        return []
    xs, ys = ([c / _PERCENT for c in axis] for axis in zip(*corners, strict=True))
    x1, y1 = max(min(xs) / width, 0.0), max(min(ys) / height, 0.0)
    x2, y2 = min(max(xs) / width, 1.0), min(max(ys) / height, 1.0)
    return [([x1, y1, x2, y2], [str(word) for word in words])]


def _turned(region: Mapping[str, Any], width: float, height: float) -> list[tuple[float, float]]:
    """The corners of a rectangle that is turned clockwise about its first one, in hundredths."""
    turn = math.radians(region.get("rotation", 0))
    left, top = region["x"] * width, region["y"] * height
    return [
        (
            left + across * math.cos(turn) - down * math.sin(turn),
            top + across * math.sin(turn) + down * math.cos(turn),
        )
        for across in (0, region["width"] * width)
        for down in (0, region["height"] * height)
    ]
