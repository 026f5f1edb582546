"""Does a judge prefer the picture that people prefer? Pairs of editors on one item (BPM's test)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

from agent_judge.records import Mode
from agent_judge.stats.overall import overall_by_row
from agent_judge.stats.ratings import RatedRecord

OVERALL = "overall"
_Two = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Preference:
    """How often a judge prefers what people prefer, over pairs of pictures."""

    n_right: int
    """It prefers the one that people prefer."""
    n_wrong: int
    """It prefers the other one."""
    n_undecided: int
    """People prefer one, and it gives both the same figure."""
    n_tied: int
    """People prefer neither: nothing to be right about."""
    share: float | None
    """Of right ones among right and wrong, 0 to 1; None where there are none. Ties are dropped, as
    in the paper; those of the judge stand beside it, for it could else shine by deciding few."""


class _Picture(NamedTuple):
    """One edited picture of an item."""

    editor: str
    ours: float
    theirs: float


def preferences(rated: Sequence[RatedRecord]) -> dict[tuple[Mode, str], Preference]:
    """Pairwise agreement by mode and criterion; under `OVERALL` that of the overall figure.

    Pairs are two editors' pictures of one item; modes are kept apart. People's overall figure is
    the mean of what they gave over the criteria that they rated, in that row.

    Args:
        rated: from `ratings.rated_records`.
    """
    found: dict[tuple[Mode, str], dict[str, list[_Picture]]] = defaultdict(
        lambda: defaultdict(list)
    )
    people: dict[tuple[Mode, str], list[float]] = defaultdict(list)
    for row in rated:
        record, mean = row.record, fmean(row.values.values())
        people[record.mode, record.id].append(mean)
        picture = _Picture(record.editor, record.scored_level, mean)
        found[record.mode, record.criterion][record.item].append(picture)
    records = {(row.record.mode, row.record.id): row.record for row in rated}
    for key, value in overall_by_row(row.record for row in rated).items():
        record = records[key]
        picture = _Picture(record.editor, value, fmean(people[key]))
        found[record.mode, OVERALL][record.item].append(picture)
    pairs = {key: list(_pairs(items)) for key, items in found.items()}
    return {key: preference_agreement(several) for key, several in pairs.items() if several}


def preference_agreement(pairs: Iterable[tuple[_Two, _Two]]) -> Preference:
    """In which share of pairs a judge prefers the same picture as people do.

    Args:
        pairs: for each, the judge's figures and people's of the same two pictures; higher is
            better.

    Example:
        >>> pairs = [((0.9, 0.1), (5, 3)), ((0.2, 0.4), (5, 3)), ((0.2, 0.4), (4, 4))]
        >>> preference_agreement(pairs).share
        0.5
    """
    preferred = [(_preferred(ours), _preferred(theirs)) for ours, theirs in pairs]
    decided = [(ours, theirs) for ours, theirs in preferred if ours and theirs]
    n_right = sum(ours == theirs for ours, theirs in decided)
    return Preference(
        n_right=n_right,
        n_wrong=len(decided) - n_right,
        n_undecided=sum(theirs != 0 and ours == 0 for ours, theirs in preferred),
        n_tied=sum(theirs == 0 for _, theirs in preferred),
        share=n_right / len(decided) if decided else None,
    )


def _preferred(figures: _Two) -> int:
    """-1 for the first, 1 for the second, 0 for neither."""
    first, second = figures
    return (first < second) - (first > second)


def _pairs(items: Mapping[str, Sequence[_Picture]]) -> Iterator[tuple[_Two, _Two]]:
    for pictures in items.values():
        for a, b in combinations(sorted(pictures), 2):
            if a.editor != b.editor:
                yield (a.ours, b.ours), (a.theirs, b.theirs)
