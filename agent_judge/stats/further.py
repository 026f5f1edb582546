"""Figures of a protocol beyond the means of its criteria; its rubric data names them.

Each is computed over the records of one editor and one mode, and is None where a criterion that it
needs has no headline.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from agent_judge.records import Criterion, Record
from agent_judge.rubrics.protocol import Protocol
from agent_judge.rubrics.rating import Rating

Figures = Mapping[str, float | None]
Means = Mapping[Criterion, float | None]
"""Mean level of each criterion; None without a headline."""


def further_figures(protocol: Protocol, means: Means, records: Sequence[Record]) -> Figures:
    """The protocol's further figures, by name.

    Args:
        protocol: that of the records.
        means: mean level of each of its criteria.
        records: of one editor and one mode.
    """
    found: dict[str, float | None] = {}
    for name in protocol.further:
        found |= _FURTHER[name](protocol, means, records)
    return found


def _yes_share(protocol: Protocol, means: Means, records: Sequence[Record]) -> Figures:
    """`CRITERION_yes_pct`: yes among the scored rows, in per cent (Multi-Reward's accuracy)."""
    shares: dict[str, float | None] = {}
    for criterion, rubric in protocol.rubrics.items():
        if isinstance(rubric, Rating) and rubric.yes_no is not None:
            said = [
                r.label == "yes"
                for r in records
                if r.criterion == criterion and r.level is not None
            ]
            known = means[criterion] is not None
            shares[f"{criterion}_yes_pct"] = 100 * fmean(said) if known else None
    return shares


def _category_means(protocol: Protocol, means: Means, _: Sequence[Record]) -> Figures:
    """`CATEGORY_mean_level`: mean of the mean levels of a category's criteria."""
    groups: dict[str, list[float | None]] = {}
    for criterion, rubric in protocol.rubrics.items():
        if rubric.category is not None:
            groups.setdefault(rubric.category, []).append(means[criterion])
    return {f"{name}_mean_level": _mean(values) for name, values in groups.items()}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if len(known) == len(values) else None


_FURTHER: Mapping[str, Callable[[Protocol, Means, Sequence[Record]], Figures]] = {
    "yes_share": _yes_share,
    "category_means": _category_means,
}
