"""Runs with what people said about their rows: what `agree` compares."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent_judge.classical_columns import classical_columns
from agent_judge.cli.run_facts import RunFacts, facts_of
from agent_judge.cli.terminal import shown
from agent_judge.errors import InputError
from agent_judge.records import Criterion, Mode
from agent_judge.rubrics.protocol import rubric_of
from agent_judge.run import Run
from agent_judge.stats.preferences import Preference, preferences
from agent_judge.stats.ratings import (
    HumanRating,
    RatedRecord,
    RatingIndex,
    labels_without_a_level,
    manifest_ratings,
    parse_ratings,
    rated_records,
)
from agent_judge.stats.tracking import Tracking, tracking
from agent_judge.store import PlannedRow

Values = Mapping[str, Mapping[str, float]]
"""By row id, each rater's value for one criterion; rows that nobody rated are left out."""


@dataclass(frozen=True, kw_only=True)
class RatedRun:
    """A run and what people said about its rows."""

    facts: RunFacts
    people: Mapping[Criterion, Values]
    rated: Sequence[RatedRecord]
    """The rows among them that the judge scored."""
    preferred: Mapping[tuple[Mode, str], Preference] = field(default_factory=dict)
    """How often the judge prefers the picture that people prefer, see `stats.preferences`."""
    tracking: Sequence[Tracking] = ()
    """How the classical columns track them, where that was asked for."""


def rated_criteria(folders: Sequence[Path]) -> tuple[Criterion, ...]:
    """The criteria of runs, and those of another protocol that people may rate in their place.

    Raises:
        InputError: no run.
    """
    own: list[Criterion] = []
    for folder in folders:
        run = Run.open(folder)
        with run.store:
            own += run.protocol.criteria
    beside = [name for c in own if (name := rubric_of(c).labelled_as) is not None]
    return tuple(dict.fromkeys((*own, *beside)))


def read_ratings(path: Path, criteria: Sequence[Criterion]) -> list[HumanRating]:
    """The ratings of a label table; its name stands for raters that it does not name.

    Args:
        path: the table.
        criteria: whose columns are read.

    Raises:
        InputError: it cannot be read; names file and line.
    """
    try:
        return parse_ratings(path.read_text(encoding="utf-8"), by=path.stem, criteria=criteria)
    except (OSError, UnicodeDecodeError) as err:
        raise InputError(f"--labels {str(path)!r} cannot be read: {err}") from err
    except InputError as err:
        raise InputError(f"--labels {path}: {err}") from err


def rated_run(folder: Path, ratings: Sequence[HumanRating], *, classical: bool) -> RatedRun:
    """A run with people's ratings.

    Args:
        folder: the run's.
        ratings: of any rows; empty for those of the run's manifest.
        classical: whether to compute the classical columns; pictures are read for them.

    Raises:
        InputError: no run, or nobody rated any of its rows.
    """
    run = Run.open(folder)
    with run.store:
        records, rows = list(run.records()), list(run.rows())
        facts = facts_of(str(folder), run, records)
        criteria = run.protocol.criteria
    if not ratings:
        labels = {row.id: row.row.get("labels") or () for row in rows}
        ratings = manifest_ratings(labels)
        for told in labels_without_a_level(labels, criteria):
            print(shown(f"{folder}: {told}"), file=sys.stderr)
    people = _people(rows, criteria, RatingIndex(ratings))
    if not any(people.values()):
        raise InputError(
            f"nobody rated a row of {str(folder)!r} for {' or '.join(criteria)}: label its "
            "manifest (agent-judge annotate asks for IF and VC), or pass --labels FILE with ids of "
            "that run"
        )
    rated = rated_records(records, ratings)
    tracks: Sequence[Tracking] = ()
    if classical:
        ids = {one.record.id for one in rated}
        tracks = tracking(rated, dict(classical_columns(row for row in rows if row.id in ids)))
    return RatedRun(
        facts=facts,
        people=people,
        rated=rated,
        preferred=preferences(rated, records),
        tracking=tracks,
    )


def _people(
    rows: Sequence[PlannedRow], criteria: Sequence[Criterion], index: RatingIndex
) -> dict[Criterion, Values]:
    people: dict[Criterion, Values] = {}
    for criterion in criteria:
        values: dict[str, Mapping[str, float]] = {}
        for row in rows:
            item, editor = row.row.get("item") or row.id, row.row.get("editor") or ""
            given = index.of_row(criterion, id=row.id, item=item, editor=editor)
            if given:
                values[row.id] = {by: rating.value for by, rating in given.items()}
        people[criterion] = values
    return people


def over_shared_rows(runs: Sequence[RatedRun]) -> list[list[RatedRecord]] | None:
    """Each run's rated rows among those that every run scored.

    A judge that leaves the hard rows out looks better than one that does not. None where all runs
    scored the same rows anyway, or share none.
    """
    keys = [{_key(row) for row in run.rated} for run in runs]
    shared = set.intersection(*keys)
    if not shared or all(own == shared for own in keys):
        return None
    return [[row for row in run.rated if _key(row) in shared] for run in runs]


def _key(row: RatedRecord) -> tuple[str, Criterion]:
    return row.record.id, row.record.criterion
