"""Records for the tests of statistics, made from their fates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_judge.records import Record


def record(outcome: float | str, *, id: str = "a", **fields: Any) -> Record:
    """A record from its fate: a level, a status without one, or a reason."""
    end: dict[str, Any]
    if isinstance(outcome, int | float):
        end = {"status": "scored", "level": outcome}
    elif outcome in ("missing_output", "invalid_image"):
        end = {"status": outcome}
    else:
        end = {"status": "unscored", "reason": outcome}
    common = {"item": id, "editor": "m", "type": "color", "mode": "tool", "criterion": "IF"}
    return Record(id=id, **{**common, **end, **fields})


def rows(outcomes: Sequence[float | str], **fields: Any) -> list[Record]:
    """One record an outcome, with the ids r0, r1, ... and the same other fields."""
    return [record(outcome, id=f"r{i}", **fields) for i, outcome in enumerate(outcomes)]
