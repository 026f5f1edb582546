"""From the entries of a foreign layout to samples: the one loop that every importer goes through.

A format says what rows an entry gives. Here they become samples, checked and streamed; every fault
is kept with its line, and what is missing or odd is counted. A row without its output stays,
because a missing output is a result.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_judge.errors import Fault, InputError, ManifestError
from agent_judge.formats.entries import BadEntry, Entry, Fields
from agent_judge.formats.pictures import Pictures
from agent_judge.manifest import MAX_LISTED_FAULTS
from agent_judge.records import Sample
from agent_judge.roots import Roots
from agent_judge.row_fields import sample_of

_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """What the user says beside the files."""

    editor: str | None = None
    """The editing model's name; None for the format's own guess."""
    mapping: Mapping[str, str] = field(default_factory=dict)
    """Which key of an entry holds a column, where the aliases do not fit."""
    roots: Sequence[Path] = ()
    """Folders that links among the pictures may lead to."""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A row that an entry gives."""

    values: Mapping[str, Any]
    """Columns of a manifest and whatever else is to be kept; paths are absolute."""
    odd: tuple[str, ...] = ()
    """What the user should know of it, in words."""


def several_sources(names: Sequence[str]) -> tuple[str, ...]:
    """What to say of an edit with several source pictures: a row has one."""
    if len(names) < 2:
        return ()
    return (f"{len(names)} source pictures: {names[0]!r} is taken, all are kept as sources",)


class Tally:
    """How many there were, and the first of them by name."""

    def __init__(self) -> None:
        self.n = 0
        self._first: list[str] = []

    def add(self, name: str) -> None:
        """Count one."""
        self.n += 1
        if self.n <= _SHOWN:
            self._first.append(name)

    def __str__(self) -> str:
        more = f"; and {self.n - _SHOWN} more" if self.n > _SHOWN else ""
        return f"{self.n}: {'; '.join(self._first)}{more}" if self.n else "0"


class Import:
    """The samples of a foreign layout, streamed, and what was found on the way.

    Iterate it once; the summary is complete after that. An `Import` that met a fault ends with
    the exception that names it, so that no half manifest is written.
    """

    def __init__(
        self,
        entries: Iterable[Entry],
        drafts: Callable[[Entry], Iterable[Draft]],
        *,
        fields: Fields,
        folders: Sequence[Path],
        roots: Sequence[Path],
        outputs: Pictures,
        only_outputs: bool = True,
        remark: str = "",
    ) -> None:
        """Take the pieces; nothing is read before iteration.

        Args:
            entries: of the table.
            drafts: the rows of an entry; raises `ValueError` where it gives none.
            fields: what `drafts` reads.
            folders: where pictures lie.
            roots: folders that links may lead to besides.
            outputs: the editing model's pictures.
            only_outputs: whether nothing else lies among them, so that a picture that no row
                asks for is odd.
            remark: what the format had to choose, in words.
        """
        self._remark = remark
        self._entries, self._drafts, self._fields = entries, drafts, fields
        self._only_outputs = only_outputs
        self._outputs = outputs
        self.folders = (*folders, *roots)
        self._roots = Roots(folders[0], self.folders[1:])
        self._lines: dict[str, int] = {}
        self._faults: list[Fault] = []
        self._n_faults = self._n_entries = self._n_rows = self._n_sources = 0
        self._missing, self._odd = Tally(), Tally()

    def __iter__(self) -> Iterator[Sample]:
        """The samples, in the table's order.

        Raises:
            ManifestError: every fault that was found.
            InputError: there are no rows, or none of their pictures is where it should be.
        """
        for entry in self._entries:
            self._n_entries += 1
            try:
                for draft in self._drafts(entry):
                    sample = self._sample(entry, draft)
                    if sample is not None:
                        yield sample
            except ValueError as err:
                field_ = err.field if isinstance(err, BadEntry) else None
                self._fault(entry, field_, str(err))
        for name in self._outputs.unused() if self._only_outputs else ():
            self._odd.add(f"no row asks for the output {name!r}")
        self._conclude()

    def summary(self) -> str:
        """What was found, matched, missing, odd and at fault; nothing where nothing was read."""
        if not self._n_entries:
            return ""
        faults = Tally()
        for fault in self._faults:
            faults.add(str(fault))
        faults.n = self._n_faults
        return "\n".join(
            [
                *([f"chosen   {self._remark}"] if self._remark else []),
                f"found    {self._n_entries} entries that give {self._n_rows} rows, "
                f"{self._outputs.n_pictures} pictures among the outputs",
                f"keys     {self._fields.summary()}",
                f"matched  {self._n_rows - self._missing.n}",
                f"missing  {self._missing}",
                f"odd      {self._odd}",
                f"faults   {faults}",
            ]
        )

    def _sample(self, entry: Entry, draft: Draft) -> Sample | None:
        sample, faults = sample_of(draft.values, self._roots)
        for column, message in faults:
            self._fault(entry, column, message)
        if sample is None or not self._is_new(entry, sample) or not self._is_json(entry, draft):
            return None
        self._n_rows += 1
        for text in draft.odd:
            self._odd.add(f"{sample.id!r}: {text}")
        if not sample.edited.exists():
            self._missing.add(sample.id)
        if sample.source.exists():
            self._n_sources += 1
        else:
            self._odd.add(f"{sample.id!r}: no source {sample.source.name!r}")
        return sample

    def _is_new(self, entry: Entry, sample: Sample) -> bool:
        if sample.id in self._lines:
            first = self._lines[sample.id]
            self._fault(entry, "id", f"{sample.id!r} is the id of line {first} too")
            return False
        self._lines[sample.id] = entry.line
        return True

    def _is_json(self, entry: Entry, draft: Draft) -> bool:
        """Whether the row can be written: readers take more than writers do."""
        try:
            json.dumps(draft.values, ensure_ascii=False, allow_nan=False).encode()
        except UnicodeEncodeError:
            self._fault(entry, None, "half a surrogate pair is no text")
        except ValueError:
            self._fault(entry, None, "a number without bounds is no JSON")
        else:
            return True
        return False

    def _fault(self, entry: Entry, column: str | None, message: str) -> None:
        self._n_faults += 1
        if len(self._faults) < MAX_LISTED_FAULTS:
            self._faults.append(
                Fault(
                    path=str(entry.path),
                    line=entry.line,
                    field=column,
                    message=message,
                    id=entry.key,
                )
            )

    def _conclude(self) -> None:
        self._fields.check()
        if more := self._n_faults - len(self._faults):
            path = self._faults[0].path
            told = f"{more} more faults, not listed"
            self._faults.append(Fault(path=path, line=None, field=None, message=told))
        if self._faults:
            raise ManifestError(tuple(self._faults))
        if not self._n_rows:
            raise InputError("the table has no entries")
        if not self._n_sources:
            raise InputError(f"none of the {self._n_rows} sources is there: is the folder right?")
        if self._missing.n == self._n_rows:
            raise InputError(
                f"none of the {self._n_rows} outputs is in {str(self._outputs.folder)!r}: "
                "is the folder right, and are the files named as docs/importing.md says?"
            )
