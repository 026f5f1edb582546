"""How well a column of figures tracks levels: rank correlations, for columns that judge nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from agent_judge.records import Criterion, Mode
from agent_judge.stats.measures import measure, spearman
from agent_judge.stats.ratings import RatedRecord, by_mode_and_criterion


@dataclass(frozen=True, kw_only=True)
class Tracking:
    """One column against one criterion, in one mode."""

    mode: Mode
    criterion: Criterion
    column: str
    n: int
    """Rows with a figure, a level and people's ratings."""
    with_people: float | None
    """Spearman with the raters' mean; None where one of both does not vary."""
    with_judge: float | None
    """Spearman with the judge's level."""


def tracking(
    rated: Sequence[RatedRecord], columns: Mapping[str, Mapping[str, float | None]]
) -> list[Tracking]:
    """Every column against every criterion, modes apart.

    Args:
        rated: from `ratings.rated_records`.
        columns: by row id, its figures by column; None for a figure that is not there.
    """
    names = list(dict.fromkeys(name for row in columns.values() for name in row))
    found = []
    for (mode, criterion), part in by_mode_and_criterion(rated).items():
        for name in names:
            rows = [
                (value, fmean(r.values.values()), r.record.scored_level)
                for r in part
                if (value := columns.get(r.record.id, {}).get(name)) is not None
            ]
            figures, people, levels = zip(*rows, strict=True) if rows else ((), (), ())
            found.append(
                Tracking(
                    mode=mode,
                    criterion=criterion,
                    column=name,
                    n=len(rows),
                    with_people=measure(spearman, figures, people),
                    with_judge=measure(spearman, figures, levels),
                )
            )
    return found
