"""`agent-judge report`: runs as a folder of static HTML."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from agent_judge.report.build import write_report


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
) -> None:
    """Write a report that opens in a browser: no server, no network."""
    out = run_dirs[0] / "report" if out is None else out
    written = write_report(run_dirs, out, pack=pack, tell=_tell)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if not written.packed:
        print(
            f"its pictures ({written.picture_bytes / 1e6:,.0f} MB) stay where they are: "
            "pass --pack to hand the folder on"
        )
    print(f"{written.n_rows} rows: open {written.page}")


def _tell(n_rows: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{n_rows:,} rows", end="", file=sys.stderr, flush=True)
