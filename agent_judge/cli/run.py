"""`agent-judge run`: judge a manifest into a run folder, or go on where it was stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, Any

import typer
from rich.console import Console

from agent_judge.cli.engines import engines
from agent_judge.cli.judge_card import card_lines
from agent_judge.cli.judging import (
    DONE,
    PARTIAL,
    Again,
    Rows,
    binding_of,
    is_planned,
    judge_into,
    plan_rows,
)
from agent_judge.cli.options import (
    criteria_of,
    manifest_at,
    reasons_of,
    root_at,
    settings_of,
    words_of,
)
from agent_judge.cli.standing import print_standing, unscored_share
from agent_judge.cli.tables import table_console
from agent_judge.cli.terminal import shown
from agent_judge.errors import InputError
from agent_judge.judges.choose import jobs_of
from agent_judge.manifest import check_manifest
from agent_judge.records import Criterion
from agent_judge.report.thresholds import MISSED, missed, parse_thresholds
from agent_judge.rubrics.measure import Measure
from agent_judge.rubrics.protocol import load_protocol, rubric_of
from agent_judge.run import Run
from agent_judge.runner import endpoint_of, model_for
from agent_judge.settings import Settings
from agent_judge.shard import parse_shard
from agent_judge.store import Store


def run(
    manifest: Annotated[
        Path, typer.Argument(parser=manifest_at, help="JSONL, CSV or Parquet; docs/data-format.md.")
    ],
    out: Annotated[
        Path,
        typer.Option(help="Run folder: made, or resumed when it holds this run."),
    ],
    protocol: Annotated[
        str | None,
        typer.Option(help="What is judged, and how: docs/protocols.md. Default: dlebench."),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(help="auto (oracle for rows with boxes, else tool), tool, oracle or direct."),
    ] = None,
    criteria: Annotated[str | None, typer.Option(help="IF,VC or some of the protocol's.")] = None,
    judge: Annotated[
        str | None, typer.Option(help="measured (embedded, pixels only) or a model's name.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="OpenAI-compatible endpoint, with /v1.")
    ] = None,
    profile: Annotated[
        str | None, typer.Option(help="Endpoint profile: a name or a TOML file.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Samples judged at once; of an endpoint, requests.")
    ] = None,
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
    with_mask_out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the masks of edited regions (--protocol bpm)."),
    ] = None,
    shard: Annotated[
        str | None, typer.Option(metavar="I/N", help="Judge the I-th of N shares; see merge.")
    ] = None,
    fail_under: Annotated[
        str | None, typer.Option(metavar="IF=60,VC=80", help="Exit 4 when a mean is lower.")
    ] = None,
    retry: Annotated[
        str | None, typer.Option(metavar="REASON,...", help="Judge rows with these reasons again.")
    ] = None,
    rejudge: Annotated[
        str | None,
        typer.Option(metavar="ID,...", help="Judge these rows again; both rounds are kept."),
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="local (this process), or ray: Ray workers; docs/scale.md.")
    ] = None,
    ray_address: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Ray cluster; default: one on this machine."),
    ] = None,
    cards: Annotated[
        Path | None, typer.Option(help="Folder of judge cards; default: this user's.")
    ] = None,
    root: Annotated[
        list[Path] | None,
        typer.Option(
            parser=root_at, help="Folder or URL that paths may lead to besides the manifest's."
        ),
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
        "protocol": protocol,
        "mode": mode,
        "criteria": criteria_of(criteria),
        "judge.model": judge,
        "judge.base_url": base_url,
        "judge.votes": votes,
        "endpoint.profile": profile,
        "run.jobs": jobs,
        "run.mask_out": with_mask_out,
        "run.max_usd": max_usd,
        "run.max_tokens_total": max_tokens_total,
        "run.max_unscored": max_unscored,
        "run.engine": engine,
        "run.ray_address": ray_address,
    }
    settings = settings_of(manifest, config=config, assignments=assignment or [], flags=flags)
    if ray_address is not None and settings.run.engine != "ray":
        raise InputError("--ray-address is of --engine ray: name that too")
    again = Again(
        reasons=reasons_of(retry, "--retry"),
        ids=words_of(rejudge),
    )
    rows = Rows(manifest=manifest, roots=tuple(root or ()), limit=limit, shard=parse_shard(shard))
    marks = parse_thresholds(fail_under, load_protocol(settings.protocol)) if fail_under else {}
    raise typer.Exit(_run(rows, out, settings, again, marks, cards))


def _run(
    rows: Rows,
    out: Path,
    settings: Settings,
    again: Again,
    marks: Mapping[str, float],
    cards: Path | None,
) -> int:
    console = table_console()
    if settings.run.mask_out is not None:
        _check_mask_folder(settings.run.mask_out, settings.criteria)
    n_checked = rows.limit  # a manifest that is planned as it stands was checked then
    if not is_planned(rows, settings, out):
        n_checked = check_manifest(rows.manifest, roots=rows.roots, limit=rows.limit)
    settings = model_for(settings, out)
    # A judge without a key, or a tool without its weights, must not bind the folder.
    host = asyncio.run(endpoint_of(settings))
    with (
        engines(settings) as (settings, engine_for),
        closing(Store.create(out, binding_of(settings))) as store,
    ):
        plan_rows(rows, settings, store, again)
        if rows.limit is not None:
            console.print(f"--limit {rows.limit}: only the first {n_checked} rows were checked")
        counts = list(store.planned_counts())
        n_rows = sum(n for *_, n in counts)
        banner = _banner(settings, host, n_rows, sorted({mode for _, mode, *_ in counts}))
        console.print(shown(banner), soft_wrap=True)
        code = asyncio.run(judge_into(store, engine_for, again, console))
        finished = Run(store)
        summary = finished.summary()
        print_standing(console, summary, finished)
        for line in card_lines(finished, cards):
            console.print(f"judge card: {line}", soft_wrap=True)
        if code == DONE:
            code = _verdict_on_the_run(summary, settings, marks, console)
        closing_line = f"look closer: agent-judge report {out}   agent-judge show {out} ID"
        console.print(closing_line, soft_wrap=True)
    return code


def _check_mask_folder(folder: Path, criteria: Sequence[Criterion]) -> None:
    """Make the folder of `--with-mask-out`.

    Raises:
        InputError: it cannot be written, or nothing that is asked for has a mask.
    """
    if not any(isinstance(rubric_of(criterion), Measure) for criterion in criteria):
        raise InputError(f"--with-mask-out: {','.join(criteria)} are judged without masks")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as err:
        told = err.strerror or str(err)
        raise InputError(f"--with-mask-out {str(folder)!r}: {told}") from err


def _verdict_on_the_run(
    summary: Mapping[str, Any], settings: Settings, marks: Mapping[str, float], console: Console
) -> int:
    """The exit code of a run that came to its end: coverage first, then the marks asked for."""
    if unscored_share(summary, settings) > settings.run.max_unscored:
        console.print(
            f"more than {settings.run.max_unscored:.0%} of the criteria have no verdict "
            f"(--max-unscored): exit {PARTIAL}",
            soft_wrap=True,
        )
        return PARTIAL
    misses = list(missed(summary, marks))
    for line in misses:
        console.print(shown(line), soft_wrap=True)
    return MISSED if misses else DONE


def _banner(settings: Settings, host: str, n_rows: int, modes: Sequence[str]) -> str:
    where = f" at {host}" if host else " (embedded)"
    mode = f"auto ({', '.join(modes)})" if settings.mode == "auto" else settings.mode
    return (
        f"judge {settings.judge.model}{where} · mode {mode} · criteria "
        f"{','.join(settings.criteria)} · {n_rows} rows · {jobs_of(settings)} at once"
    )
