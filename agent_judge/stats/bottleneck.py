"""What holds an editing model back: the failure that costs it most, in one sentence.

A row at a level below the best costs `100 - score_100(level)` points of its criterion. A rubric may
name its failures: each step of the IF ladder is another one, everything below the best VC level is
collateral damage. Where it names none, all that is below the best level is one failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agent_judge.records import Criterion, Record
from agent_judge.rubrics.protocol import rubric_of
from agent_judge.stats.coverage import Tally, source_key
from agent_judge.stats.intervals import MIN_CLUSTERS, Clusters

N_RESAMPLES = 1000


@dataclass(frozen=True, kw_only=True)
class Loss:
    """What one failure costs."""

    failure: str
    """Its name in the rubric; the criterion's where the rubric names none."""
    criterion: Criterion
    levels: tuple[float, ...]
    """The levels that are this failure; none: all below the best."""
    n: int
    """Rows that failed so."""
    n_scored: int
    """Scored rows of the criterion."""
    points: float
    """Points of 100 that the criterion's mean loses by it."""

    @property
    def ended(self) -> str:
        """How its rows ended, in the ladder's words."""
        rubric = rubric_of(self.criterion)
        if len(self.levels) == 1:
            return f"as {rubric.label_of(self.levels[0])}"
        return f"below {rubric.label_of(rubric.scale.best)}"

    def points_of(self, record: Record) -> float:
        """Points that a scored record loses by this failure."""
        level = record.scored_level
        if record.criterion != self.criterion or (self.levels and level not in self.levels):
            return 0.0
        return 100 - rubric_of(self.criterion).scale.score_100(level)


@dataclass(frozen=True, kw_only=True)
class Bottleneck:
    """The failures of one editor in one mode, the costliest first."""

    losses: tuple[Loss, ...]
    """Of the criteria with a headline; the failures of another are not ranked."""
    holds_01: float | None
    """Share of resamples of the source pictures in which the first loss stays the largest; None
    for fewer than six pictures or nothing lost."""
    sentence: str
    """The bottleneck with the numbers behind it."""


def bottleneck(
    who: str, tallies: Mapping[Criterion, Tally], records: Iterable[Record], *, seed: int = 0
) -> Bottleneck:
    """The failure that costs an editing model most.

    Args:
        who: the editor and mode, as the sentence names them.
        tallies: of the same records, for each criterion that was asked for.
        records: of one editor and one mode.
        seed: of the resampling behind `holds_01`.
    """
    ranked = {criterion for criterion, counts in tallies.items() if counts.has_headline}
    losses = sorted(
        (
            _loss(failure, criterion, levels, tallies[criterion])
            for criterion in tallies
            if criterion in ranked
            for failure, levels in _failures(criterion).items()
        ),
        key=lambda loss: -loss.points,
    )
    scored = [r for r in records if r.level is not None and r.criterion in ranked]
    holds = _share_that_holds(losses, scored, seed) if losses and losses[0].n else None
    return Bottleneck(
        losses=tuple(losses), holds_01=holds, sentence=_sentence(who, losses, holds, tallies)
    )


def _failures(criterion: Criterion) -> Mapping[str, tuple[float, ...]]:
    rubric = rubric_of(criterion)
    return rubric.failures or {rubric.name.lower(): ()}


def _loss(failure: str, criterion: Criterion, levels: tuple[float, ...], counts: Tally) -> Loss:
    scale = rubric_of(criterion).scale
    failed = {
        level: n
        for level, n in counts.at_level.items()
        if (level in levels if levels else level < scale.best)
    }
    lost = sum(n * (100 - scale.score_100(level)) for level, n in failed.items())
    return Loss(
        failure=failure,
        criterion=criterion,
        levels=levels,
        n=sum(failed.values()),
        n_scored=counts.n_scored,
        points=lost / counts.n_scored,
    )


def _share_that_holds(losses: Sequence[Loss], scored: Sequence[Record], seed: int) -> float | None:
    clusters = Clusters.of([source_key(record) for record in scored])
    if clusters.n < MIN_CLUSTERS:
        return None
    # A column a failure: the points that each row loses by it, and whether it counts for it.
    lost = np.array([[loss.points_of(record) for loss in losses] for record in scored])
    counts = np.array([[r.criterion == loss.criterion for loss in losses] for r in scored])
    held = 0.0
    for weights in clusters.resamples(N_RESAMPLES, seed):
        means = weights @ lost / np.maximum(weights @ counts, 1)
        largest = np.isclose(means, means.max(axis=1, keepdims=True))
        held += (largest[:, 0] / largest.sum(axis=1)).sum()  # a tie is shared
    return float(held / N_RESAMPLES)


def _sentence(
    who: str, losses: Sequence[Loss], holds: float | None, tallies: Mapping[Criterion, Tally]
) -> str:
    unranked = "".join(
        f"; {criterion} is not ranked, with {counts.n_scored} of {counts.n_planned} rows scored"
        for criterion, counts in tallies.items()
        if not counts.has_headline
    )
    n_lost = max((counts.n_nothing_to_judge for counts in tallies.values()), default=0)
    tail = unranked + (f"; rows without readable output: {n_lost}" if n_lost else "") + "."
    if not losses:
        return f"{who}: too little is scored to name a bottleneck{tail}"
    worst, *others = losses
    if not worst.n:
        rows = ", ".join(
            f"{counts.n_scored} {criterion}"
            for criterion, counts in tallies.items()
            if counts.has_headline
        )
        return f"{who}: nothing is lost (scored rows: {rows}){tail}"
    rest = ", ".join(f"{loss.failure} {loss.points:.1f}" for loss in others)
    sure = "" if holds is None else f", and does so in {holds:.0%} of resamples of the sources"
    return (
        f"{who} loses most to {worst.failure}: {worst.n} of {worst.n_scored} scored "
        f"{worst.criterion} rows ({worst.n / worst.n_scored:.0%}) ended {worst.ended}, which costs "
        f"{worst.points:.1f} of 100 points{f' ({rest})' if rest else ''}{sure}{tail}"
    )
