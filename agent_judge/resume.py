"""What a run has still to judge: inputs that changed, and reasons that deserve another try."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from agent_judge.inputs import inputs_changed
from agent_judge.judging import Assignment
from agent_judge.manifest import sample_from_row
from agent_judge.records import Criterion, Reason
from agent_judge.store import PlannedRow, Standing

TRIED_AGAIN: frozenset[Reason] = frozenset(
    {"transport", "timeout", "budget", "tool_failure", "internal_error"}
)
"""Reasons that a resumed run judges again by itself: nothing was said about the row."""
_KEY_FAULTS = frozenset({"http:401", "http:402", "http:403"})
"""Flags of a rejection that a new key or a paid bill lifts."""


def assign(
    planned: PlannedRow,
    standings: Mapping[Criterion, Standing],
    criteria: Collection[Criterion],
    *,
    retry: Collection[Reason] = (),
    rejudge: Collection[str] = (),
) -> Assignment | None:
    """What is to be judged of a row, or None when all of it stands.

    Args:
        planned: the row.
        standings: what was judged of it before.
        criteria: the criteria asked for.
        retry: further reasons to judge again; each opens a new round.
        rejudge: ids whose valid verdicts are judged again, in a new round.
    """
    rounds: dict[Criterion, int] = {}
    attempts: dict[Criterion, int] = {}
    counted: set[Criterion] = set()
    before: Mapping[str, Any] | None = None
    changed = False
    for criterion in criteria:
        standing = standings.get(criterion)
        if standing is None:
            rounds[criterion] = 0
            continue
        opens = planned.id in rejudge or standing.reason in retry
        if standing.inputs is not before:  # criteria share it: files are looked at once
            before = standing.inputs
            changed = inputs_changed(planned.row, planned.hash, before)
        if opens or changed or _again_by_itself(standing):
            rounds[criterion] = standing.round + opens
            attempts[criterion] = standing.attempts
            if not opens:
                counted.add(criterion)
    if not rounds:
        return None
    sample = sample_from_row(planned.row)
    return Assignment(sample=sample, rounds=rounds, attempts=attempts, counted=frozenset(counted))


def _again_by_itself(standing: Standing) -> bool:
    if standing.reason == "endpoint_rejected":
        return not _KEY_FAULTS.isdisjoint(standing.flags)
    return standing.reason in TRIED_AGAIN
