"""BPM's rules on regions: did the target change size, and does it stand where it was to stand?

Both pictures share one frame. Places are compared on a canvas of 500 x 500, so that a distance in
pixels means the same in every picture. What no box can tell passes: a rule is there to catch an
edit that is plainly wrong, and what a detector missed is not the editing model's fault. `measured`
says which of the two it was.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agent_judge.records import Box, covered_area

SizeWord = Literal["bigger", "smaller", "unchanged", "none"]
"""What the instruction asks of the target's size; none: it says nothing of it."""
PositionWord = Literal["left", "right", "above", "below", "inside", "unchanged", "none"]
"""Where the edited object is to stand, seen from the original one or the reference object."""

CANVAS_PX = 500
BIGGER, SMALLER = 1.2, 0.8
"""Area after by area before: above the first it grew, below the second it shrank."""
MAX_IOU = 0.4
"""Two objects side by side overlap less."""
MAX_STEP_PX = 40
"""Of the canvas; L1 distance of the centres of one thing that did not move."""
_DIGITS = 9
"""Of what is compared, so that 120 / 100 is not above 1.2 by a rounding of floats."""


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """What a rule says."""

    score: float
    """1 kept, 0 broken, 0.5 where only some of several added objects keep it."""
    measured: bool
    """False where it passed because the instruction asks for nothing or a box is missing."""
    told: str
    """The figures behind it, in words."""


def on_canvas(box: Box, size_wh: tuple[int, int]) -> Box:
    """The box as it lies when its picture is stretched to 500 x 500.

    Example:
        >>> on_canvas(Box(100, 50, 200, 100), (1000, 500)).xyxy
        (50.0, 50.0, 100.0, 100.0)
    """
    x, y = CANVAS_PX / size_wh[0], CANVAS_PX / size_wh[1]
    return Box(box.x1 * x, box.y1 * y, box.x2 * x, box.y2 * y)


def size_rule(
    asked: SizeWord,
    before: Sequence[Box],
    after: Sequence[Box],
) -> Ruling:
    """Whether the target became bigger, became smaller or kept its size, as asked.

    What two boxes share counts once.

    Args:
        asked: what the instruction asks for; the rule is for edits of type "change size" only.
        before: the target in the source; empty where it was not found.
        after: the target in the edited picture, in the same frame; empty where it was not found.

    Example:
        >>> size_rule("bigger", [Box(0, 0, 10, 10)], [Box(0, 0, 11, 11)]).told
        'the area became 1.21 times itself: bigger'
    """
    if asked == "none":
        return _passed("no size was asked for")
    if not before or not after:
        return _passed(f"no box of the target in the {'edited' if before else 'source'} picture")
    ratio = round(covered_area(after) / covered_area(before), _DIGITS)
    became = "bigger" if ratio > BIGGER else "smaller" if ratio < SMALLER else "unchanged"
    told = f"the area became {ratio:.2f} times itself: {became}"
    return Ruling(score=float(became == asked), measured=True, told=told)


def position_rule(
    asked: PositionWord,
    edited: Sequence[Box],
    anchors: Sequence[Box],
    *,
    size_wh: tuple[int, int],
) -> Ruling:
    """Whether every added object stands where it was to stand.

    Left, right, above, below: the centres are in that order along the axis, are further apart along
    it than across it, and the boxes overlap by an IoU under 0.4. Inside: the box lies in the other
    without touching its edges. Unchanged: the centres are less than 40 px of 500 apart (L1).

    Args:
        asked: what the instruction asks for; the rule is for additions with a reference object.
        edited: the edited objects, in pixels; empty where none was found.
        anchors: what they are placed by, in the same frame; of several, the box around all. Empty
            where none was found.
        size_wh: width and height of the frame.

    Example:
        >>> position_rule("left", [Box(0, 40, 10, 50)], [Box(60, 40, 90, 60)],
        ...               size_wh=(100, 100)).score
        1.0
    """
    if asked == "none":
        return _passed("no position was asked for")
    if not edited or not anchors:
        return _passed(f"no box of the {'object it is placed by' if edited else 'edited object'}")
    anchor = on_canvas(functools.reduce(Box.union, anchors), size_wh)
    kept = sum(_stands(asked, on_canvas(box, size_wh), anchor) for box in edited)
    score = 1.0 if kept == len(edited) else 0.5 if kept else 0.0
    return Ruling(
        score=score, measured=True, told=f"{kept} of {len(edited)} stand as asked: {asked}"
    )


def _passed(why: str) -> Ruling:
    return Ruling(score=1.0, measured=False, told=why)


def _stands(asked: PositionWord, box: Box, anchor: Box) -> bool:
    if asked == "inside":
        return (
            anchor.x1 < box.x1 and anchor.y1 < box.y1 and box.x2 < anchor.x2 and box.y2 < anchor.y2
        )
    right_px = (box.x1 + box.x2 - anchor.x1 - anchor.x2) / 2
    down_px = (box.y1 + box.y2 - anchor.y1 - anchor.y2) / 2
    if asked == "unchanged":
        return round(abs(right_px) + abs(down_px), _DIGITS) < MAX_STEP_PX
    along, across = {
        "left": (-right_px, down_px),
        "right": (right_px, down_px),
        "above": (-down_px, right_px),
        "below": (down_px, right_px),
    }[asked]
    apart = round(along - abs(across), _DIGITS) > 0
    return apart and round(box.iou(anchor), _DIGITS) < MAX_IOU
