"""A folder of sources, a folder of outputs and a table of instructions -> samples.

Files are matched by stem (`cat.jpg`, `cat.png` and `cat` in the table), never by their order: one
missing output would shift every pair behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from agent_judge.errors import Fault
from agent_judge.formats.pictures import Pictures
from agent_judge.images import SUFFIXES
from agent_judge.records import Sample
from agent_judge.roots import Roots
from agent_judge.row_fields import sample_of
from agent_judge.row_files import BadRow, read_rows

SOURCE_COLUMNS = ("source", "stem", "file", "filename", "file_name", "image", "name", "id")
"""The first of these that the table has names a row's source, with or without its suffix."""
OUTPUT_COLUMNS = ("edited", "output")
"""Names a row's output where its stem is not the source's."""

_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class FolderImport:
    """What was found, and the samples made of it."""

    samples: tuple[Sample, ...]
    """In the table's order, also where the output is missing: that is a result of its own."""
    faults: tuple[Fault, ...]
    """Why rows of the table give no sample."""
    n_sources: int
    n_outputs: int
    n_instructions: int
    missing: tuple[str, ...]
    """Ids of the samples without an output."""
    odd: tuple[str, ...]
    """Files that no row uses, in words."""

    def summary(self) -> str:
        """Counts of what was found, matched, missing, odd and at fault, with the first names."""
        found = f"{self.n_sources} sources, {self.n_outputs} outputs"
        return "\n".join(
            [
                f"found    {found}, {self.n_instructions} instructions",
                f"matched  {len(self.samples) - len(self.missing)}",
                f"missing  {_named(self.missing)}",
                f"odd      {_named(self.odd)}",
                f"faults   {_named([str(fault) for fault in self.faults])}",
            ]
        )


def import_folders(
    sources: Path, outputs: Path, instructions: Path, *, editor: str = ""
) -> FolderImport:
    """Match two folders of pictures by the table of instructions.

    Args:
        sources: pictures before the edit.
        outputs: the editing model's pictures, named as their sources.
        instructions: .csv, .jsonl or .parquet with a column `instruction` and one of
            `SOURCE_COLUMNS`; other columns of a manifest (type, boxes, ...) are taken over.
        editor: the editing model's name, for rows that give none.

    Raises:
        InputError: a folder or the table is missing.
    """
    before, after = Pictures(sources, "source"), Pictures(outputs, "output")
    roots = Roots(instructions.absolute().parent, (before.folder, after.folder))
    samples: list[Sample] = []
    faults: list[Fault] = []
    lines: dict[str, int] = {}
    n_rows = 0
    for line, values in read_rows(instructions):
        n_rows += 1
        sample, found = _sample(values, before, after, roots, editor)
        if sample is not None and (first := lines.setdefault(sample.id, line)) != line:
            found = (("id", f"{sample.id!r} is the id of line {first} too"),)
        if found:
            faults += [
                Fault(path=str(instructions), line=line, field=field, message=message)
                for field, message in found
            ]
        elif sample is not None:
            samples.append(sample)
    return FolderImport(
        samples=tuple(samples),
        faults=tuple(faults),
        n_sources=before.n_pictures,
        n_outputs=after.n_pictures,
        n_instructions=n_rows,
        missing=tuple(sample.id for sample in samples if not sample.edited.exists()),
        odd=(*_odd(before, instructions), *_odd(after, instructions)),
    )


def _sample(
    values: Mapping[str, Any] | BadRow,
    before: Pictures,
    after: Pictures,
    roots: Roots,
    editor: str,
) -> tuple[Sample | None, tuple[tuple[str | None, str], ...]]:
    if isinstance(values, BadRow):
        return None, ((values.field, values.message),)
    column = next((name for name in SOURCE_COLUMNS if name in values), None)
    if column is None:
        return None, ((None, f"expected a column {' or '.join(SOURCE_COLUMNS)}"),)
    if "instruction" not in values:
        told = f"expected this column: rename the one that holds the texts ({', '.join(values)})"
        return None, (("instruction", told),)
    name = str(values[column])
    own_name = next((str(values[c]) for c in OUTPUT_COLUMNS if values.get(c)), None)
    try:
        source = before.find(name)
        if source is None:
            raise ValueError(f"no source has the stem {_stem(name)!r}{before.like(name)}")
        edited = after.find(own_name or _stem(name))
    except ValueError as err:
        return None, ((column, str(err)),)
    stem = _stem(own_name or name)
    row = {key: v for key, v in values.items() if key not in (column, *OUTPUT_COLUMNS)}
    return sample_of(
        {
            "id": stem,
            **({"editor": editor} if editor else {}),
            **row,
            "source": str(source),
            "edited": str(edited or after.expected(stem)),
        },
        roots,
    )


def _odd(pictures: Pictures, table: Path) -> Iterator[str]:
    """What no row asked for, in words."""
    for name in pictures.unused():
        yield f"{pictures.kind} {name!r} without an instruction"
    for path in pictures.others():
        if path != table.absolute():
            yield f"{path.name!r} among the {pictures.kind}s is no picture"


def _stem(name: str) -> str:
    path = PurePosixPath(name.replace("\\", "/"))
    return path.stem if path.suffix.lower() in SUFFIXES else path.name


def _named(names: Sequence[str]) -> str:
    shown = "; ".join(names[:_SHOWN])
    more = f"; and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{len(names)}: {shown}{more}" if names else "0"
