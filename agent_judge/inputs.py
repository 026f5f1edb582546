"""The signature of what a sample is judged from: its row and its files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
    try:
        if path is None:
            return None
        stat = path.stat()
        return [stat.st_size, stat.st_mtime_ns, _sha256(path)]
    except OSError:
        return None


def _file_changed(path: Path | None, before: list[Any] | None) -> bool:
    try:
        stat = None if path is None else path.stat()
    except OSError:
        stat = None
    if path is None or stat is None or before is None:
        return (stat is None) != (before is None)
    size, mtime_ns, sha256 = before
    if (stat.st_size, stat.st_mtime_ns) == (size, mtime_ns):
        return False
    return bool(stat.st_size != size or _sha256(path) != sha256)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
