"""Where the judge agrees with people and where not: agreement by group, and the worst rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agent_judge.records import Criterion, Mode, Record
from agent_judge.rubrics.protocol import rubric_of
from agent_judge.stats.agreement import Agreement, agreement
from agent_judge.stats.coverage import source_key
from agent_judge.stats.intervals import Floats
from agent_judge.stats.ratings import RatedRecord, by_mode_and_criterion
from agent_judge.stats.size import group_order, size_bin
from agent_judge.stats.summary import UNNAMED_EDITOR, UNTYPED

GROUPINGS: Mapping[str, Callable[[Record], str]] = {
    "all": lambda record: "all",
    "type": lambda record: record.type or UNTYPED,
    "size": lambda record: size_bin(record.area_pct),
    "editor": lambda record: record.editor or UNNAMED_EDITOR,
}
"""What rows are grouped by, within one mode and one criterion."""


@dataclass(frozen=True, kw_only=True)
class GroupAgreement:
    """Agreement over one group of rows."""

    mode: Mode
    criterion: Criterion
    grouping: str
    """A key of `GROUPINGS`."""
    group: str
    """The value that its rows share."""
    agreement: Agreement


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """A row on which the judge and people differ."""

    record: Record
    values: Mapping[str, float]
    """Each rater's level."""
    gap: float
    """Judge's level minus the raters' mean; above 0 the judge is lenient."""


def agreement_by_group(
    rated: Sequence[RatedRecord], *, seed: int = 0, n_resamples: int = 1000
) -> list[GroupAgreement]:
    """Agreement for each mode and criterion: over all rows, by type, by size and by editor.

    Modes are kept apart. Editors are pooled in every grouping but their own: agreement asks
    whether levels are right, whatever model made the picture. Where editors differ much, their
    pooled correlation is higher than that of each. A grouping with one group is left out, for it
    only says again what `all` says.

    Args:
        rated: from `ratings.rated_records`.
        seed: of the intervals.
        n_resamples: of the intervals.
    """
    found = []
    for (mode, criterion), part in by_mode_and_criterion(rated).items():
        for grouping, key in GROUPINGS.items():
            groups = _groups(part, key)
            if len(groups) == 1 and grouping != "all":
                continue
            found += [
                GroupAgreement(
                    mode=mode,
                    criterion=criterion,
                    grouping=grouping,
                    group=group,
                    agreement=_agreement(rows, seed=seed, n_resamples=n_resamples),
                )
                for group, rows in groups.items()
            ]
    return found


def disagreements(rated: Sequence[RatedRecord], *, limit: int) -> list[Disagreement]:
    """The rows on which judge and people differ most, the largest gap first; none without a gap.

    Rows that people rated on another scale than levels are left out.
    """
    found = []
    for row in rated:
        gap = row.record.scored_level - float(np.mean(list(row.values.values())))
        if row.on_levels and gap:
            found.append(Disagreement(record=row.record, values=row.values, gap=gap))
    return sorted(found, key=lambda row: (-abs(row.gap), row.record.id))[:limit]


def rating_table(rated: Sequence[RatedRecord]) -> Floats:
    """The raters' values, shape (rows, raters), raters by name; NaN where one gave none."""
    raters = sorted({by for row in rated for by in row.values})
    cells = [[row.values.get(by, np.nan) for by in raters] for row in rated]
    table: Floats = np.array(cells, dtype=np.float64).reshape(len(rated), len(raters))
    return table


def _groups(
    rated: Sequence[RatedRecord], key: Callable[[Record], str]
) -> dict[str, list[RatedRecord]]:
    groups: dict[str, list[RatedRecord]] = {}
    for row in rated:
        groups.setdefault(key(row.record), []).append(row)
    return dict(sorted(groups.items(), key=lambda entry: group_order(entry[0])))


def _agreement(rated: Sequence[RatedRecord], *, seed: int, n_resamples: int) -> Agreement:
    return agreement(
        [row.record.scored_level for row in rated],
        rating_table(rated),
        clusters=[source_key(row.record) for row in rated],
        scale=rubric_of(rated[0].record.criterion).scale,
        same_scale=all(row.on_levels for row in rated),
        seed=seed,
        n_resamples=n_resamples,
    )
