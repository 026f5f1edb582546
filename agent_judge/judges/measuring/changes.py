"""How the target changed, beside how the reference changed it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np

from agent_judge.judges.measuring.align import Mask
from agent_judge.judges.measuring.laid_over import LaidOver, Plane, distance, inside

_LEAST = 6.0
"""Blurred Lab distance that the eye begins to see in a small patch."""


@dataclass(frozen=True, kw_only=True)
class Changes:
    """Blurred Lab distances between the crops of one target, and what they come to."""

    laid: LaidOver

    @cached_property
    def from_source(self) -> Plane:
        """Edited picture against source."""
        return distance(self.laid.edited, self.laid.source)

    @cached_property
    def from_reference(self) -> Plane:
        """Edited picture against reference."""
        assert self.laid.reference is not None
        return distance(self.laid.edited, self.laid.reference)

    @cached_property
    def asked_for(self) -> Plane:
        """Reference against source."""
        assert self.laid.reference is not None
        return distance(self.laid.reference, self.laid.source)

    @property
    def limit(self) -> float:
        """Distance from which a pixel of the edited picture changed."""
        return max(_LEAST, self.laid.noise)

    @cached_property
    def place(self) -> Mask:
        """The target boxes and a little around them."""
        return inside(self.laid.boxes, self.laid.target.shape, 2)

    @cached_property
    def wanted(self) -> Mask:
        """What was to change: where the reference did; the boxes without one."""
        if self.laid.reference is None:
            return self.laid.target
        ordinary = float(np.median(self.asked_for[~self.place])) if (~self.place).any() else 0.0
        return self.place & (self.asked_for > max(_LEAST, 2.5 * ordinary))

    @cached_property
    def changed(self) -> Mask:
        """What changed in and right around the boxes."""
        return self.place & (self.from_source > self.limit)

    @property
    def extent(self) -> float:
        """Area changed in and right around the boxes, as a share of theirs."""
        return float(self.changed.sum() / max(1, int(self.laid.target.sum())))

    @cached_property
    def done(self) -> float:
        """Change of the wanted part as a share of the reference's: near 0 for none, 1 for right."""
        return _ratio(self.from_source, self.asked_for, self.wanted)

    @cached_property
    def left(self) -> float:
        """What still separates the wanted part from the reference, as a share of its change."""
        return _ratio(self.from_reference, self.asked_for, self.wanted)

    @cached_property
    def look_apart(self) -> float:
        """Lab distance to the reference over all that changed, texture blurred away.

        Gravel replaced by other gravel is nothing that a person would see.
        """
        assert self.laid.reference is not None
        sigma = max(1.2, float(self.wanted.sum()) ** 0.5 / 6)
        soft = [cv2.GaussianBlur(p, (0, 0), sigma) for p in (self.laid.edited, self.laid.reference)]
        apart = np.linalg.norm(soft[0] - soft[1], axis=2)
        return float(apart[self.wanted | self.changed].mean())

    @cached_property
    def share(self) -> float:
        """Share of the wanted part that changed, 0 to 1."""
        return float(self.changed[self.wanted].mean())

    @cached_property
    def spread(self) -> float:
        """Area changed that the reference kept, as a share of the wanted part's."""
        odd = np.minimum(self.from_source, self.from_reference) > max(8.0, 1.5 * self.laid.noise)
        near = cv2.dilate(self.wanted.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
        return float((odd & self.place & ~near).sum() / self.wanted.sum())

    @cached_property
    def core(self) -> Mask:
        """The wanted part without its rim, where edges mix colours."""
        return shrunk(self.wanted)


def shrunk(mask: Mask) -> Mask:
    """A mask without its outermost pixels, unless little would be left."""
    core = cv2.erode(mask.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    return core if int(core.sum()) >= max(9, 0.2 * int(mask.sum())) else mask


def _ratio(part: Plane, whole: Plane, where: Mask) -> float:
    return float(part[where].mean() / max(float(whole[where].mean()), 1e-3))
