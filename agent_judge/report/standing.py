"""The summary of one or several runs: what `summary.json` holds."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from agent_judge.records import Mode, Record
from agent_judge.run import Run
from agent_judge.stats.coverage import Cell
from agent_judge.stats.summary import UNNAMED_EDITOR, summarize


def summary_of_runs(runs: Mapping[str, Run]) -> dict[str, Any]:
    """The summary over all rows of the runs, by name; see `stats.summary.summarize`."""
    return summarize(labelled_records(runs), planned_of(runs))


def labelled_records(runs: Mapping[str, Run]) -> Iterator[Record]:
    """The records of all runs; ids are those of `row_key`.

    Verdicts of different judges, rubrics or settings are not of one kind: where runs differ in
    what they are bound to, each editor is told apart by its run, so that no figure pools them.
    Figures of different modes are never pooled anyway.
    """
    apart = _told_apart(runs)
    for name, run in runs.items():
        for record in run.records():
            editor = _editor(record.editor, name) if name in apart else record.editor
            yield replace(record, id=row_key(name, record.id), editor=editor)


def planned_of(runs: Mapping[str, Run]) -> dict[Cell, int]:
    """How many rows were to be judged in each cell, editors as in `labelled_records`."""
    apart = _told_apart(runs)
    planned: Counter[Cell] = Counter()
    for name, run in runs.items():
        for cell, n in run.planned().items():
            editor = _editor(cell.editor, name) if name in apart else cell.editor
            planned[cell._replace(editor=editor)] += n
    return dict(planned)


def row_key(run_name: str, id_: str) -> str:
    """A row's id among the rows of several runs."""
    return f"{run_name}/{id_}"


def _told_apart(runs: Mapping[str, Run]) -> set[str]:
    """Names of the runs beside which another one judged in the same mode, in another way."""
    kinds: dict[Mode, set[str]] = defaultdict(set)
    modes = {name: {cell.mode for cell in run.planned()} for name, run in runs.items()}
    for name, run in runs.items():
        for mode in modes[name]:
            kinds[mode].add(json.dumps({**run.store.binding, "mode": mode}, sort_keys=True))
    return {name for name in runs if any(len(kinds[mode]) > 1 for mode in modes[name])}


def _editor(editor: str, run_name: str) -> str:
    return f"{editor or UNNAMED_EDITOR} in {run_name}"
