"""Figures of a protocol beyond the means of its criteria; its rubric data names them.

Each is computed over the records of one editor and one mode, and is None where a criterion that it
needs has no headline.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from agent_judge.records import Box, Criterion, Record
from agent_judge.rubrics.changes import Changes
from agent_judge.rubrics.protocol import Protocol
from agent_judge.rubrics.rating import Rating
from agent_judge.stats.balance import RowKey, absolute_by_row, parts_of_rows, setwise_by_row
from agent_judge.stats.coverage import mean_of_all
from agent_judge.stats.detection import Detection, detect

Figures = Mapping[str, float | None]
Means = Mapping[Criterion, float | None]
"""Mean level of each criterion; None without a headline."""


@dataclass(frozen=True)
class Evaluated:
    """All that was evaluated together: the set in which a row stands."""

    protocol: Protocol
    records: Sequence[Record]
    """Of all editors and modes."""

    @cached_property
    def setwise(self) -> Mapping[RowKey, float]:
        """BPM's overall figure of each row in this set; worked out once for all its groups."""
        return setwise_by_row(parts_of_rows(self.records))


def further_figures(evaluated: Evaluated, means: Means, records: Sequence[Record]) -> Figures:
    """The protocol's further figures, by name.

    Args:
        evaluated: the set that the records are of.
        means: mean level of each criterion.
        records: of one editor and one mode.
    """
    found: dict[str, float | None] = {}
    for name in evaluated.protocol.further:
        found |= _FURTHER[name](evaluated, means, records)
    return found


def in_words(name: str) -> str:
    """A figure's name for readers.

    Example:
        >>> in_words("following_yes_pct"), in_words("Fidelity_mean_level")
        ('following yes, %', 'Fidelity mean level')
    """
    return re.sub(r"_pct$", ", %", name).replace("_", " ")


def digits_of(name: str) -> int:
    """Decimals that a figure is shown with."""
    return 1 if name.endswith("_pct") else 2


def _yes_share(evaluated: Evaluated, means: Means, records: Sequence[Record]) -> Figures:
    """`CRITERION_yes_pct`: yes among the scored rows, in per cent (Multi-Reward's accuracy)."""
    shares: dict[str, float | None] = {}
    for criterion, rubric in evaluated.protocol.rubrics.items():
        if isinstance(rubric, Rating) and rubric.yes_no is not None:
            said = [
                r.label == "yes"
                for r in records
                if r.criterion == criterion and r.level is not None
            ]
            known = means[criterion] is not None
            shares[f"{criterion}_yes_pct"] = 100 * fmean(said) if known else None
    return shares


def _category_means(evaluated: Evaluated, means: Means, _: Sequence[Record]) -> Figures:
    """`CATEGORY_mean_level`: mean of the mean levels of a category's criteria."""
    groups: dict[str, list[float | None]] = {}
    for criterion, rubric in evaluated.protocol.rubrics.items():
        if rubric.category is not None:
            groups.setdefault(rubric.category, []).append(means[criterion])
    return {f"{name}_mean_level": mean_of_all(values) for name, values in groups.items()}


def _changes_outside(evaluated: Evaluated, means: Means, records: Sequence[Record]) -> Figures:
    """Changes a row; over rows with boxes also those that belong to no target, and their share."""
    figures: dict[str, float | None] = {}
    for criterion, rows in _with_changes(evaluated.protocol, means, records).items():
        outside = [
            [not change["inside_target"] for change in row.per_target]
            for row in rows
            if row.box_origin == "given"
        ]
        each = [value for row in outside for value in row]
        figures |= {
            f"{criterion}_changes_a_row": mean_of_all([len(row.per_target) for row in rows]),
            f"{criterion}_changes_outside_a_row": mean_of_all([sum(row) for row in outside]),
            f"{criterion}_changes_outside_pct": 100 * fmean(each) if each else None,
        }
    return figures


def _changes_detected(evaluated: Evaluated, means: Means, records: Sequence[Record]) -> Figures:
    """How well the named boxes fit the rows' own, at IoU 0.5, one to one.

    That is the quality of detection where every box of a row was changed and nothing else was, as
    with planted edits; elsewhere it is not.
    """
    figures: dict[str, float | None] = {}
    for criterion, rows in _with_changes(evaluated.protocol, means, records).items():
        total = sum((_detection(r) for r in rows if r.box_origin == "given"), Detection())
        for name, share in (("precision", total.precision_01), ("recall", total.recall_01)):
            figures[f"{criterion}_detection_{name}_pct"] = None if share is None else 100 * share
    return figures


def _balance(evaluated: Evaluated, means: Means, records: Sequence[Record]) -> Figures:
    """Means of BPM's overall figures, 0 to 2: over the set as published, and the absolute one."""
    own = parts_of_rows(records)
    known = all(means[criterion] is not None for criterion in evaluated.protocol.criteria)
    by_row = {
        "overall_in_this_set": evaluated.setwise,
        "overall_absolute": absolute_by_row(own),
    }
    return {
        name: mean_of_all([figures[row] for row in own if row in figures]) if known else None
        for name, figures in by_row.items()
    }


def _detection(record: Record) -> Detection:
    named = [Box(*change["box"]) for change in record.per_target]
    return detect(named, [Box(*box) for box in record.target_boxes])


def _with_changes(
    protocol: Protocol, means: Means, records: Sequence[Record]
) -> dict[Criterion, list[Record]]:
    """The scored rows of each criterion whose level is a share of changes; none without a mean."""
    return {
        criterion: [
            r
            for r in records
            if r.criterion == criterion and r.level is not None and means[criterion] is not None
        ]
        for criterion, rubric in protocol.rubrics.items()
        if isinstance(rubric, Changes)
    }


_FURTHER: Mapping[str, Callable[[Evaluated, Means, Sequence[Record]], Figures]] = {
    "yes_share": _yes_share,
    "category_means": _category_means,
    "changes_outside": _changes_outside,
    "changes_detected": _changes_detected,
    "balance": _balance,
}
