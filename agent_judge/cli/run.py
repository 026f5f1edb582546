"""`agent-judge run`: judge a manifest into a run folder, or go on where it was stopped."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from agent_judge.cli.options import criteria_of, settings_of, words_of
from agent_judge.cli.standing import print_standing, unscored_share
from agent_judge.errors import InputError, RunStopped
from agent_judge.manifest import check_manifest, read_manifest, sample_to_row
from agent_judge.plan import mode_of
from agent_judge.records import Reason, Sample
from agent_judge.rubrics.ladder import rubric_version
from agent_judge.run import Run
from agent_judge.runner import Tally, bench_of, jobs_of, model_for, run_samples
from agent_judge.settings import Settings
from agent_judge.settle import Judged
from agent_judge.shard import Shard, parse_shard
from agent_judge.store import PlannedRow, Store
from agent_judge.tools.toolbox import TOOLS_REVISION

DONE, PARTIAL, INTERRUPTED = 0, 3, 130
_LINES = 20
"""Progress lines of a whole run where the output is no terminal."""


def run(
    manifest: Annotated[Path, typer.Argument(help="JSONL, CSV or Parquet; docs/data-format.md.")],
    out: Annotated[Path, typer.Option(help="Run folder: made, or resumed when it holds this run.")],
    mode: Annotated[
        str | None,
        typer.Option(help="auto (oracle for rows with boxes, else tool), tool, oracle or direct."),
    ] = None,
    criteria: Annotated[str | None, typer.Option(help="IF,VC or one of them.")] = None,
    judge: Annotated[
        str | None, typer.Option(help="measured (embedded, pixels only) or a model's name.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="OpenAI-compatible endpoint, with /v1.")
    ] = None,
    profile: Annotated[
        str | None, typer.Option(help="Endpoint profile: a name or a TOML file.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Samples judged at once.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Check and judge the first N rows only.")
    ] = None,
    votes: Annotated[
        int | None, typer.Option(help="Judge K times; the median level counts.")
    ] = None,
    max_usd: Annotated[float | None, typer.Option(help="Stop before this is spent.")] = None,
    max_tokens_total: Annotated[int | None, typer.Option(help="Stop before this is spent.")] = None,
    max_unscored: Annotated[
        float | None, typer.Option(help="Exit 3 above this share of unscored criteria.")
    ] = None,
    shard: Annotated[
        str | None, typer.Option(metavar="I/N", help="Judge the I-th of N shares; see merge.")
    ] = None,
    retry: Annotated[
        str | None, typer.Option(metavar="REASON,...", help="Judge rows with these reasons again.")
    ] = None,
    rejudge: Annotated[
        str | None,
        typer.Option(metavar="ID,...", help="Judge these rows again; both rounds are kept."),
    ] = None,
    root: Annotated[
        list[Path] | None,
        typer.Option(help="Folder that paths may lead to besides the manifest's."),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="TOML; default: agent-judge.toml beside the manifest.")
    ] = None,
    assignment: Annotated[
        list[str] | None, typer.Option("--set", metavar="TABLE.KEY=VALUE", help="Any setting.")
    ] = None,
) -> None:
    """Judge a manifest; run the same command again to go on where it was stopped."""
    flags = {
        "mode": mode,
        "criteria": criteria_of(criteria),
        "judge.model": judge,
        "judge.base_url": base_url,
        "judge.votes": votes,
        "endpoint.profile": profile,
        "run.jobs": jobs,
        "run.max_usd": max_usd,
        "run.max_tokens_total": max_tokens_total,
        "run.max_unscored": max_unscored,
    }
    settings = settings_of(manifest, config=config, assignments=assignment or [], flags=flags)
    again = _Again(
        reasons=words_of(retry, get_args(Reason), "--retry"),
        ids=words_of(rejudge, None, "--rejudge"),
    )
    rows = _Rows(manifest=manifest, roots=tuple(root or ()), limit=limit, shard=parse_shard(shard))
    raise typer.Exit(_run(rows, out, settings, again))


@dataclass(frozen=True, kw_only=True)
class _Again:
    reasons: frozenset[Any]
    ids: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class _Rows:
    manifest: Path
    roots: tuple[Path, ...]
    limit: int | None
    shard: Shard | None

    def __iter__(self) -> Iterator[Sample]:
        return (sample for _, sample in self.numbered())

    def numbered(self) -> Iterator[tuple[int, Sample]]:
        """The rows of this shard with their places in the manifest."""
        samples = read_manifest(self.manifest, roots=self.roots, limit=self.limit)
        for seq, sample in enumerate(samples):
            if self.shard is None or self.shard.holds(sample.id):
                yield seq, sample


def _run(rows: _Rows, out: Path, settings: Settings, again: _Again) -> int:
    console = Console(highlight=False)
    n_checked = check_manifest(rows.manifest, roots=rows.roots, limit=rows.limit)
    settings = model_for(settings, out)
    with closing(Store.create(out, _binding(settings))) as store:
        _plan(rows, settings, store, again)
        if rows.limit is not None:
            console.print(f"--limit {rows.limit}: only the first {n_checked} rows were checked")
        counts = list(store.planned_counts())
        n_rows = sum(n for *_, n in counts)
        console.print(_banner(settings, n_rows, sorted({mode for _, mode, *_ in counts})))
        code = asyncio.run(_judge(rows, settings, store, again, n_rows, console))
        finished = Run(store)
        summary = finished.summary()
        print_standing(console, summary, finished)
        if code == DONE and unscored_share(summary, settings) > settings.run.max_unscored:
            console.print(
                f"more than {settings.run.max_unscored:.0%} of the criteria have no verdict "
                f"(--max-unscored): exit {PARTIAL}"
            )
            code = PARTIAL
        console.print(f"look closer: agent-judge report {out}   agent-judge show {out} ID")
    return code


def _binding(settings: Settings) -> dict[str, Any]:
    return {
        **settings.verdict_settings(),
        "rubric": rubric_version(),
        "tools_revision": TOOLS_REVISION,
    }


def _plan(rows: _Rows, settings: Settings, store: Store, again: _Again) -> None:
    store.plan(
        PlannedRow(id=sample.id, seq=seq, mode=mode_of(sample, settings), row=sample_to_row(sample))
        for seq, sample in rows.numbered()
    )
    store.ask_for(settings.criteria)
    unknown = [id_ for id_ in sorted(again.ids) if not store.is_planned(id_)]
    if unknown:
        raise InputError(f"--rejudge: no such id in the manifest: {', '.join(map(repr, unknown))}")


def _banner(settings: Settings, n_rows: int, modes: Sequence[str]) -> str:
    where = f" at {settings.judge.base_url}" if settings.judge.base_url else " (embedded)"
    mode = f"auto ({', '.join(modes)})" if settings.mode == "auto" else settings.mode
    return (
        f"judge {settings.judge.model}{where} · mode {mode} · criteria "
        f"{','.join(settings.criteria)} · {n_rows} rows · {jobs_of(settings)} at once"
    )


async def _judge(
    rows: _Rows, settings: Settings, store: Store, again: _Again, n_rows: int, console: Console
) -> int:
    stop = asyncio.Event()
    tally = Tally()
    _stop_on_signals(stop)
    with _Watch(console, total=n_rows * len(settings.criteria), tally=tally) as watch:
        try:
            await run_samples(
                rows,
                store,
                bench_of(settings, store),
                retry=again.reasons,
                rejudge=again.ids,
                stop=stop,
                tally=tally,
                tell=watch.tell,
            )
        except RunStopped as err:
            print(f"stopped: {err}", file=sys.stderr)
            return PARTIAL
    if stop.is_set():
        print("interrupted: run the same command again to go on", file=sys.stderr)
        return INTERRUPTED
    return DONE


def _stop_on_signals(stop: asyncio.Event) -> None:
    """The first Ctrl-C lets samples in flight end, a second one leaves at once."""

    def asked() -> None:
        if stop.is_set():
            os._exit(INTERRUPTED)
        stop.set()
        print("stopping: samples in flight may end; Ctrl-C again leaves at once", file=sys.stderr)

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, asked)


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
