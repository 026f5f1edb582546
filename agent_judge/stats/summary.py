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
from numpy.typing import NDArray

from agent_judge.levels import Scale
from agent_judge.records import Criterion, Record
from agent_judge.rubrics.protocol import protocol_of, rubric_of
from agent_judge.stats.coverage import (
    Cell,
    Tally,
    group_by_cell,
    mean_of_all,
    source_key,
    tally,
)
from agent_judge.stats.further import Evaluated, further_figures
from agent_judge.stats.intervals import Clusters, Estimate, Floats, mean_estimate

UNNAMED_EDITOR = "(unnamed)"
"""Stands for the editor of rows that name none."""
UNTYPED = "(untyped)"
"""Stands for the type of rows that have none."""
RULES: Mapping[str, str] = {
    "score_100": "the mean level on 100 points, 0 at the worst level and 100 at the best: "
    "(level - 1) / 3 * 100 for levels 1 to 4; DLEBench does not print its formula",
    "headline": "shown when at least 90 % of the rows that had something to judge are scored; "
    "rows whose edited picture is missing or damaged are left out of it",
    "missing_at_1_100": "the headline's rows plus missing and damaged edited pictures at the worst "
    "level",
    "bounds": "every row that was not scored (unscored or not run) at the best level, and at the "
    "worst",
    "interval_100": "95 % for score_100, clustered by source picture; null for fewer than six "
    "source pictures, where all levels are equal, and without a headline",
    "per_type_100": "mean of the types' score_100, each type with equal weight",
    "overall": "mean of the criteria's figures; null when one of them is null, and where the "
    "protocol has no such figure",
    "further": "the protocol's own figures by name (docs/protocols.md); null where a criterion "
    "that they need has no headline",
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

    `overall`, each entry of `by_editor` and of `by_type` have one shape: the protocol's criteria
    with their counts and figures, then the figures of all together. Where rows of several editors
    or modes meet, counts are added up but every figure is None and `note` says where to look.
    `further` are the protocol's own figures, see `stats.further`.

    Args:
        records: one per judged (sample, criterion).
        planned: rows that were to be judged in each cell; None when every one has its record.

    Returns:
        `{overall, by_editor, by_type, reasons, rules}`; `by_editor` entries also have `by_type`,
        and `by_mode` whose entries have `by_type` too.

    Raises:
        ValueError: records of two protocols.
    """
    planned = planned or {}
    grouped = {**{cell: [] for cell in planned}, **group_by_cell(records)}
    parts = {c: _Part(tally(rows, planned.get(c)), rows) for c, rows in grouped.items()}
    evaluated = Evaluated(
        protocol_of(cell.criterion for cell in parts),
        [record for part in parts.values() for record in part.records],
    )
    by_editor = _split(parts, lambda cell: cell.editor or UNNAMED_EDITOR)
    reasons: Counter[str] = Counter()
    for part in parts.values():
        reasons.update(part.counts.reasons)
    return {
        "overall": _standing(parts, evaluated),
        "by_editor": {editor: _of_editor(share, evaluated) for editor, share in by_editor.items()},
        "by_type": _by_type(parts, evaluated),
        "reasons": dict(reasons.most_common()),
        "rules": dict(RULES),
    }


def score_estimates(records: Iterable[Record]) -> dict[str, Estimate]:
    """Mean scores of the scored records with their intervals, on the 100-point scale.

    Args:
        records: of one editor and one mode.

    Returns:
        An estimate for each criterion of the records' protocol, and for `overall`: the mean of
        all, whose interval knows that one source picture moves each of them.
    """
    scored = [record for record in records if record.level is not None]
    criteria = protocol_of(record.criterion for record in scored).criteria
    clusters = Clusters.of([source_key(record) for record in scored])
    scores: Floats = np.array([_score(record) for record in scored], dtype=np.float64)
    asked = np.array([record.criterion for record in scored], dtype=np.str_)
    estimates: dict[str, Estimate] = {}
    of_all: Floats = np.zeros(clusters.n)
    for criterion in criteria:
        chosen = asked == criterion
        value, influence = _mean_score(scores, chosen, clusters)
        touched = np.unique(clusters.index[chosen])
        estimates[criterion] = mean_estimate(influence[touched], value, (0, 100))
        of_all += influence / len(criteria)
    mean = mean_of_all([estimates[criterion].value for criterion in criteria])
    estimates["overall"] = mean_estimate(of_all, mean, (0, 100))
    return estimates


def _mean_score(
    scores: Floats, chosen: NDArray[np.bool_], clusters: Clusters
) -> tuple[float | None, Floats]:
    """The mean score of the chosen rows, and how far each cluster moves it."""
    n = chosen.sum()
    if not n:
        return None, np.zeros(clusters.n)
    mean = float(scores @ chosen / n)
    return mean, clusters.sums((scores - mean) * chosen) / n


def _score(record: Record) -> float:
    return rubric_of(record.criterion).scale.score_100(record.scored_level)


def _of_editor(parts: _Parts, evaluated: Evaluated) -> dict[str, Any]:
    by_mode = _split(parts, lambda cell: cell.mode)
    return {
        **_standing(parts, evaluated),
        "by_type": _by_type(parts, evaluated),
        "by_mode": {
            mode: {
                **_standing(share, evaluated),
                "by_type": _by_type(share, evaluated),
            }
            for mode, share in by_mode.items()
        },
    }


def _by_type(parts: _Parts, evaluated: Evaluated) -> dict[str, Any]:
    by_type = _split(parts, lambda cell: cell.type or UNTYPED)
    return {name: _standing(share, evaluated) for name, share in by_type.items()}


def _split(parts: _Parts, key: Callable[[Cell], str]) -> dict[str, _Parts]:
    shares: dict[str, dict[Cell, _Part]] = defaultdict(dict)
    for cell, part in parts.items():
        shares[key(cell)][cell] = part
    return dict(sorted(shares.items()))


_FIGURES = ("score_100", "mean_level", "missing_at_1_100", "best_100", "worst_100", "per_type_100")


def _standing(parts: _Parts, evaluated: Evaluated) -> dict[str, Any]:
    protocol, note = evaluated.protocol, _why_no_figure(parts)
    records = [] if note else [record for part in parts.values() for record in part.records]
    estimates = score_estimates(records)
    each: dict[Criterion, dict[str, Any]] = {}
    for criterion, rubric in protocol.rubrics.items():
        share = {cell: part for cell, part in parts.items() if cell.criterion == criterion}
        total = _total(share)
        figures = dict.fromkeys(_FIGURES) if note else _figures(total, share, rubric.scale)
        each[criterion] = {
            **_counts(total, rubric.scale),
            **figures,
            "interval_100": _interval(figures["score_100"], estimates.get(criterion)),
        }
    means = {criterion: one["mean_level"] for criterion, one in each.items()}
    together: dict[str, float | None] = dict.fromkeys(_FIGURES)
    if protocol.has_overall:
        together = {name: mean_of_all([one[name] for one in each.values()]) for name in _FIGURES}
    return {
        **each,
        "n_planned": sum(one["n_planned"] for one in each.values()),
        "n_scored": sum(one["n_scored"] for one in each.values()),
        **together,
        "interval_100": _interval(together["score_100"], estimates["overall"]),
        "further": further_figures(evaluated, means, records),
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


def _counts(total: Tally, scale: Scale) -> dict[str, Any]:
    return {
        "n_planned": total.n_planned,
        "n_scored": total.n_scored,
        "n_at_level": list(total.n_in_bins(scale)),
        "n_unscored": total.n_unscored,
        "n_missing_output": total.n_missing_output,
        "n_invalid_image": total.n_invalid_image,
        "n_not_run": total.n_not_run,
        "coverage_01": total.coverage_01,
        "reasons": dict(total.reasons),
    }


def _figures(total: Tally, parts: _Parts, scale: Scale) -> dict[str, float | None]:
    on_100 = {
        "score_100": total.mean_level,
        "missing_at_1_100": total.missing_at(scale.worst),
        "best_100": total.bound(scale.best),
        "worst_100": total.bound(scale.worst),
        "per_type_100": _per_type_level(parts),
    }
    scores = {n: None if level is None else scale.score_100(level) for n, level in on_100.items()}
    return {**scores, "mean_level": total.mean_level}


def _per_type_level(parts: _Parts) -> float | None:
    """Mean of the types' mean levels; types whose edited pictures are all missing stay out."""
    totals = [_total(share) for share in _split(parts, lambda c: c.type or UNTYPED).values()]
    return mean_of_all([total.mean_level for total in totals if total.n_to_judge])


def _interval(headline: float | None, estimate: Estimate | None) -> list[float] | None:
    if headline is None or estimate is None or estimate.low is None or estimate.high is None:
        return None
    return [estimate.low, estimate.high]
