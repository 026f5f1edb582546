"""A run as training data for image editors: one row a sample with its reward text.

The form is that of Multi-Reward (seeds/002): `Instruction Following: 1; <reason>` and so on, a line
a reward. What the rewards are called stands in the rubrics (`reward_name`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from io import TextIOBase
from typing import Any

from agent_judge.errors import InputError
from agent_judge.records import Criterion, Record
from agent_judge.rubrics.protocol import load_protocol, protocol_names
from agent_judge.rubrics.rating import Rating
from agent_judge.run import Run
from agent_judge.store import PlannedRow


def reward_names(protocol: str) -> dict[Criterion, str]:
    """What a protocol's criteria are called as rewards; empty where they are none."""
    return {
        criterion: rubric.reward_name
        for criterion, rubric in load_protocol(protocol).rubrics.items()
        if isinstance(rubric, Rating) and rubric.reward_name is not None
    }


def write_rewards(run: Run, out: TextIOBase) -> Counter[str]:
    """One JSON object a line for each row whose rewards are all scored; nothing is filled in.

    Each has `id, source, edited, instruction, editor, reward_text` and, under `rewards`, the
    numbers by criterion.

    Returns:
        The rows that were left out, by why: the first reason or fate among their criteria.

    Raises:
        InputError: the run's protocol has no rewards.
    """
    names = reward_names(run.protocol.name)
    if not names:
        known = ", ".join(name for name in protocol_names() if reward_names(name))
        raise InputError(
            f"--format rewards: protocol {run.protocol.name} has no reward texts; runs of "
            f"{known} have"
        )
    left_out: Counter[str] = Counter()
    for planned in run.rows():
        saved = {criterion: run.store.latest(planned.id, criterion) for criterion in names}
        records = {c: None if one is None else one.record for c, one in saved.items()}
        if faults := [why for record in records.values() if (why := _why_not(record))]:
            left_out[faults[0]] += 1
            continue
        scored = {c: record for c, record in records.items() if record is not None}
        out.write(json.dumps(_row(planned, scored, names), ensure_ascii=False) + "\n")
    return left_out


def _why_not(record: Record | None) -> str | None:
    if record is None:
        return "not run"
    return None if record.level is not None else record.reason or record.status


def _row(
    planned: PlannedRow, scored: Mapping[Criterion, Record], names: Mapping[Criterion, str]
) -> dict[str, Any]:
    given = planned.row
    lines = [
        f"{names[criterion]}: {record.scored_level:g}; {' '.join(record.explanation.split())}"
        for criterion, record in scored.items()
    ]
    return {
        "id": planned.id,
        "source": given["source"],
        "edited": given["edited"],
        "instruction": given["instruction"],
        "editor": given.get("editor") or "",
        "reward_text": "\n".join(lines),
        "rewards": {criterion: record.level for criterion, record in scored.items()},
    }
