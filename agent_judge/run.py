"""A run folder as a user sees it: records, counts, tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from agent_judge.errors import InputError
from agent_judge.records import Criterion, Record
from agent_judge.rubrics.protocol import Protocol, place_of, protocol_of
from agent_judge.stats.coverage import Cell
from agent_judge.stats.diagnosis import Diagnosis, diagnose
from agent_judge.stats.summary import summarize
from agent_judge.store import PlannedRow, Store


@dataclass(frozen=True)
class Run:
    """One run folder, open for reading.

    Example:
        >>> run = Run.open("runs/one")  # doctest: +SKIP
        >>> [record.label for record in run.records()]  # doctest: +SKIP
        ['Flawless Execution', 'Perfect Consistency']
    """

    store: Store

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """The run in a folder.

        Raises:
            StoreError: there is none, or it cannot be read.
        """
        return cls(Store.open(Path(folder)))

    @property
    def folder(self) -> Path:
        """Where the run lies."""
        return self.store.folder

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The criteria that were asked for, in any invocation."""
        return self.store.criteria

    @property
    def protocol(self) -> Protocol:
        """What its criteria belong to."""
        return protocol_of(self.criteria)

    @property
    def returned_models(self) -> list[str]:
        """Model ids that the endpoint returned; several mean that an alias moved on the way."""
        return self.store.distinct("judge_returned_model")

    @property
    def endpoints(self) -> list[str]:
        """Hosts that judged; empty for the embedded judge."""
        return self.store.distinct("endpoint")

    def records(self) -> Iterator[Record]:
        """The last round of every planned row, in the manifest's order, then the protocol's."""
        for _, of_row in itertools.groupby(self.store.records(), lambda record: record.id):
            yield from sorted(of_row, key=lambda record: place_of(record.criterion))

    def rows(self) -> Iterator[PlannedRow]:
        """The planned rows of the manifest, labels included."""
        return self.store.planned()

    def planned(self) -> dict[Cell, int]:
        """How many rows were to be judged, by (editor, mode, type, criterion)."""
        return {
            Cell(editor, mode, edit_type, criterion): n
            for editor, mode, edit_type, n in self.store.planned_counts()
            for criterion in self.criteria
        }

    def diagnose(self) -> Diagnosis:
        """Why the editing models fail: failure modes, types, sizes; a table in notebooks."""
        return diagnose(self.store.outcomes(), self.planned(), self.store.sizes_wh())

    def summary(self) -> dict[str, Any]:
        """What `summary.json` holds, see `stats.summary.summarize`."""
        return summarize(self.store.outcomes(), self.planned())


def refuse_two_protocols(protocols: Mapping[str, str]) -> None:
    """Nothing puts runs of different protocols side by side: they share no criterion.

    Args:
        protocols: the protocol's name by run folder.

    Raises:
        InputError: there is more than one.
    """
    if len(set(protocols.values())) > 1:
        told = ", ".join(f"{folder!r} is {name}" for folder, name in protocols.items())
        raise InputError(f"expected runs of one protocol, but {told}")
