"""`agent-judge validate`: every fault of a manifest before anything is spent."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from agent_judge.cli.options import manifest_at, root_at
from agent_judge.cli.terminal import shown
from agent_judge.errors import InputError
from agent_judge.manifest import check_manifest, read_lines


def validate(
    manifest: Annotated[
        Path, typer.Argument(parser=manifest_at, help="JSONL, CSV or Parquet; docs/data-format.md.")
    ],
    images: Annotated[
        bool, typer.Option("--images/--no-images", help="Decode pictures and place boxes.")
    ] = True,
    deep: Annotated[
        bool,
        typer.Option("--deep", help="Look for rows that are probably wrong, at full resolution."),
    ] = False,
    root: Annotated[
        list[Path] | None,
        typer.Option(
            parser=root_at, help="Folder or URL that paths may lead to besides the manifest's."
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Check the first N rows only.")] = None,
) -> None:
    """Check a manifest, its pictures and boxes. Exit 2 on any fault, 0 with warnings alone."""
    if deep and not images:
        raise InputError("--deep compares pictures: leave out --no-images")
    roots = tuple(root or ())
    n_rows = check_manifest(manifest, roots=roots, limit=limit)
    counts: Counter[str] = Counter()
    if images:
        from agent_judge.row_checks import check_rows

        for finding in check_rows(read_lines(manifest, roots=roots, limit=limit), deep=deep):
            counts[finding.weight] += 1
            print(shown(finding), file=sys.stderr if finding.weight == "fault" else sys.stdout)
    only = "" if limit is None else f", the first {limit} only"
    checked = "rows" if images else "rows, pictures not looked at"
    print(f"{n_rows} {checked}{only}: {counts['fault']} faults, {counts['warning']} warnings")
    if counts["fault"]:
        raise typer.Exit(2)
