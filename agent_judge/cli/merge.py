"""`agent-judge merge`: the run folders of several shards into one."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from agent_judge.cli.standing import print_standing
from agent_judge.cli.tables import table_console
from agent_judge.run import Run
from agent_judge.run_db import is_begun
from agent_judge.store import Store

_MOST_NAMED = 10


def merge(
    run_dirs: Annotated[list[Path], typer.Argument(help="Run folders of one kind of run.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the merged run.")],
) -> None:
    """Merge runs that share judge, mode, rubric and settings; overlaps are counted once."""
    with closing(Store.open(run_dirs[0])) as first:
        binding = first.binding
    origins = []
    for run_dir in run_dirs:  # before anything is written
        with closing(Store.open(run_dir)) as run:
            run.check_binding(binding)
            origins.append(run.planned_from)
    if not is_begun(out) and (missing := _missing(origins)):
        told = f"shards that are not among these: {', '.join(missing[:_MOST_NAMED])}"
        print(f"{told}{' ...' * (len(missing) > _MOST_NAMED)}", file=sys.stderr)
    with closing(Store.create(out, binding)) as store:
        for run_dir in run_dirs:
            store.absorb(run_dir)
        merged = Run(store)
        print_standing(table_console(), merged.summary(), merged)


def _missing(origins: Sequence[Mapping[str, Any] | None]) -> list[str]:
    """Shards whose rows are in no count of the merged run, as far as its parts can tell.

    Args:
        origins: where the rows of each part came from; None: not known.
    """
    there = {tuple((origin or {}).get("shard") or ()) for origin in origins}
    if () in there:
        return []
    missing = [
        [f"{index}/{count}" for index in range(1, count + 1) if (index, count) not in there]
        for count in {count for _, count in there}
    ]
    return min(missing, key=len)
