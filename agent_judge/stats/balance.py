"""BPM's overall figures of rows, from the records of their four criteria (seeds/000)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from agent_judge.metrics.setwise import BpmParts, overall_absolute, overall_setwise
from agent_judge.records import Mode, Record

RowKey = tuple[Mode, str]
"""Mode and id of a row."""


def parts_of_rows(records: Iterable[Record]) -> dict[RowKey, BpmParts]:
    """The parts of each row whose rules were scored; a part that was not is None.

    Args:
        records: of the protocol `bpm`, of one or several editors.
    """
    levels: dict[RowKey, dict[str, float]] = defaultdict(dict)
    for record in records:
        if record.level is not None:
            levels[record.mode, record.id][record.criterion] = record.level
    return {
        row: BpmParts(
            modify=found.get("modify"),
            preserve=found.get("preserve"),
            size=found["size"],
            position=found["position"],
        )
        for row, found in levels.items()
        if {"size", "position"} <= found.keys()
    }


def setwise_by_row(parts: Mapping[RowKey, BpmParts]) -> dict[RowKey, float]:
    """The published overall figure, 0 to 2, of each row that has all parts.

    The set is all rows of one mode, whatever the editor: that is what makes editors comparable.
    """
    found: dict[RowKey, float] = {}
    for mode in {mode for mode, _ in parts}:
        of_mode = {row: own for row, own in parts.items() if row[0] == mode}
        figures = overall_setwise(list(of_mode.values()))
        found |= {r: v for r, v in zip(of_mode, figures, strict=True) if v is not None}
    return found


def absolute_by_row(parts: Mapping[RowKey, BpmParts]) -> dict[RowKey, float]:
    """The figure that compares across sets, 0 to 2, of each row that has all parts."""
    figures = {row: overall_absolute(own) for row, own in parts.items()}
    return {row: value for row, value in figures.items() if value is not None}
