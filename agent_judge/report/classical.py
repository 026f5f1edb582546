"""The classical columns of a run's rows as CSV, one line a row: to join with `export` by id."""

from __future__ import annotations

import csv
from io import TextIOBase

from agent_judge.classical_columns import classical_columns
from agent_judge.metrics.classical import COLUMNS
from agent_judge.run import Run

_KEYS = ("id", "item", "editor", "type")


def write_classical(run: Run, out: TextIOBase) -> None:
    """A header and one line a planned row; a figure that is not there is an empty cell.

    Args:
        run: the pictures of its rows are read anew.
        out: opened with `newline=""`.
    """
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*_KEYS, *COLUMNS))
    given = {planned.id: planned.row for planned in run.rows()}
    for id_, columns in classical_columns(run.rows()):
        row = given[id_]
        named = (id_, row.get("item") or id_, row.get("editor"), row.get("type"))
        writer.writerow((*named, *columns.values()))
