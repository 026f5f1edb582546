"""Does a judge prefer the picture that people prefer? Pairs of editors on one item (BPM's test)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

from agent_judge.metrics.preference import Preference, preference_agreement
from agent_judge.records import Mode
from agent_judge.stats.overall import overall_by_row
from agent_judge.stats.ratings import RatedRecord

OVERALL = "overall"


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
    agreed = {key: preference_agreement(_pairs(items)) for key, items in found.items()}
    return {key: one for key, one in agreed.items() if one.n_right + one.n_wrong + one.n_tied}


def _pairs(
    items: Mapping[str, Sequence[_Picture]],
) -> Iterable[tuple[tuple[float, float], tuple[float, float]]]:
    for pictures in items.values():
        for a, b in combinations(sorted(pictures), 2):
            if a.editor != b.editor:
                yield (a.ours, b.ours), (a.theirs, b.theirs)
