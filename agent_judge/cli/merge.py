"""`agent-judge merge`: the run folders of several shards into one."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from agent_judge.cli.standing import print_standing
from agent_judge.cli.tables import table_console
from agent_judge.run import Run
from agent_judge.store import Store


def merge(
    run_dirs: Annotated[list[Path], typer.Argument(help="Run folders of one kind of run.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the merged run.")],
) -> None:
    """Merge runs that share judge, mode, rubric and settings; overlaps are counted once."""
    with closing(Store.open(run_dirs[0])) as first:
        binding = first.binding
    for run_dir in run_dirs[1:]:  # before anything is written
        with closing(Store.open(run_dir)) as other:
            other.check_binding(binding)
    with closing(Store.create(out, binding)) as store:
        for run_dir in run_dirs:
            store.absorb(run_dir)
        merged = Run(store)
        print_standing(table_console(), merged.summary(), merged)
