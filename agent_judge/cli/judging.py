"""Rows into a run folder, as `run` and `audit` both do it: plan, watch, signals."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from agent_judge.cli.engines import EngineFor
from agent_judge.cli.interrupts import INTERRUPTED, stopped_by_signals
from agent_judge.cli.terminal import shown
from agent_judge.errors import InputError, RunStopped
from agent_judge.inputs import row_hash
from agent_judge.judges.measuring.reading import reader_version
from agent_judge.manifest import read_manifest, sample_to_row
from agent_judge.plan import mode_of
from agent_judge.records import Reason, Sample
from agent_judge.rubrics.protocol import rubric_version
from agent_judge.run_db import is_begun
from agent_judge.runner import Tally, run_planned
from agent_judge.settings import MEASURED, Settings
from agent_judge.settle import Judged
from agent_judge.shard import Shard
from agent_judge.store import PlannedRow, Store
from agent_judge.tools.toolbox import TOOLS_REVISION

DONE, PARTIAL = 0, 3
"""Exit codes."""
_LINES = 20
"""Progress lines of a whole run where the output is no terminal."""


@dataclass(frozen=True, kw_only=True)
class Again:
    """What is judged again though it stands."""

    reasons: frozenset[Reason] = frozenset()
    ids: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The rows of one invocation, streamed anew each time they are needed."""

    manifest: Path
    roots: tuple[Path, ...] = ()
    limit: int | None = None
    shard: Shard | None = None

    def __iter__(self) -> Iterator[Sample]:
        return (sample for _, sample in self.numbered())

    def numbered(self) -> Iterator[tuple[int, Sample]]:
        """The rows of this shard with their places in the manifest."""
        samples = read_manifest(self.manifest, roots=self.roots, limit=self.limit)
        for seq, sample in enumerate(samples):
            if self.shard is None or self.shard.holds(sample.id):
                yield seq, sample

    def origin(self, settings: Settings) -> dict[str, Any]:
        """What these rows come from: the same origin means the same rows, planned the same way."""
        status = self.manifest.stat()
        return {
            "manifest": str(self.manifest.absolute()),
            "size": status.st_size,
            "mtime_ns": status.st_mtime_ns,
            "roots": [str(root.absolute()) for root in self.roots],
            "limit": self.limit,
            "shard": None if self.shard is None else [self.shard.index, self.shard.count],
            "mode": settings.mode,
        }


def binding_of(settings: Settings) -> dict[str, Any]:
    """What a run's verdicts depend on; `judge.model` must be filled in."""
    return {
        **settings.verdict_settings(),
        "rubric": rubric_version(settings.protocol),
        "tools_revision": TOOLS_REVISION,
        # The embedded judge reads text only where the extra is installed.
        **({"reader": reader_version()} if settings.judge.model == MEASURED else {}),
    }


def is_planned(rows: Rows, settings: Settings, folder: Path) -> bool:
    """Whether these very rows were checked and planned in a run folder before.

    Raises:
        StoreError: what is in the folder cannot be read.
    """
    if not (is_begun(folder) and rows.manifest.is_file()):
        return False
    with Store.open(folder) as store:
        return store.planned_from == rows.origin(settings)


def plan_rows(rows: Rows, settings: Settings, store: Store, again: Again) -> None:
    """Put the rows of this invocation into the store, unless they are there.

    Raises:
        InputError: an id to judge again is not among them.
    """
    origin = rows.origin(settings)
    if store.planned_from != origin:
        store.plan(_planned(rows, settings))
        store.planned_from = origin
    store.ask_for(settings.criteria)
    unknown = [id_ for id_ in sorted(again.ids) if not store.is_planned(id_)]
    if unknown:
        raise InputError(f"--rejudge: no such id in the manifest: {', '.join(map(repr, unknown))}")


def _planned(rows: Rows, settings: Settings) -> Iterator[PlannedRow]:
    for seq, sample in rows.numbered():
        row, mode = sample_to_row(sample), mode_of(sample, settings)
        yield PlannedRow(id=sample.id, seq=seq, mode=mode, hash=row_hash(row), row=row)


async def judge_into(store: Store, engine_for: EngineFor, again: Again, console: Console) -> int:
    """Judge what is left of the planned rows, with progress; the exit code.

    The first Ctrl-C lets samples in flight end, a second one leaves at once.
    """
    n_rows = sum(n for *_, n in store.planned_counts())
    stop = asyncio.Event()
    tally = Tally()
    engine = engine_for(store)
    total = n_rows * len(engine.settings.criteria)
    with (
        stopped_by_signals(stop, console),
        _Watch(console, total=total, tally=tally) as watch,
    ):
        try:
            await run_planned(
                store,
                engine,
                retry=again.reasons,
                rejudge=again.ids,
                stop=stop,
                tally=tally,
                tell=watch.tell,
            )
        except RunStopped as err:
            print(f"stopped: {shown(err)}", file=sys.stderr)
            return PARTIAL
    if tally.standing:
        nothing = "nothing left to judge: " if not tally.judged else ""
        console.print(f"{nothing}{tally.standing} of {total} criteria stood before")
    if stop.is_set():
        print("interrupted: run the same command again to go on", file=sys.stderr)
        return INTERRUPTED
    return DONE


class _Watch:
    """A live bar on a terminal, plain lines elsewhere."""

    def __init__(self, console: Console, *, total: int, tally: Tally) -> None:
        self._console, self._total, self._tally = console, total, tally
        self._every = max(1, total // _LINES)
        columns = (TextColumn("judging"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(
            *columns, console=console, transient=True, disable=not console.is_terminal
        )
        self._task = self._bar.add_task("judging", total=total)

    def __enter__(self) -> _Watch:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def tell(self, judged: Judged) -> None:
        """One more criterion has ended."""
        done = self._tally.judged + self._tally.standing
        self._bar.update(self._task, completed=done)
        if self._bar.disable and (self._tally.judged % self._every == 0 or done == self._total):
            record = judged.record
            ended = record.label or record.reason or record.status
            self._console.print(f"{done}/{self._total} {record.id} {record.criterion}: {ended}")
