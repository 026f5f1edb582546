"""Two runs over the same items: two editing models, or two judges, pair by pair."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from agent_judge.levels import Scale
from agent_judge.records import Criterion, Mode, Record
from agent_judge.rubrics.protocol import place_of, rubric_of
from agent_judge.stats.coverage import source_key
from agent_judge.stats.intervals import Clusters, Estimate, Floats, bootstrap, standard_error
from agent_judge.stats.measures import confusion_matrix, weighted_mean
from agent_judge.stats.permutation import sign_flip_p_value
from agent_judge.stats.summary import UNTYPED


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One item that both runs scored."""

    a: Record
    b: Record

    @property
    def change(self) -> float:
        """Level in B minus level in A."""
        return self.b.scored_level - self.a.scored_level

    @property
    def points(self) -> float:
        """Score in B minus score in A, in points of 100."""
        scale = rubric_of(self.a.criterion).scale
        return scale.score_100(self.b.scored_level) - scale.score_100(self.a.scored_level)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What changes from run A to run B in one criterion, over the items that both scored."""

    criterion: Criterion
    editor_a: str
    editor_b: str
    mode_a: Mode
    mode_b: Mode
    pairs: tuple[Pair, ...]
    """The largest changes first, worse in B before better in B."""
    n_clusters: int
    """Source pictures among the pairs."""
    n_only_a: int
    """Rows that A scored and B did not, or does not have."""
    n_only_b: int
    """Rows that B scored and A did not, or does not have."""
    mean_a_100: float
    """A's mean score over the pairs."""
    mean_b_100: float
    """B's mean score over the pairs."""
    difference_100: Estimate
    """B minus A in points of 100, with its paired bootstrap interval."""
    p_value: float | None
    """Of no difference, by sign flips of whole source pictures."""
    sd_100: float | None
    """Standard deviation of the paired differences in points of 100, as their mean feels it: more
    than that of single rows where rows of one source picture move together. For `samples_needed`;
    None for a single source picture."""
    transitions: tuple[tuple[int, ...], ...]
    """Pairs by level in A (row) and in B (column), worst first; empty where levels are no whole
    numbers."""
    by_type: Mapping[str, Estimate]
    """The difference within each instruction type."""

    @property
    def n_better_in_b(self) -> int:
        """Pairs with the higher level in B."""
        return sum(pair.change > 0 for pair in self.pairs)

    @property
    def n_better_in_a(self) -> int:
        """Pairs with the higher level in A."""
        return sum(pair.change < 0 for pair in self.pairs)

    @property
    def changed(self) -> tuple[Pair, ...]:
        """The pairs whose level changed, the largest changes first."""
        return tuple(pair for pair in self.pairs if pair.change)


class _Side(NamedTuple):
    criterion: Criterion
    editor: str
    mode: Mode

    @classmethod
    def of(cls, record: Record) -> _Side:
        return cls(record.criterion, record.editor, record.mode)


def compare(
    a: Iterable[Record], b: Iterable[Record], *, seed: int = 0, n_resamples: int = 1000
) -> list[Comparison]:
    """Compares two runs item by item; criteria, editors and modes are never pooled.

    Items are paired by `item` while each run has one editing model (that compares the models), and
    by item and editor where a run has several (that compares judges on the same pictures).

    Args:
        a: one run's records.
        b: the other's.
        seed: of the intervals and tests.
        n_resamples: of the intervals.

    Raises:
        ValueError: an item comes twice in one run, so that pairs are ambiguous.
    """
    a, b = list(a), list(b)
    by_editor = any(len({record.editor for record in run}) > 1 for run in (a, b))
    of_a, of_b = _scored(a, by_editor=by_editor), _scored(b, by_editor=by_editor)
    groups: dict[tuple[_Side, _Side], list[Pair]] = {}
    for key in of_a:
        if key in of_b:
            pair = Pair(a=of_a[key], b=of_b[key])
            groups.setdefault((_Side.of(pair.a), _Side.of(pair.b)), []).append(pair)
    lone_a = [_Side.of(record) for key, record in of_a.items() if key not in of_b]
    lone_b = [_Side.of(record) for key, record in of_b.items() if key not in of_a]
    return [
        _comparison(
            groups[sides],
            lone_a.count(sides[0]),
            lone_b.count(sides[1]),
            seed=seed,
            n_resamples=n_resamples,
        )
        for sides in sorted(groups, key=lambda sides: (place_of(sides[0].criterion), sides))
    ]


def _scored(records: Sequence[Record], *, by_editor: bool) -> dict[tuple[str, ...], Record]:
    found: dict[tuple[str, ...], Record] = {}
    for record in records:
        key = (record.criterion, record.item, *([record.editor] if by_editor else []))
        if key in found:
            raise ValueError(
                f"item {record.item!r} comes twice in one run: pairs would be ambiguous"
            )
        found[key] = record
    return {key: record for key, record in found.items() if record.level is not None}


def _comparison(
    pairs: Sequence[Pair], n_only_a: int, n_only_b: int, *, seed: int, n_resamples: int
) -> Comparison:
    ranked = sorted(pairs, key=lambda p: (-abs(p.change), p.change, p.a.item))
    first = ranked[0]
    clusters = [source_key(pair.a) for pair in ranked]
    points = np.array([pair.points for pair in ranked])
    types = [pair.a.type or UNTYPED for pair in ranked]

    def difference(type_name: str | None) -> Estimate:
        chosen = [i for i, name in enumerate(types) if type_name in (None, name)]
        values = points[chosen]
        return bootstrap(
            lambda weights: {"mean": weighted_mean(values, weights)},
            [clusters[i] for i in chosen],
            seed=seed,
            n_resamples=n_resamples,
        )["mean"]

    scale: Scale = rubric_of(first.a.criterion).scale
    levels_a = [pair.a.scored_level for pair in ranked]
    levels_b = [pair.b.scored_level for pair in ranked]
    return Comparison(
        criterion=first.a.criterion,
        editor_a=first.a.editor,
        editor_b=first.b.editor,
        mode_a=first.a.mode,
        mode_b=first.b.mode,
        pairs=tuple(ranked),
        n_clusters=len(set(clusters)),
        n_only_a=n_only_a,
        n_only_b=n_only_b,
        mean_a_100=scale.score_100(float(np.mean(levels_a))),
        mean_b_100=scale.score_100(float(np.mean(levels_b))),
        difference_100=difference(None),
        p_value=sign_flip_p_value(points, clusters, seed=seed),
        sd_100=_spread_of_mean(points, Clusters.of(clusters)),
        transitions=confusion_matrix(levels_a, levels_b, scale.levels),
        by_type={name: difference(name) for name in sorted(set(types))},
    )


def _spread_of_mean(values: Floats, clusters: Clusters) -> float | None:
    """The standard deviation of independent rows whose mean would be as unsure as this one."""
    error = standard_error(clusters.sums(values - values.mean()) / len(values))
    return None if error is None else error * math.sqrt(len(values))
