"""`agent-judge rescore`: saved replies read again with today's parser, without any request."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from agent_judge.judges.coordinates import Convention
from agent_judge.judges.endpoint import profile_for
from agent_judge.records import Record
from agent_judge.rescore import rescore as changes_of
from agent_judge.settings import MEASURED, EndpointSettings
from agent_judge.store import Store


def rescore(
    run_dir: Annotated[Path, typer.Argument(help="A run folder.")],
    write: Annotated[
        bool, typer.Option("--write", help="Keep each change as a further round of the run.")
    ] = False,
) -> None:
    """Read the saved replies of a run again with today's parser; offline."""
    with closing(Store.open(run_dir)) as reading:
        binding = reading.binding
    store = Store.create(run_dir, binding) if write else Store.open(run_dir)
    with closing(store):
        n = 0
        for change in changes_of(store, _convention(binding), write=write):
            n += 1
            before, after = change.before, change.after
            print(f"{before.id} {before.criterion}: {_ended(before)} -> {_ended(after)}")
    kept = "kept as a further round" if write else "not kept (--write keeps them)"
    print(f"{n} records read otherwise today" + (f": {kept}" if n else ""))


def _convention(binding: dict[str, dict[str, str]]) -> Convention:
    model = binding["judge"]["model"]
    if model == MEASURED:
        return Convention()
    return profile_for(model, EndpointSettings.model_validate(binding["endpoint"])).convention


def _ended(record: Record) -> str:
    return record.label or record.reason or record.status
