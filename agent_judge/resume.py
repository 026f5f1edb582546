"""What a run has still to judge: inputs that changed, and reasons that deserve another try."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from agent_judge.evaluate import Assignment
from agent_judge.manifest import sample_to_row
from agent_judge.records import Criterion, Reason, Sample
from agent_judge.store import Standing, Store

TRIED_AGAIN: frozenset[Reason] = frozenset(
    {"transport", "timeout", "budget", "tool_failure", "internal_error"}
)
"""Reasons that a resumed run judges again by itself: nothing was said about the row."""
_KEY_FAULTS = frozenset({"http:401", "http:402", "http:403"})
"""Flags of a rejection that a new key or a paid bill lifts."""
_NOT_JUDGED_ON = ("labels", "metadata", "editor", "item")
"""Columns of a row that no verdict depends on."""
_FILES = ("source", "edited", "reference")


def assign(
    sample: Sample,
    criteria: Collection[Criterion],
    store: Store,
    *,
    retry: Collection[Reason] = (),
    rejudge: Collection[str] = (),
) -> Assignment | None:
    """What is to be judged of a sample, or None when all of it stands.

    Args:
        sample: the row.
        criteria: the criteria asked for.
        store: what was judged before.
        retry: further reasons to judge again; each opens a new round.
        rejudge: ids whose valid verdicts are judged again, in a new round.
    """
    rounds: dict[Criterion, int] = {}
    attempts: dict[Criterion, int] = {}
    for criterion in criteria:
        standing = store.standing(sample.id, criterion)
        if standing is None:
            rounds[criterion] = 0
            continue
        opens = sample.id in rejudge or standing.reason in retry
        if opens or _again_by_itself(standing) or inputs_changed(sample, standing.inputs):
            rounds[criterion] = standing.round + opens
            attempts[criterion] = standing.attempts
    return Assignment(sample=sample, rounds=rounds, attempts=attempts) if rounds else None


def _again_by_itself(standing: Standing) -> bool:
    if standing.reason == "endpoint_rejected":
        return not _KEY_FAULTS.isdisjoint(standing.flags)
    return standing.reason in TRIED_AGAIN


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
    if stat.st_size == size and stat.st_mtime_ns == mtime_ns:
        return False
    return stat.st_size != size or _sha256(path) != sha256


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
