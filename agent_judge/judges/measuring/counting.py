"""How many of a set of like things are there, and whether they are still those things."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from agent_judge.judges.measuring.align import Mask, Planes
from agent_judge.judges.measuring.changes import Changes
from agent_judge.judges.measuring.ground import figure, surroundings
from agent_judge.judges.measuring.laid_over import Plane, inside
from agent_judge.judges.measuring.texture import edges
from agent_judge.records import Box

_GONE = 0.35
"""A thing whose place stands out by less than this share of what it did is gone; and so is one
whose outline keeps less than this share of its edges, where the ground itself changes colour."""
_CLEAR = 1.2
_ALIKE = 28.0
"""Lab distance up to which two things have one colour."""
_LEAST = 5.0
"""Lab distance up to which a thing is simply as it was."""
_TOUCHED = 0.1
"""Share of a box from which a change in it may be the thing's."""
_SET = 0.08
"""Share of a box around a set that its things surely cover."""
_MERGED = 1.8
"""A thing larger than so many usual ones is several that run together: no count is safe."""
_SIZE = 0.35
"""Smallest share of the usual thing's area that still counts as a thing."""


@dataclass(frozen=True, kw_only=True)
class Tally:
    """The things of one picture."""

    present: int
    altered: int
    """Of those present: no longer the things that they were."""


@dataclass(frozen=True, kw_only=True)
class Counted:
    """The set in all three pictures."""

    source: int
    edited: Tally
    reference: int | None


def count_things(changes: Changes) -> Counted | None:
    """The counts; None where the things do not stand out clearly enough to be counted."""
    if len(changes.laid.boxes) > 1:
        return _by_box(changes)
    return _by_outline(changes)


def _by_box(changes: Changes) -> Counted | None:
    """One box around each thing: which places are still taken?"""
    laid = changes.laid
    edited = [_state(changes, laid.edited, changes.from_source, box) for box in laid.boxes]
    if None in edited:
        return None
    reference: list[_State | None] = []
    if laid.reference is not None:
        reference = [_state(changes, laid.reference, changes.asked_for, b) for b in laid.boxes]
        if None in reference:
            return None
    return Counted(
        source=len(laid.boxes),
        edited=Tally(
            present=sum(state != "gone" for state in edited),
            altered=sum(state == "altered" for state in edited),
        ),
        reference=sum(state != "gone" for state in reference) if reference else None,
    )


_State = Literal["kept", "altered", "gone"]


def _state(changes: Changes, lab: Planes, away: Plane, box: Box) -> _State | None:
    """What became of the thing in a box; None when it cannot be told.

    Args:
        changes: the target.
        lab: the picture.
        away: its distance from the source.
        box: around one thing, in the frame of the crops.
    """
    laid = changes.laid
    part = inside((box,), laid.target.shape)
    core = inside((box,), laid.target.shape, -0.2 * min(box.width, box.height))
    least = max(_LEAST, 0.5 * changes.limit)
    if float(np.quantile(away[part], 1 - _TOUCHED)) < least:
        return "kept"
    ring = surroundings(part, laid.ring)
    before, after = (figure(p, part, ring) for p in (laid.source, lab))
    if before.clear < _CLEAR or not before.mask.any():
        return None
    if after.contrast < _GONE * before.contrast:  # a slender or faint thing leaves most as it was
        return "gone"
    if float(np.median(away[core])) < least:
        return "kept"
    rim = _rim(before.mask)
    if edges(lab, rim) < _GONE * edges(laid.source, rim):
        return "gone"
    return "altered" if _median_gap(laid.source, lab, before.mask) > _ALIKE else "kept"


def _rim(mask: Mask) -> Mask:
    """The pixels on both sides of an outline."""
    solid, around = mask.astype(np.uint8), np.ones((3, 3), np.uint8)
    return cv2.dilate(solid, around) > cv2.erode(solid, around)


def _by_outline(changes: Changes) -> Counted | None:
    """One box around the set: things are told apart by their outlines."""
    laid = changes.laid
    ring = surroundings(changes.place, laid.ring)
    pictures = [laid.source, laid.edited]
    if laid.reference is not None:
        pictures.append(laid.reference)
    figures = [figure(lab, changes.place, ring, share=_SET) for lab in pictures]
    if min(f.clear for f in figures) < _CLEAR:
        return None
    masks = [_things(f.mask) for f in figures]
    usual = float(np.median([m.sum() for m in masks[0]])) if masks[0] else 0.0
    masks = [[m for m in things if int(m.sum()) >= _SIZE * usual] for things in masks]
    if any(int(m.sum()) > _MERGED * usual for things in masks for m in things):
        return None
    like = np.logical_or.reduce(masks[0])
    altered = sum(_colour_gap(laid.edited, thing, laid.source, like) > _ALIKE for thing in masks[1])
    extra = _added_beyond(changes, masks[0], usual)
    return Counted(
        source=len(masks[0]),
        edited=Tally(present=len(masks[1]) + extra, altered=altered),
        reference=len(masks[2]) if len(masks) > 2 else None,
    )


def _things(mask: Mask) -> list[Mask]:
    count, labels = cv2.connectedComponents(mask.astype(np.uint8))
    return [labels == i for i in range(1, count)]


def _added_beyond(changes: Changes, things: list[Mask], usual: float) -> int:
    """Things like those of the source that came outside the boxes."""
    laid = changes.laid
    beyond = (changes.from_source > 2 * changes.limit) & laid.ring
    like = np.logical_or.reduce(things)
    return sum(
        int(m.sum()) >= _SIZE * usual
        and int(m.sum()) <= 3 * usual
        and _colour_gap(laid.edited, m, laid.source, like) <= _ALIKE
        for m in _things(beyond)
    )


def _median_gap(first: Planes, second: Planes, part: Mask) -> float:
    return _colour_gap(first, part, second, part)


def _colour_gap(first: Planes, part: Mask, second: Planes, other: Mask) -> float:
    a, b = _median(first, part), _median(second, other)
    return float(np.linalg.norm(a - b))


def _median(lab: Planes, part: Mask) -> NDArray[np.float64]:
    return np.median(lab[part].astype(np.float64), axis=0)
