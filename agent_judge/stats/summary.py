"""How a run stands: counts, means, bounds, and when a mean may be shown at all.

The rules are those of DESIGN.md section 2. No mean contains a guess: rows that nobody could judge
stay out of it and move the bounds instead. Editors and modes are never pooled into one figure.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agent_judge.records import MAX_LEVEL, Criterion, Mode, Reason, Record, score_100

CRITERIA: tuple[Criterion, ...] = ("IF", "VC")
UNNAMED_EDITOR = "(unnamed)"
"""Stands for the editor of rows that name none."""
UNTYPED = "(untyped)"
"""Stands for the type of rows that have none."""
RULES: Mapping[str, str] = {
    "score_100": "(level - 1) / 3 * 100 of the mean level; DLEBench does not print its formula",
    "headline": "shown when at least 90 % of the rows that had something to judge are scored; "
    "rows whose edited picture is missing or damaged are left out of it",
    "missing_at_1_100": "the headline's rows plus missing and damaged edited pictures at level 1",
    "bounds": "every row that was not scored (unscored or not run) at level 4, and at level 1",
    "per_type_100": "mean of the types' score_100, each type with equal weight",
    "overall": "mean of the IF figure and the VC figure; null when either is null",
    "pooling": "editors and modes are never pooled into one figure",
}
"""The rules of a summary in words, printed beside its figures."""


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
    n_at_level: tuple[int, ...] = (0,) * MAX_LEVEL
    """Scored rows at level 1, 2, 3 and 4."""
    n_missing_output: int = 0
    """Rows whose edited picture does not exist."""
    n_invalid_image: int = 0
    """Rows whose edited picture cannot be read."""
    reasons: Mapping[Reason, int] = field(default_factory=dict)
    """Unscored rows by reason."""

    @property
    def n_scored(self) -> int:
        """Rows with a level."""
        return sum(self.n_at_level)

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
        """Mean level of the scored rows, 1 to 4; None without a headline."""
        return self._sum / self.n_scored if self.has_headline else None

    @property
    def missing_at_1(self) -> float | None:
        """Mean level when missing and damaged edited pictures count as level 1."""
        if not self.has_headline:
            return None
        lost = self.n_nothing_to_judge
        return (self._sum + lost) / (self.n_scored + lost)

    def bound(self, level: int) -> float | None:
        """Mean level if every row left without one had `level`; None where nothing was scored."""
        if not self.n_scored:
            return None
        left = self.n_to_judge - self.n_scored
        return (self._sum + left * level) / self.n_to_judge

    @property
    def _sum(self) -> int:
        return sum(level * n for level, n in enumerate(self.n_at_level, start=1))

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            n_planned=self.n_planned + other.n_planned,
            n_at_level=tuple(a + b for a, b in zip(self.n_at_level, other.n_at_level, strict=True)),
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
    levels = Counter(record.level for record in records)
    fates = Counter(record.status for record in records)
    return Tally(
        n_planned=max(n_planned or 0, len(records)),
        n_at_level=tuple(levels[level] for level in range(1, MAX_LEVEL + 1)),
        n_missing_output=fates["missing_output"],
        n_invalid_image=fates["invalid_image"],
        reasons=Counter(record.reason for record in records if record.reason is not None),
    )


def tallies(
    records: Iterable[Record], planned: Mapping[Cell, int] | None = None
) -> dict[Cell, Tally]:
    """The tally of every cell that has records or was planned, in the order of first sight."""
    planned = planned or {}
    grouped: dict[Cell, list[Record]] = {cell: [] for cell in planned}
    for record in records:
        grouped.setdefault(Cell.of(record), []).append(record)
    return {cell: tally(rows, planned.get(cell)) for cell, rows in grouped.items()}


def summarize(
    records: Iterable[Record], planned: Mapping[Cell, int] | None = None
) -> dict[str, Any]:
    """The summary of a run, as plain JSON types: what `summary.json` holds.

    `overall`, each entry of `by_editor` and of `by_type` have one shape: `IF` and `VC` with their
    counts and figures, then the figures of both together. Where rows of several editors or modes
    meet, counts are added up but every figure is None and `note` says where to look.

    Args:
        records: one per judged (sample, criterion).
        planned: rows that were to be judged in each cell; None when every one has its record.

    Returns:
        `{overall, by_editor, by_type, reasons, rules}`; `by_editor` entries also have `by_type`,
        and `by_mode` whose entries have `by_type` too.
    """
    cells = tallies(records, planned)
    by_editor = _split(cells, lambda cell: cell.editor or UNNAMED_EDITOR)
    return {
        "overall": _standing(cells),
        "by_editor": {editor: _of_editor(part) for editor, part in by_editor.items()},
        "by_type": _by_type(cells),
        "reasons": dict(sum((Counter(t.reasons) for t in cells.values()), Counter())),
        "rules": dict(RULES),
    }


def _of_editor(cells: Mapping[Cell, Tally]) -> dict[str, Any]:
    by_mode = _split(cells, lambda cell: cell.mode)
    return {
        **_standing(cells),
        "by_type": _by_type(cells),
        "by_mode": {
            mode: {**_standing(part), "by_type": _by_type(part)} for mode, part in by_mode.items()
        },
    }


def _by_type(cells: Mapping[Cell, Tally]) -> dict[str, Any]:
    by_type = _split(cells, lambda cell: cell.type or UNTYPED)
    return {name: _standing(part) for name, part in by_type.items()}


def _split(cells: Mapping[Cell, Tally], key: Callable[[Cell], str]) -> dict[str, dict[Cell, Tally]]:
    parts: dict[str, dict[Cell, Tally]] = defaultdict(dict)
    for cell, counts in cells.items():
        parts[key(cell)][cell] = counts
    return dict(sorted(parts.items()))


_FIGURES = ("score_100", "mean_level", "missing_at_1_100", "best_100", "worst_100", "per_type_100")


def _standing(cells: Mapping[Cell, Tally]) -> dict[str, Any]:
    note = _why_no_figure(cells)
    each: dict[str, dict[str, Any]] = {}
    for criterion in CRITERIA:
        part = {cell: t for cell, t in cells.items() if cell.criterion == criterion}
        total = sum(part.values(), Tally())
        figures = dict.fromkeys(_FIGURES) if note else _figures(total, part)
        each[criterion] = {**_counts(total), **figures}
    both = {name: _mean([each[c][name] for c in CRITERIA]) for name in _FIGURES}
    return {
        **each,
        "n_planned": sum(each[c]["n_planned"] for c in CRITERIA),
        "n_scored": sum(each[c]["n_scored"] for c in CRITERIA),
        **both,
        "note": note,
    }


def _why_no_figure(cells: Iterable[Cell]) -> str | None:
    editors = sorted({cell.editor or UNNAMED_EDITOR for cell in cells})
    modes = sorted({cell.mode for cell in cells})
    if len(editors) > 1:
        return f"{len(editors)} editors are never pooled into one figure: see by_editor"
    if len(modes) > 1:
        return f"modes {' and '.join(modes)} are never pooled into one figure: see by_mode"
    return None


def _counts(total: Tally) -> dict[str, Any]:
    return {
        "n_planned": total.n_planned,
        "n_scored": total.n_scored,
        "n_at_level": list(total.n_at_level),
        "n_unscored": total.n_unscored,
        "n_missing_output": total.n_missing_output,
        "n_invalid_image": total.n_invalid_image,
        "n_not_run": total.n_not_run,
        "coverage_01": total.coverage_01,
        "reasons": dict(total.reasons),
    }


def _figures(total: Tally, part: Mapping[Cell, Tally]) -> dict[str, float | None]:
    return {
        "score_100": _on_100(total.mean_level),
        "mean_level": total.mean_level,
        "missing_at_1_100": _on_100(total.missing_at_1),
        "best_100": _on_100(total.bound(MAX_LEVEL)),
        "worst_100": _on_100(total.bound(1)),
        "per_type_100": _on_100(_per_type_level(part)),
    }


def _per_type_level(part: Mapping[Cell, Tally]) -> float | None:
    """Mean of the types' mean levels; types whose edited pictures are all missing stay out."""
    by_type = _split(part, lambda cell: cell.type or UNTYPED)
    totals = [sum(cells.values(), Tally()) for cells in by_type.values()]
    return _mean([total.mean_level for total in totals if total.n_to_judge])


def _on_100(level: float | None) -> float | None:
    return None if level is None else score_100(level)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None
