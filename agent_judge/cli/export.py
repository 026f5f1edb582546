"""`agent-judge export`: every record as a table."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOBase
from pathlib import Path
from typing import Annotated

import typer

from agent_judge.errors import InputError
from agent_judge.report.export import (
    ENCODING_ERRORS,
    Format,
    write_csv,
    write_jsonl,
    write_parquet,
)
from agent_judge.report.junit import write_junit
from agent_judge.run import Run
from agent_judge.whole_file import written_whole


def export(
    run_dir: Annotated[Path, typer.Argument(help="Folder given to `run --out`.")],
    format_: Annotated[
        Format, typer.Option("--format", help="CSV: lists are JSON in the cell. JUnit: for CI.")
    ] = "jsonl",
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="File to write; default: standard output.")
    ] = None,
) -> None:
    """Write one row per (id, criterion): verdict, evidence, cost and versions."""
    records = Run.open(run_dir).records()
    if format_ == "parquet":
        if out is None:
            raise InputError("--format parquet needs a file: pass -o FILE")
        with _finished_or_absent(out) as half:
            write_parquet(records, half)
        return
    write = {"jsonl": write_jsonl, "csv": write_csv, "junit": write_junit}[format_]
    if out is None:
        with _stdout() as stream:
            write(records, stream)
        return
    with (
        _finished_or_absent(out) as half,
        half.open("w", encoding="utf-8", errors=ENCODING_ERRORS, newline="") as stream,
    ):
        write(records, stream)


@contextmanager
def _stdout() -> Iterator[TextIOBase]:
    """Standard output in UTF-8 whatever the locale, line ends as written."""
    with open(  # noqa: PTH123 - a file descriptor
        os.dup(sys.stdout.fileno()), "w", encoding="utf-8", errors=ENCODING_ERRORS, newline=""
    ) as stream:
        yield stream


@contextmanager
def _finished_or_absent(path: Path) -> Iterator[Path]:
    """As `written_whole`; what cannot be written is the user's to mend."""
    try:
        with written_whole(path) as half:
            yield half
    except OSError as err:
        raise InputError(f"cannot write {str(path)!r}: {err.strerror or err}") from err
