"""How much of a run was judged: counts of the three fates, means and bounds of one group.

The rules are those of docs/statistics.md. No mean contains a guess: rows that nobody could judge
stay out of it and move the bounds instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import NamedTuple

from agent_judge.levels import Scale
from agent_judge.records import Criterion, Mode, Reason, Record


class Cell(NamedTuple):
    """The smallest group that is counted: within it rows differ only by their pictures."""

    editor: str
    mode: Mode
    type: str | None
    criterion: Criterion

    @classmethod
    def of(cls, record: Record) -> Cell:
        """The cell that a record belongs to."""
        return cls(record.editor, record.mode, record.type, record.criterion)


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Counts of one criterion over some rows, and the figures that they allow."""

    n_planned: int = 0
    """Rows that were to be judged."""
    at_level: Mapping[float, int] = field(default_factory=dict)
    """Scored rows by level."""
    n_missing_output: int = 0
    """Rows whose edited picture does not exist."""
    n_invalid_image: int = 0
    """Rows whose edited picture cannot be read."""
    reasons: Mapping[Reason, int] = field(default_factory=dict)
    """Unscored rows by reason."""

    @property
    def n_scored(self) -> int:
        """Rows with a level."""
        return sum(self.at_level.values())

    @property
    def n_unscored(self) -> int:
        """Rows that the row itself or the judge kept from a level."""
        return sum(self.reasons.values())

    @property
    def n_nothing_to_judge(self) -> int:
        """Rows for which the editing model gave no readable picture."""
        return self.n_missing_output + self.n_invalid_image

    @property
    def n_to_judge(self) -> int:
        """Planned rows that had something to judge, as far as is known."""
        return self.n_planned - self.n_nothing_to_judge

    @property
    def n_not_run(self) -> int:
        """Planned rows without a record: left by a breaker, a cap or an interrupt."""
        return self.n_to_judge - self.n_scored - self.n_unscored

    @property
    def coverage_01(self) -> float | None:
        """Scored share of the rows that had something to judge; None when there were none."""
        return self.n_scored / self.n_to_judge if self.n_to_judge else None

    @property
    def has_headline(self) -> bool:
        """Whether a mean may be shown: something scored, and at least 90 % of what could be."""
        return self.n_scored > 0 and 10 * self.n_scored >= 9 * self.n_to_judge

    @property
    def mean_level(self) -> float | None:
        """Mean level of the scored rows; None without a headline."""
        return self._sum / self.n_scored if self.has_headline else None

    def missing_at(self, level: float) -> float | None:
        """Mean level when missing and damaged edited pictures count as `level`."""
        if not self.has_headline:
            return None
        lost = self.n_nothing_to_judge
        return (self._sum + level * lost) / (self.n_scored + lost)

    def bound(self, level: float) -> float | None:
        """Mean level if every row left without one had `level`; None where nothing was scored."""
        if not self.n_scored:
            return None
        left = self.n_to_judge - self.n_scored
        return (self._sum + left * level) / self.n_to_judge

    @property
    def _sum(self) -> float:
        return sum(level * n for level, n in self.at_level.items())

    def n_in_bins(self, scale: Scale) -> tuple[int, ...]:
        """Scored rows in each of the scale's bins, worst first."""
        counts = [0] * len(scale.bins)
        for level, n in self.at_level.items():
            counts[scale.bin_of(level)] += n
        return tuple(counts)

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            n_planned=self.n_planned + other.n_planned,
            at_level=Counter(self.at_level) + Counter(other.at_level),
            n_missing_output=self.n_missing_output + other.n_missing_output,
            n_invalid_image=self.n_invalid_image + other.n_invalid_image,
            reasons=Counter(self.reasons) + Counter(other.reasons),
        )


def tally(records: Sequence[Record], n_planned: int | None = None) -> Tally:
    """Counts over records of one criterion.

    Args:
        records: at most one per planned row.
        n_planned: rows that were to be judged. A record proves that its row was planned, so a
            smaller number than that of the records is raised to it. None: as many as records.

    Example:
        >>> row = dict(id="a", item="a", editor="", type=None, mode="tool", criterion="IF")
        >>> t = tally([Record(**row, status="scored", level=3)], n_planned=2)
        >>> t.n_scored, t.n_not_run, t.mean_level, t.bound(1), t.bound(4)
        (1, 1, None, 2.0, 3.5)
    """
    levels = Counter(record.level for record in records if record.level is not None)
    fates = Counter(record.status for record in records)
    return Tally(
        n_planned=max(n_planned or 0, len(records)),
        at_level=levels,
        n_missing_output=fates["missing_output"],
        n_invalid_image=fates["invalid_image"],
        reasons=Counter(record.reason for record in records if record.reason is not None),
    )


def group_by_cell(records: Iterable[Record]) -> dict[Cell, list[Record]]:
    """The records of each cell, cells in the order of first sight."""
    grouped: dict[Cell, list[Record]] = {}
    for record in records:
        grouped.setdefault(Cell.of(record), []).append(record)
    return grouped


def mean_of_all(values: Sequence[float | None]) -> float | None:
    """Their mean; None where one is missing, for the others do not stand for it, or all are."""
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None


def source_key(record: Record) -> str:
    """What rows of one source picture share; the item stands in where no picture was read."""
    return record.source_sha256 or record.item
