"""Records for the tests of statistics, made from their fates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_judge.records import Criterion, Mode, Record


def record(
    outcome: int | str,
    *,
    id: str = "a",
    criterion: Criterion = "IF",
    editor: str = "m",
    type: str | None = "color",
    mode: Mode = "tool",
) -> Record:
    """A record from its fate: a level, a status without one, or a reason."""
    end: dict[str, Any]
    if isinstance(outcome, int):
        end = {"status": "scored", "level": outcome}
    elif outcome in ("missing_output", "invalid_image"):
        end = {"status": outcome}
    else:
        end = {"status": "unscored", "reason": outcome}
    return Record(id=id, item=id, editor=editor, type=type, mode=mode, criterion=criterion, **end)


def rows(outcomes: Sequence[int | str], **where: Any) -> list[Record]:
    return [record(outcome, id=f"r{i}", **where) for i, outcome in enumerate(outcomes)]
