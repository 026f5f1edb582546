"""Does a judge prefer the picture that people prefer? Pairs of editors on one item (BPM's test)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

from agent_judge.records import Criterion, Mode, Record
from agent_judge.rubrics.protocol import place_of, protocol_of
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


_Rated = frozenset[tuple[Criterion, bool]]
"""Which criteria people rated, and whether on their levels: other sums do not compare."""


class _Picture(NamedTuple):
    """One edited picture of an item."""

    editor: str
    ours: float
    theirs: float
    rated: _Rated


def preferences(
    rated: Sequence[RatedRecord], records: Sequence[Record]
) -> dict[tuple[Mode, str], Preference]:
    """Pairwise agreement by mode and criterion; last, under `OVERALL`, that of the overall figure.

    Pairs are two editors' pictures of one item; modes are kept apart. People's overall figure is
    the mean of what they gave over the criteria that they rated in that row: all of them where the
    protocol's is a mean too, and the same ones in both rows of a pair.

    Args:
        rated: from `ratings.rated_records`.
        records: all of the run, rated or not: the overall figure needs them.
    """
    found: dict[tuple[Mode, str], dict[str, list[_Picture]]] = defaultdict(
        lambda: defaultdict(list)
    )
    people: dict[tuple[Mode, str], dict[tuple[Criterion, bool], float]] = defaultdict(dict)
    for row in rated:
        record, mean = row.record, fmean(row.values.values())
        what = (record.criterion, row.on_levels)
        people[record.mode, record.id][what] = mean
        picture = _Picture(record.editor, record.scored_level, mean, frozenset({what}))
        found[record.mode, record.criterion][record.item].append(picture)
    for record, value in _overall(records):
        theirs = people.get((record.mode, record.id), {})
        if _are_enough(theirs):
            mean = fmean(theirs.values())
            picture = _Picture(record.editor, value, mean, frozenset(theirs))
            found[record.mode, OVERALL][record.item].append(picture)
    pairs = {key: list(_pairs(found[key])) for key in sorted(found, key=_order)}
    return {key: preference_agreement(several) for key, several in pairs.items() if several}


def _order(key: tuple[Mode, str]) -> tuple[str, float]:
    mode, what = key
    return mode, math.inf if what == OVERALL else place_of(what)


def _overall(records: Sequence[Record]) -> Iterator[tuple[Record, float]]:
    """One record of each row that has an overall figure, and that figure."""
    rows = {(record.mode, record.id): record for record in records}
    for row, value in overall_by_row(records).items():
        yield rows[row], value


def _are_enough(theirs: Collection[tuple[Criterion, bool]]) -> bool:
    rated = {criterion for criterion, _ in theirs}
    protocol = protocol_of(rated)
    return bool(rated) and (not protocol.has_overall or len(rated) == len(protocol.criteria))


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
        for a, b in combinations(pictures, 2):
            if a.editor != b.editor and a.rated == b.rated:
                yield (a.ours, b.ours), (a.theirs, b.theirs)
