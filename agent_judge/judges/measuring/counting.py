"""How many of a set of like things are there, and whether they are still those things."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from agent_judge.judges.measuring.align import Mask, Planes
from agent_judge.judges.measuring.changes import Changes
from agent_judge.judges.measuring.ground import figure, surroundings
from agent_judge.judges.measuring.laid_over import inside

_GONE = 0.35
"""A thing whose place stands out by less than this share of what it did is gone."""
_CLEAR = 1.2
_ALIKE = 28.0
"""Lab distance up to which two things have one colour."""
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
    present = altered = kept = 0
    for box in laid.boxes:
        part = inside((box,), laid.target.shape)
        ring = surroundings(part, laid.ring)
        before = figure(laid.source, part, ring)
        if before.clear < _CLEAR or not before.mask.any():
            return None
        after = figure(laid.edited, part, ring)
        if after.contrast > _GONE * before.contrast:
            present += 1
            altered += _median_gap(laid.source, laid.edited, before.mask) > _ALIKE
        if laid.reference is not None:
            kept += figure(laid.reference, part, ring).contrast > _GONE * before.contrast
    return Counted(
        source=len(laid.boxes),
        edited=Tally(present=present, altered=altered),
        reference=None if laid.reference is None else kept,
    )


def _by_outline(changes: Changes) -> Counted | None:
    """One box around the set: things are told apart by their outlines."""
    laid = changes.laid
    ring = surroundings(changes.place, laid.ring)
    pictures = [laid.source, laid.edited]
    if laid.reference is not None:
        pictures.append(laid.reference)
    figures = [figure(lab, changes.place, ring) for lab in pictures]
    if min(f.clear for f in figures) < _CLEAR:
        return None
    masks = [_things(f.mask) for f in figures]
    usual = float(np.median([m.sum() for m in masks[0]])) if masks[0] else 0.0
    counts = [sum(int(m.sum()) >= _SIZE * usual for m in things) for things in masks]
    extra = _added_beyond(changes, masks[0], usual)
    altered = sum(
        _colour_gap(laid.edited, thing, laid.source, np.logical_or.reduce(masks[0])) > _ALIKE
        for thing in masks[1]
    )
    return Counted(
        source=counts[0],
        edited=Tally(present=counts[1] + extra, altered=altered),
        reference=counts[2] if len(counts) > 2 else None,
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
