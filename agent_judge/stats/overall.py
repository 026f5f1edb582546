"""One figure for a row over all its criteria, where its protocol has such a figure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import fmean

from agent_judge.records import Criterion, Record
from agent_judge.rubrics.protocol import Protocol, protocol_of, rubric_of
from agent_judge.stats.balance import RowKey, absolute_by_row, parts_of_rows


def overall_by_row(records: Iterable[Record]) -> dict[RowKey, float]:
    """The overall figure of each row whose criteria are all scored; higher is better.

    The mean of the criteria's scores on 100 points where the protocol has an overall mean; BPM's
    absolute figure, 0 to 2, where it has that; nothing for a protocol without either.

    Args:
        records: of one protocol, of any editors and modes.
    """
    records = list(records)
    protocol = protocol_of(record.criterion for record in records)
    if "balance" in protocol.further:
        return absolute_by_row(parts_of_rows(records))
    return _means(records, protocol) if protocol.has_overall else {}


def _means(records: Iterable[Record], protocol: Protocol) -> dict[RowKey, float]:
    scores: dict[RowKey, dict[Criterion, float]] = defaultdict(dict)
    for record in records:
        if record.level is not None:
            scale = rubric_of(record.criterion).scale
            scores[record.mode, record.id][record.criterion] = scale.score_100(record.level)
    return {
        row: fmean(found.values())
        for row, found in scores.items()
        if len(found) == len(protocol.criteria)
    }
