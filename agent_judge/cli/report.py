"""`agent-judge report`: runs as a folder of static HTML."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from agent_judge.cli.judge_card import card_lines
from agent_judge.cli.terminal import shown
from agent_judge.report.build import write_report
from agent_judge.report.thresholds import MISSED, missed, parse_thresholds
from agent_judge.run import Run
from agent_judge.store import Store


def report(
    run_dirs: Annotated[
        list[Path], typer.Argument(metavar="RUN_DIR...", help="Folders given to `run --out`.")
    ],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Folder to write; default: report/ in the first run."),
    ] = None,
    pack: Annotated[
        bool,
        typer.Option("--pack", help="Copy every picture into the folder, however large."),
    ] = False,
    fail_under: Annotated[
        str | None,
        typer.Option(metavar="IF=60,VC=80", help="Exit 4 when an editor's mean is lower."),
    ] = None,
    cards: Annotated[
        Path | None, typer.Option(help="Folder of judge cards; default: this user's.")
    ] = None,
) -> None:
    """Write a report that opens in a browser: no server, no network."""
    marks: Mapping[str, float] = {}
    if fail_under:
        with closing(Store.open(run_dirs[0])) as store:
            marks = parse_thresholds(fail_under, Run(store).protocol)
    out = run_dirs[0] / "report" if out is None else out
    written = write_report(
        run_dirs, out, judge_card=partial(card_lines, folder=cards), pack=pack, tell=_tell
    )
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if not written.packed:
        print(
            f"its pictures ({written.picture_bytes / 1e6:,.0f} MB) stay where they are: "
            "pass --pack to hand the folder on"
        )
    print(f"{written.n_rows} rows: open {written.page}")
    misses = [shown(line) for line in missed(written.summary, marks)]
    print("\n".join(misses), file=sys.stderr, end="\n" if misses else "")
    if misses:
        raise typer.Exit(MISSED)


def _tell(n_rows: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{n_rows:,} rows", end="", file=sys.stderr, flush=True)
