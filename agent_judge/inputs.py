"""The signature of what a sample is judged from: its row and its files."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_judge.manifest import sample_to_row
from agent_judge.records import Sample
from agent_judge.remote import MAX_FILE_BYTES, bring, is_url, place_of
from agent_judge.row_fields import COLUMNS

FILES = ("source", "edited", "reference")
"""Columns that name a picture."""
_JUDGED_ON = COLUMNS.difference(FILES, ("labels", "editor", "item"))
"""Columns whose values verdicts depend on."""


def inputs_of(sample: Sample) -> dict[str, Any]:
    """The signature of what a sample is judged from: its row, and each file's size, mtime, hash."""
    row = sample_to_row(sample)
    return {"row": row_hash(row), **{name: _file(row.get(name)) for name in FILES}}


def inputs_changed(row: Mapping[str, Any], hash_: str, before: Mapping[str, Any]) -> bool:
    """Whether a row or a file of it differs from a signature: size or mtime first, then sha256.

    Args:
        row: as `sample_to_row` gives it.
        hash_: its `row_hash`.
        before: from `inputs_of`.
    """
    return before.get("row") != hash_ or any(
        _file_changed(row.get(name), before.get(name)) for name in FILES
    )


def row_hash(row: Mapping[str, Any]) -> str:
    """sha256 of what verdicts depend on in a row, as `sample_to_row` gives it, files apart."""
    kept = {name: row[name] for name in _JUDGED_ON if name in row}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def _file(named: str | None) -> list[Any] | None:
    path = _path(named)
    status = _status(path)
    if path is None or status is None:
        return None
    try:
        return [status.st_size, status.st_mtime_ns, _sha256(path, status.st_size)]
    except OSError:
        return None


def _file_changed(named: str | None, before: list[Any] | None) -> bool:
    path = _path(named)
    status = _status(path)
    if path is None or status is None or before is None:
        return (status is None) != (before is None)
    size, mtime_ns, sha256 = before
    if (status.st_size, status.st_mtime_ns) == (size, mtime_ns):
        return False
    try:
        return bool(status.st_size != size or _sha256(path, size) != sha256)
    except OSError:
        return True


def _path(named: str | None) -> str | None:
    """A row's file on this machine."""
    return named if named is None or not is_url(named) else str(place_of(named))


def _status(path: str | None) -> os.stat_result | None:
    """Of a file that can be a picture: none of a folder, a pipe or a device, which never ends."""
    try:
        if path is None:
            return None
        bring(path)
        status = os.stat(path)  # noqa: PTH116 - a Path costs more
    except (OSError, ValueError):
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _sha256(path: str, size: int) -> str:
    if size > MAX_FILE_BYTES:  # it is not read as a picture either
        return ""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
