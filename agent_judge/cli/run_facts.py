"""What the verdicts of runs come from, side by side: judge, endpoint, mode, rubric."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from rich.console import Console
from rich.table import Table

from agent_judge.cli.terminal import shown
from agent_judge.records import Mode, Record
from agent_judge.run import Run
from agent_judge.settings import MEASURED
from agent_judge.stats.summary import UNNAMED_EDITOR


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """What a run's verdicts come from."""

    run: str
    """The folder as it was named."""
    editors: tuple[str, ...]
    judge: str
    """Its name as asked for."""
    answered_as: tuple[str, ...]
    """Models that the endpoint said it was."""
    endpoints: tuple[str, ...]
    """`host[:port]`; none for the embedded judge."""
    modes: tuple[Mode, ...]
    """In which rows were judged."""
    protocol: str
    rubric: str
    settings: Mapping[str, Any]
    """What the run is bound to."""


def facts_of(name: str, run: Run, records: Sequence[Record]) -> RunFacts:
    """The facts of a run.

    Args:
        name: the folder as the user named it.
        run: open for reading.
        records: all of its records.
    """
    binding = run.store.binding
    return RunFacts(
        run=name,
        editors=tuple(sorted({record.editor or UNNAMED_EDITOR for record in records})),
        judge=str(binding.get("judge", {}).get("model", "")),
        answered_as=tuple(
            sorted({r.judge_returned_model for r in records if r.judge_returned_model})
        ),
        endpoints=tuple(sorted({record.endpoint for record in records if record.endpoint})),
        modes=tuple(sorted({row.mode for row in run.rows()})),
        protocol=run.protocol.name,
        rubric=str(binding.get("rubric", "")),
        settings=binding,
    )


def differences(a: RunFacts, b: RunFacts) -> dict[str, tuple[str, str]]:
    """What keeps two runs' verdicts from being of one kind, by name: the values of both.

    Rubric, judge (its settings and the model that answered) and modes. Where only one run had an
    answer from an endpoint, nothing is known against the models being one.
    """
    judge_a, judge_b = (dict(facts.settings.get("judge", {})) for facts in (a, b))
    for judge in (judge_a, judge_b):
        judge.pop("base_url", None)  # the same model may move
    pairs = {
        "rubric": (a.rubric, b.rubric),
        "judge": (a.judge, b.judge),
        "mode": (", ".join(a.modes), ", ".join(b.modes)),
    }
    for name in sorted((judge_a.keys() | judge_b.keys()) - {"model"}):
        pairs[f"judge.{name}"] = (str(judge_a.get(name)), str(judge_b.get(name)))
    if a.answered_as and b.answered_as:
        pairs["answered as"] = (", ".join(a.answered_as), ", ".join(b.answered_as))
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def other_differences(a: RunFacts, b: RunFacts) -> dict[str, tuple[str, str]]:
    """The further settings that two runs are bound to differently, by section."""
    sections = (a.settings.keys() | b.settings.keys()) - {"judge", "mode", "rubric"}
    pairs = {
        name: tuple(json.dumps(one.settings.get(name), sort_keys=True) for one in (a, b))
        for name in sorted(sections)
    }
    return {name: (x, y) for name, (x, y) in pairs.items() if x != y}


def letters(n: int) -> list[str]:
    """Short names for runs: A, B, ... Z, A2, ..."""
    return [ascii_uppercase[i % 26] + (str(i // 26 + 1) if i >= 26 else "") for i in range(n)]


def print_facts(console: Console, facts: Sequence[RunFacts]) -> None:
    """The facts as a table, a column a run; rows on which they differ are marked."""
    table = Table(box=None, pad_edge=False, show_header=len(facts) > 1, header_style="bold")
    table.add_column("", no_wrap=True)
    for letter in letters(len(facts)):
        table.add_column(letter, overflow="fold")
    for name, cells in _rows(facts).items():
        differ = len(set(cells)) > 1 and name not in ("run", "editor")
        table.add_row(f"{name} *" if differ else name, *map(shown, cells))
    console.print(table)


def _rows(facts: Sequence[RunFacts]) -> dict[str, list[str]]:
    return {
        "run": [one.run for one in facts],
        "editor": [_listed(one.editors) for one in facts],
        "judge": [_judge(one) for one in facts],
        "endpoint": [_endpoint(one) for one in facts],
        "mode": [_listed(one.modes) for one in facts],
        "rubric": [one.rubric for one in facts],
    }


def _judge(facts: RunFacts) -> str:
    others = [name for name in facts.answered_as if name != facts.judge]
    return facts.judge + (f" (answered as {_listed(others)})" if others else "")


def _endpoint(facts: RunFacts) -> str:
    return "(embedded)" if facts.judge == MEASURED else _listed(facts.endpoints) or "-"


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words)
