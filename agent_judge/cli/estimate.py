"""`agent-judge estimate`: requests, tokens and dollars of each mode, before anything is sent."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from agent_judge.cli.options import criteria_of, manifest_at, root_at, settings_of
from agent_judge.cli.tables import table_console
from agent_judge.engines.bench import tools_of
from agent_judge.errors import InputError
from agent_judge.estimate import CHANGES, TOOL_TURNS, ModeEstimate, estimate_modes
from agent_judge.judges.endpoint import profile_for
from agent_judge.manifest import check_manifest, read_manifest
from agent_judge.rubrics.changes import Changes
from agent_judge.rubrics.protocol import rubric_of
from agent_judge.settings import MEASURED, Settings

LOOKED_AT = 200
"""Rows whose pictures are measured; larger manifests are scaled up from evenly spaced ones."""


def estimate(
    manifest: Annotated[Path, typer.Argument(parser=manifest_at, help="JSONL, CSV or Parquet.")],
    judge: Annotated[str | None, typer.Option(help="The model's name.")] = None,
    protocol: Annotated[str | None, typer.Option(help="As for run.")] = None,
    criteria: Annotated[str | None, typer.Option(help="As for run.")] = None,
    votes: Annotated[int | None, typer.Option(help="Votes a criterion.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="The first N rows only.")] = None,
    root: Annotated[list[Path] | None, typer.Option(parser=root_at, help="As for run.")] = None,
    config: Annotated[Path | None, typer.Option(help="TOML, as for run.")] = None,
    assignment: Annotated[
        list[str] | None, typer.Option("--set", metavar="TABLE.KEY=VALUE", help="Any setting.")
    ] = None,
) -> None:
    """Estimate what a run would cost in each mode; nothing is sent."""
    flags = {
        "protocol": protocol,
        "judge.model": judge,
        "criteria": criteria_of(criteria),
        "judge.votes": votes,
    }
    settings = settings_of(manifest, config=config, assignments=assignment or [], flags=flags)
    model = settings.judge.model
    if model is None or model == MEASURED:
        raise InputError("name the model with --judge; the embedded judge costs nothing")
    roots = tuple(root or ())
    n_rows = check_manifest(manifest, roots=roots, limit=limit)
    every = -(-n_rows // LOOKED_AT)
    looked_at = itertools.islice(
        read_manifest(manifest, roots=roots, limit=limit), None, None, every
    )
    profile = profile_for(model, settings.endpoint)
    modes = estimate_modes(looked_at, settings, profile, tools_of(settings))
    _print(modes, settings, model, n_rows)


def _print(modes: list[ModeEstimate], settings: Settings, model: str, n_rows: int) -> None:
    console = table_console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("mode", "rows", "requests", "tokens in", "first turns", "tokens out", "USD"):
        table.add_column(name, justify="left" if name == "mode" else "right")
    for mode in modes:
        scale = n_rows / max(1, mode.n_rows + mode.n_skipped)
        usd = mode.usd(model, settings)
        numbers = (
            mode.n_rows,
            mode.requests,
            mode.tokens_in,
            mode.first_turn_tokens,
            mode.tokens_out,
        )
        shown = [f"{round(n * scale):,}" for n in numbers]
        table.add_row(mode.mode, *shown, "unknown" if usd is None else f"{usd * scale:,.2f}")
    console.print(
        f"{model}: {n_rows} rows, criteria {','.join(settings.criteria)}, "
        f"{settings.judge.votes} vote{'s' * (settings.judge.votes > 1)}"
    )
    console.print(table)
    console.print(
        f"assumed: {TOOL_TURNS} tool turns where there are tools; list price, nothing cached;"
    )
    if any(isinstance(rubric_of(criterion), Changes) for criterion in settings.criteria):
        console.print(
            f"assumed: {CHANGES} changes a row, each judged in a conversation of its own;"
        )
    console.print("thinking of reasoning models comes on top.")
    if not modes[0].picture_formula:
        console.print(f"no formula is known for the pictures of {model!r}: only text is counted")
