"""How a judge did in an exam: its levels against the planted ones, by what was planted.

Accuracy, rank correlation, error and kappa come together, with 95 % intervals from resampled
photographs (rows on one photograph are not independent). Rows without a level count in `n_planned`
and in `reasons` alone: to abstain is no mistake, and the share scored says how often it happened.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from agent_judge.audit.plant import BY
from agent_judge.errors import InputError
from agent_judge.records import Criterion, Mode, Record, Sample
from agent_judge.stats.agreement import agreement
from agent_judge.stats.intervals import Estimate

SPLITS = ("level", "size_bin", "type", "degradation", "plant", "rest")
"""What a score is split by: the planted level, and keys of the exam's rows."""
_N_RESAMPLES = 500


@dataclass(frozen=True, kw_only=True)
class Score:
    """How a judge did on some rows, one mode and one criterion."""

    n_planned: int
    """Rows of the exam."""
    n_scored: int
    """Rows that the judge gave a level."""
    reasons: Mapping[str, int]
    """Why the others have none, `not run` included."""
    accuracy: Estimate
    """Share of scored rows at the planted level, 0 to 1."""
    spearman: Estimate
    mae: Estimate
    """Mean absolute error in levels."""
    kappa: Estimate
    """Cohen's kappa with quadratic weights."""
    confusion: tuple[tuple[int, ...], ...]
    """Scored rows by planted level (row) and judged level (column), 1 to 4."""

    @property
    def share_scored(self) -> float:
        """Scored rows over planned rows, 0 to 1."""
        return self.n_scored / self.n_planned

    @property
    def separates(self) -> bool:
        """Whether better edits surely get higher levels; true as well where nothing could show it.

        A judge that says the same of everything may be right often, and is worth nothing.
        """
        if sum(map(any, self.confusion)) < 2:
            return True
        low = self.spearman.value if self.spearman.low is None else self.spearman.low
        return low is not None and low > 0


@dataclass(frozen=True, kw_only=True)
class ExamPart:
    """One mode and criterion of an exam: the whole of it, and its splits."""

    mode: Mode
    criterion: Criterion
    overall: Score
    splits: Mapping[str, Mapping[str, Score]]
    """Split (of SPLITS) -> value -> score, values in order."""


@dataclass(frozen=True, kw_only=True)
class ExamRow:
    """What was planted beside what the judge said."""

    planted: int
    judged: float | None
    reason: str | None
    photograph: str
    values: Mapping[str, str]
    """Value of each of SPLITS."""


def score_exam(
    records: Iterable[Record], samples: Iterable[Sample], *, seed: int = 0
) -> tuple[ExamPart, ...]:
    """A judge's records against an exam, one part for each mode and criterion that has records.

    Args:
        records: of one judge, in any modes.
        samples: the rows of the exam that were to be judged.
        seed: of the intervals.

    Raises:
        InputError: a sample has no planted levels.
    """
    exam = {sample.id: sample for sample in samples}
    found: dict[tuple[Mode, Criterion], dict[str, Record]] = defaultdict(dict)
    for record in records:
        if record.id in exam:
            found[record.mode, record.criterion][record.id] = record

    def scored(rows: Sequence[ExamRow]) -> Score:
        return score_rows(rows, seed=seed)

    parts = []
    for (mode, criterion), by_id in sorted(found.items()):
        rows = [exam_row(s, criterion, by_id.get(id_)) for id_, s in exam.items()]
        splits = {name: {v: scored(part) for v, part in _split(rows, name)} for name in SPLITS}
        parts.append(ExamPart(mode=mode, criterion=criterion, overall=scored(rows), splits=splits))
    return tuple(parts)


def exam_row(sample: Sample, criterion: Criterion, record: Record | None) -> ExamRow:
    """A row of the exam beside its record (None: not run).

    Raises:
        InputError: the sample has no planted levels.
    """
    planted = next((label[criterion] for label in sample.labels if label.get("by") == BY), None)
    if planted is None:
        raise InputError(f"row {sample.id!r} has no planted {criterion} level: it is no exam row")
    values = {"level": str(planted), "type": sample.type or ""}
    values |= {name: str(sample.metadata.get(name, "")) for name in SPLITS if name not in values}
    reason = "not run" if record is None else record.reason or record.status
    return ExamRow(
        planted=planted,
        judged=None if record is None else record.level,
        reason=None if record is not None and record.status == "scored" else reason,
        photograph=str(sample.metadata.get("photograph", sample.id)),
        values=values,
    )


def score_rows(rows: Sequence[ExamRow], *, seed: int) -> Score:
    """The score of some rows of one mode and criterion."""
    found = agreement(
        np.array([row.judged for row in rows], dtype=np.float64),
        np.array([row.planted for row in rows], dtype=np.float64),
        clusters=[row.photograph for row in rows],
        seed=seed,
        n_resamples=_N_RESAMPLES,
    )
    return Score(
        n_planned=len(rows),
        n_scored=found.n,
        reasons=dict(Counter(row.reason for row in rows if row.reason is not None)),
        accuracy=found.exact,
        spearman=found.spearman,
        mae=found.mae,
        kappa=found.kappa,
        confusion=found.confusion,
    )


def to_json(parts: Iterable[ExamPart]) -> dict[str, Any]:
    """The parts as plain JSON types: `{mode: {criterion: {overall, level, size_bin, ...}}}`."""
    out: dict[str, Any] = {}
    for part in parts:
        splits = {
            name: {value: asdict(score) for value, score in scores.items()}
            for name, scores in part.splits.items()
        }
        out.setdefault(part.mode, {})[part.criterion] = {"overall": asdict(part.overall), **splits}
    return out


def _split(rows: Sequence[ExamRow], name: str) -> list[tuple[str, list[ExamRow]]]:
    groups: dict[str, list[ExamRow]] = defaultdict(list)
    for row in rows:
        groups[row.values[name]].append(row)
    return sorted(groups.items())
