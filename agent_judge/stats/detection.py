"""How well boxes find planted boxes: precision and recall at an overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agent_judge.records import Box

IOU = 0.5
"""Overlap from which a found box is the planted one (DICE's detection figures)."""


@dataclass(frozen=True, kw_only=True)
class Detection:
    """Counts over any number of pictures; they add up."""

    n_found: int = 0
    n_planted: int = 0
    n_matched: int = 0
    """Pairs of a found and a planted box; no box is in two."""

    def __add__(self, other: Detection) -> Detection:
        return Detection(
            n_found=self.n_found + other.n_found,
            n_planted=self.n_planted + other.n_planted,
            n_matched=self.n_matched + other.n_matched,
        )

    @property
    def precision_01(self) -> float | None:
        """Matched among found; None where nothing was found."""
        return self.n_matched / self.n_found if self.n_found else None

    @property
    def recall_01(self) -> float | None:
        """Matched among planted; None where nothing was planted."""
        return self.n_matched / self.n_planted if self.n_planted else None


def detect(found: Sequence[Box], planted: Sequence[Box], *, iou: float = IOU) -> Detection:
    """The counts of one picture: as many pairs with at least that overlap as can be made.

    Args:
        found: the boxes to judge.
        planted: the true ones, in the same pixels.
        iou: least intersection over union of a pair, 0 (exclusive) to 1.

    Example:
        >>> found = [Box(0, 0, 10, 10), Box(1, 0, 11, 10), Box(50, 50, 60, 60)]
        >>> detect(found, [Box(0, 0, 10, 10)])
        Detection(n_found=3, n_planted=1, n_matched=1)
    """
    from scipy.optimize import linear_sum_assignment  # takes half a second to import

    fits = np.array([[one.iou(true) >= iou for true in planted] for one in found], dtype=bool)
    n_matched = 0
    if fits.size:
        rows, columns = linear_sum_assignment(fits, maximize=True)
        n_matched = int(fits[rows, columns].sum())
    return Detection(n_found=len(found), n_planted=len(planted), n_matched=n_matched)
