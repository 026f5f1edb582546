"""Manifests: JSONL, CSV or Parquet -> Samples, and back (docs/data-format.md).

A manifest is read twice: once to find every fault before anything is judged, once to judge. Both
go through one row parser. Rows are streamed; only the check keeps something per row, a digest of
each id.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Any

from agent_judge.errors import Fault, ManifestError
from agent_judge.records import Sample
from agent_judge.remote import shown
from agent_judge.roots import Roots
from agent_judge.row_fields import COLUMNS, faults_of, sample_of
from agent_judge.row_files import BadRow, read_rows
from agent_judge.whole_file import written_whole

MAX_LISTED_FAULTS = 200
"""Further faults are counted, not listed."""


def check_manifest(path: Path, *, roots: Sequence[Path] = (), limit: int | None = None) -> int:
    """The number of rows of a manifest without a fault.

    Checks structure, ids, paths and box syntax of all rows. What needs pixels is found when a row
    is judged, and a missing edited picture is a fate of its own.

    Args:
        path: .jsonl, .csv or .parquet.
        roots: folders that paths may lead to besides the manifest's.
        limit: only the first so many rows.

    Raises:
        ManifestError: every fault, with file, line, column and what was expected.
        InputError: the file or a root is missing, or the file is of another kind.
    """
    faults: list[Fault] = []
    n_rows = n_faults = 0
    lines: dict[bytes, int] = {}
    allowed = Roots(path.parent, roots)
    for line, values in islice(read_rows(path), limit):
        n_rows += 1
        told = () if isinstance(values, BadRow) else faults_of(values, allowed)
        found = _faults(path, line, values, told)
        id_ = _id_of(values)
        if id_ is not None:
            digest = hashlib.blake2b(id_.encode(), digest_size=16).digest()
            first = lines.setdefault(digest, line)
            if first != line:
                found = (*found, _fault(path, line, "id", f"is the id of line {first} too", id_))
        n_faults += len(found)
        faults += found[: MAX_LISTED_FAULTS - len(faults)]
    if n_faults > len(faults):
        faults.append(_fault(path, None, None, f"{n_faults - len(faults)} more faults, not listed"))
    if n_rows == 0:
        faults.append(_fault(path, None, None, "no rows"))
    if faults:
        raise ManifestError(tuple(faults))
    return n_rows


def read_manifest(
    path: Path, *, roots: Sequence[Path] = (), limit: int | None = None
) -> Iterator[Sample]:
    """The samples of a manifest, streamed in its order.

    Duplicate ids are not seen here: call `check_manifest` first.

    Args:
        path: .jsonl, .csv or .parquet.
        roots: folders that paths may lead to besides the manifest's.
        limit: only the first so many rows.

    Raises:
        ManifestError: the faults of the first row that has any.
        InputError: the file or a root is missing, or the file is of another kind.
    """
    for _, sample in read_lines(path, roots=roots, limit=limit):
        yield sample


def read_lines(
    path: Path, *, roots: Sequence[Path] = (), limit: int | None = None
) -> Iterator[tuple[int, Sample]]:
    """The samples as `read_manifest` reads them, each with its line (its row in Parquet)."""
    allowed = Roots(path.parent, roots)
    for line, values in islice(read_rows(path), limit):
        sample, told = (None, ()) if isinstance(values, BadRow) else sample_of(values, allowed)
        if sample is None:
            raise ManifestError(_faults(path, line, values, told))
        yield line, sample


def sample_to_row(sample: Sample, folder: Path | None = None) -> dict[str, Any]:
    """A sample as a manifest's row: JSON types, without the columns that are at their defaults.

    Args:
        sample: its metadata come back as columns of their own.
        folder: paths into this folder are written relative to it, the others as they are.
    """
    row: dict[str, Any] = {}
    for column in fields(Sample):
        value = getattr(sample, column.name)
        default = sample.id if column.name == "item" else column.default
        if column.name != "metadata" and value != default:
            row[column.name] = _as_json(value, folder)
    return {**row, **{name: v for name, v in sample.metadata.items() if name not in row}}


def sample_from_row(row: Mapping[str, Any]) -> Sample:
    """The sample that `sample_to_row` wrote; it is not checked again.

    Args:
        row: from a place where only checked rows are kept.
    """
    known = {name: value for name, value in row.items() if name in COLUMNS}
    if "box_frame" in known:
        known["box_frame"] = tuple(known["box_frame"])
    others = {name: value for name, value in row.items() if name not in COLUMNS}
    return Sample(**known, metadata=others)


def write_manifest(path: Path, samples: Iterable[Sample]) -> None:
    """Write samples as JSONL; the file appears whole or not at all.

    Args:
        path: paths into its folder are written relative to it.
        samples: one line each, in this order.
    """
    folder = path.absolute().parent
    with (
        written_whole(path) as unfinished,
        unfinished.open("w", encoding="utf-8", newline="\n") as file,
    ):
        for sample in samples:
            row = sample_to_row(sample, folder)
            file.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")


def _faults(
    path: Path,
    line: int,
    values: Mapping[str, Any] | BadRow,
    told: Sequence[tuple[str, str]],
) -> tuple[Fault, ...]:
    """A row's faults with the place where they are: one of a row that cannot be read."""
    if isinstance(values, BadRow):
        return (_fault(path, line, values.field, values.message),)
    return tuple(_fault(path, line, *fault, _id_of(values)) for fault in told)


def _id_of(values: Mapping[str, Any] | BadRow) -> str | None:
    """The row's id where it could be read."""
    id_ = None if isinstance(values, BadRow) else values.get("id")
    return id_ if isinstance(id_, str) else None


def _fault(
    path: Path, line: int | None, field: str | None, message: str, id_: str | None = None
) -> Fault:
    return Fault(path=shown(path), line=line, field=field, message=message, id=id_)


def _as_json(value: object, folder: Path | None) -> object:
    if isinstance(value, Path):
        inside = folder is not None and value.is_relative_to(folder)
        return value.relative_to(folder).as_posix() if inside else shown(value)  # type: ignore[arg-type]
    if isinstance(value, tuple):
        return [_as_json(v, folder) for v in value]
    return value
