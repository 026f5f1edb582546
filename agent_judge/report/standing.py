"""The summary of one or several runs: what `summary.json` holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from agent_judge.records import Record
from agent_judge.run import Run
from agent_judge.stats.coverage import Cell
from agent_judge.stats.summary import UNNAMED_EDITOR, summarize


def summary_of_runs(runs: Mapping[str, Run]) -> dict[str, Any]:
    """The summary over all rows of the runs, by name.

    Verdicts of different judges, rubrics or settings are not of one kind: where runs differ in
    what they are bound to, each editor is told apart by its run, so that no figure pools them.

    Returns:
        See `stats.summary.summarize`.
    """
    if len(runs) == 1:
        return next(iter(runs.values())).summary()
    same_kind = len({str(sorted(run.store.binding.items())) for run in runs.values()}) == 1
    planned: Counter[Cell] = Counter()
    for name, run in runs.items():
        for cell, n in run.planned().items():
            planned[cell._replace(editor=_editor(cell.editor, name, same_kind))] += n
    return summarize(_records(runs, same_kind), planned)


def _records(runs: Mapping[str, Run], same_kind: bool) -> Iterator[Record]:
    for name, run in runs.items():
        for record in run.records():
            yield replace(record, editor=_editor(record.editor, name, same_kind))


def _editor(editor: str, run_name: str, same_kind: bool) -> str:
    return editor if same_kind else f"{editor or UNNAMED_EDITOR} in {run_name}"
