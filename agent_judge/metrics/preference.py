"""How BPM's authors test a metric: against people's choices, and against the ground truth."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_Two = tuple[float | None, float | None]


@dataclass(frozen=True, kw_only=True)
class Preference:
    """How often a metric prefers what it should, over pairs."""

    n_right: int
    """It prefers the one that it should."""
    n_wrong: int
    """It prefers the other one."""
    n_undecided: int
    """It gives both the same figure."""
    n_tied: int
    """People prefer neither: nothing to be right about. Always 0 in the ground-truth test."""
    n_unscored: int
    """A figure is missing on one side."""
    share: float | None
    """Of right ones, 0 to 1; None where no pair counts. What counts is the function's to say."""


def preference_agreement(pairs: Iterable[tuple[_Two, _Two]]) -> Preference:
    """In which share of pairs a metric prefers the same picture as people do, ties dropped.

    A pair in which either side ties is dropped, as in the paper. How many pairs the metric left
    undecided stands beside the share: a metric could else shine by deciding few.

    Args:
        pairs: for each, the metric's figures and the people's figures of the same two pictures,
            higher is better; None where a figure is missing.

    Example:
        >>> pairs = [((0.9, 0.1), (5, 3)), ((0.2, 0.4), (5, 3)), ((0.2, 0.4), (4, 4))]
        >>> preference_agreement(pairs).share
        0.5
    """
    right = wrong = undecided = tied = unscored = 0
    for metric, people in pairs:
        ours, theirs = _preferred(metric), _preferred(people)
        if ours is None or theirs is None:
            unscored += 1
        elif theirs == 0:
            tied += 1
        elif ours == 0:
            undecided += 1
        elif ours == theirs:
            right += 1
        else:
            wrong += 1
    return Preference(
        n_right=right,
        n_wrong=wrong,
        n_undecided=undecided,
        n_tied=tied,
        n_unscored=unscored,
        share=right / (right + wrong) if right + wrong else None,
    )


def ground_truth_test(pairs: Iterable[_Two]) -> Preference:
    """In which share of items the ground-truth edit gets a higher figure than a model's edit.

    An item with the same figure for both is not won: it counts against the share.

    Args:
        pairs: for each item the figure of the ground truth, then that of the model's edit; higher
            is better, None where it is missing.

    Example:
        >>> ground_truth_test([(0.9, 0.5), (0.4, 0.5), (0.5, 0.5), (0.8, 0.1)]).share
        0.5
    """
    found = [_preferred(pair) for pair in pairs]
    right, wrong, undecided = found.count(-1), found.count(1), found.count(0)
    n = right + wrong + undecided
    return Preference(
        n_right=right,
        n_wrong=wrong,
        n_undecided=undecided,
        n_tied=0,
        n_unscored=found.count(None),
        share=right / n if n else None,
    )


def _preferred(pair: _Two) -> int | None:
    """-1 for the first, 1 for the second, 0 for neither; None where a figure is missing."""
    first, second = pair
    if first is None or second is None:
        return None
    return (first < second) - (first > second)
