"""How a run stands: what `summary.json` holds and the start of the report prints.

The rules are those of docs/statistics.md; `RULES` says them in words. Editors and modes are never
pooled into one figure: where several meet, counts are added up and every figure is None.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agent_judge.records import CRITERIA, MAX_LEVEL, Record, score_100
from agent_judge.stats.coverage import Cell, Tally, group_by_cell, source_key, tally
from agent_judge.stats.intervals import Clusters, Estimate, Floats, mean_estimate

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
    "interval_100": "95 % for score_100, clustered by source picture; null for fewer than six "
    "source pictures, where all levels are equal, and without a headline",
    "per_type_100": "mean of the types' score_100, each type with equal weight",
    "overall": "mean of the IF figure and the VC figure; null when either is null",
    "pooling": "editors and modes are never pooled into one figure",
}
"""The rules of a summary in words, printed beside its figures."""


@dataclass(frozen=True)
class _Part:
    counts: Tally
    records: Sequence[Record]


_Parts = Mapping[Cell, _Part]


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
    planned = planned or {}
    grouped = {**{cell: [] for cell in planned}, **group_by_cell(records)}
    parts = {c: _Part(tally(rows, planned.get(c)), rows) for c, rows in grouped.items()}
    by_editor = _split(parts, lambda cell: cell.editor or UNNAMED_EDITOR)
    reasons: Counter[str] = Counter()
    for part in parts.values():
        reasons.update(part.counts.reasons)
    return {
        "overall": _standing(parts),
        "by_editor": {editor: _of_editor(share) for editor, share in by_editor.items()},
        "by_type": _by_type(parts),
        "reasons": dict(reasons.most_common()),
        "rules": dict(RULES),
    }


def score_estimates(records: Iterable[Record]) -> dict[str, Estimate]:
    """Mean scores of the scored records with their intervals, on the 100-point scale.

    Args:
        records: of one editor and one mode.

    Returns:
        `{"IF", "VC", "overall"}`; overall is the mean of both, and its interval knows that one
        source picture moves both.
    """
    scored = [record for record in records if record.level is not None]
    clusters = Clusters.of([source_key(record) for record in scored])
    estimates: dict[str, Estimate] = {}
    of_both: Floats = np.zeros(clusters.n)
    for criterion in CRITERIA:
        of_it = [record.criterion == criterion for record in scored]
        value, influence = _mean_score(scored, np.array(of_it, dtype=float), clusters)
        touched = np.unique(clusters.index[np.array(of_it, dtype=bool)])
        estimates[criterion] = mean_estimate(influence[touched], value, (0, 100))
        of_both += influence / len(CRITERIA)
    both = _mean([estimates[criterion].value for criterion in CRITERIA])
    estimates["overall"] = mean_estimate(of_both, both, (0, 100))
    return estimates


def _mean_score(
    scored: Sequence[Record], chosen: Floats, clusters: Clusters
) -> tuple[float | None, Floats]:
    """The mean score of the chosen rows (1, others 0), and how far each cluster moves it."""
    n = chosen.sum()
    if not n:
        return None, np.zeros(clusters.n)
    scores = np.array([score_100(record.scored_level) for record in scored])
    mean = float(scores @ chosen / n)
    return mean, clusters.sums((scores - mean) * chosen) / n


def _of_editor(parts: _Parts) -> dict[str, Any]:
    by_mode = _split(parts, lambda cell: cell.mode)
    return {
        **_standing(parts),
        "by_type": _by_type(parts),
        "by_mode": {
            mode: {**_standing(share), "by_type": _by_type(share)}
            for mode, share in by_mode.items()
        },
    }


def _by_type(parts: _Parts) -> dict[str, Any]:
    by_type = _split(parts, lambda cell: cell.type or UNTYPED)
    return {name: _standing(share) for name, share in by_type.items()}


def _split(parts: _Parts, key: Callable[[Cell], str]) -> dict[str, _Parts]:
    shares: dict[str, dict[Cell, _Part]] = defaultdict(dict)
    for cell, part in parts.items():
        shares[key(cell)][cell] = part
    return dict(sorted(shares.items()))


_FIGURES = ("score_100", "mean_level", "missing_at_1_100", "best_100", "worst_100", "per_type_100")


def _standing(parts: _Parts) -> dict[str, Any]:
    note = _why_no_figure(parts)
    records = [] if note else [record for part in parts.values() for record in part.records]
    estimates = score_estimates(records)
    each: dict[str, dict[str, Any]] = {}
    for criterion in CRITERIA:
        share = {cell: part for cell, part in parts.items() if cell.criterion == criterion}
        total = _total(share)
        figures = dict.fromkeys(_FIGURES) if note else _figures(total, share)
        each[criterion] = {
            **_counts(total),
            **figures,
            "interval_100": _interval(figures["score_100"], estimates[criterion]),
        }
    both = {name: _mean([each[c][name] for c in CRITERIA]) for name in _FIGURES}
    return {
        **each,
        "n_planned": sum(each[c]["n_planned"] for c in CRITERIA),
        "n_scored": sum(each[c]["n_scored"] for c in CRITERIA),
        **both,
        "interval_100": _interval(both["score_100"], estimates["overall"]),
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


def _total(parts: _Parts) -> Tally:
    return sum((part.counts for part in parts.values()), Tally())


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


def _figures(total: Tally, parts: _Parts) -> dict[str, float | None]:
    return {
        "score_100": _on_100(total.mean_level),
        "mean_level": total.mean_level,
        "missing_at_1_100": _on_100(total.missing_at_1),
        "best_100": _on_100(total.bound(MAX_LEVEL)),
        "worst_100": _on_100(total.bound(1)),
        "per_type_100": _on_100(_per_type_level(parts)),
    }


def _per_type_level(parts: _Parts) -> float | None:
    """Mean of the types' mean levels; types whose edited pictures are all missing stay out."""
    totals = [_total(share) for share in _split(parts, lambda c: c.type or UNTYPED).values()]
    return _mean([total.mean_level for total in totals if total.n_to_judge])


def _interval(headline: float | None, estimate: Estimate) -> list[float] | None:
    if headline is None or estimate.low is None or estimate.high is None:
        return None
    return [estimate.low, estimate.high]


def _on_100(level: float | None) -> float | None:
    return None if level is None else score_100(level)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None
