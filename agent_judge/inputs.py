"""The signature of what a sample is judged from: its row and its files."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_judge.images import MAX_FILE_BYTES
from agent_judge.manifest import sample_to_row
from agent_judge.records import Sample

_NOT_JUDGED_ON = ("labels", "metadata", "editor", "item")
"""Columns of a row that no verdict depends on."""
_FILES = ("source", "edited", "reference")


def inputs_of(sample: Sample) -> dict[str, Any]:
    """The signature of what a sample is judged from: its row, and each file's size, mtime, hash."""
    return {"row": _row_hash(sample), **{name: _file(sample, name) for name in _FILES}}


def inputs_changed(sample: Sample, before: Mapping[str, Any]) -> bool:
    """Whether the row or a file differs from the signature: size or mtime first, then sha256."""
    return before.get("row") != _row_hash(sample) or any(
        _file_changed(getattr(sample, name), before.get(name)) for name in _FILES
    )


def _row_hash(sample: Sample) -> str:
    row = {k: v for k, v in sample_to_row(sample).items() if k not in _NOT_JUDGED_ON}
    kept = {k: v for k, v in row.items() if k not in sample.metadata and k not in _FILES}
    return hashlib.sha256(json.dumps(kept, sort_keys=True, default=str).encode()).hexdigest()


def _file(sample: Sample, name: str) -> list[Any] | None:
    path: Path | None = getattr(sample, name)
    status = _status(path)
    if path is None or status is None:
        return None
    try:
        return [status.st_size, status.st_mtime_ns, _sha256(path, status.st_size)]
    except OSError:
        return None


def _file_changed(path: Path | None, before: list[Any] | None) -> bool:
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


def _status(path: Path | None) -> os.stat_result | None:
    """Of a file that can be a picture: none of a folder, a pipe or a device, which never ends."""
    try:
        status = None if path is None else path.stat()
    except (OSError, ValueError):
        return None
    return status if status is not None and stat.S_ISREG(status.st_mode) else None


def _sha256(path: Path, size: int) -> str:
    if size > MAX_FILE_BYTES:  # it is not read as a picture either
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
