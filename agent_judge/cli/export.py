"""`agent-judge export`: every record as a table."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOBase
from pathlib import Path
from typing import Annotated

import typer

from agent_judge.errors import InputError
from agent_judge.remote import file_system, is_url, sent_whole, store_errors
from agent_judge.report.classical import write_classical
from agent_judge.report.export import (
    ENCODING_ERRORS,
    PARTITIONS,
    Format,
    write_csv,
    write_jsonl,
    write_parquet,
    write_partitioned,
)
from agent_judge.report.junit import write_junit
from agent_judge.report.rewards import write_rewards
from agent_judge.run import Run
from agent_judge.whole_file import written_whole


def export(
    run_dir: Annotated[Path, typer.Argument(help="Folder given to `run --out`.")],
    format_: Annotated[
        Format,
        typer.Option(
            "--format",
            help="CSV: lists are JSON in the cell. JUnit: for CI. rewards: for training. "
            "classical: L1, L2, PSNR, SSIM as CSV.",
        ),
    ] = "jsonl",
    out: Annotated[
        str | None,
        typer.Option("-o", "--out", help="File or URL to write; default: standard output."),
    ] = None,
    partition_by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN,...", help="Parquet files in a folder for each value."),
    ] = None,
) -> None:
    """Write one row per (id, criterion): verdict, evidence, cost and versions.

    The format rewards has one row per id with its reward text: training data for image editors.
    The format classical has one row per id too, and reads the pictures anew.
    """
    run = Run.open(run_dir)
    records = run.records()
    if partition_by is not None:
        if format_ != "parquet" or out is None:
            raise InputError("--partition-by needs --format parquet and -o FOLDER")
        _write_partitioned(run, out, partition_by)
        return
    if format_ == "parquet":
        if out is None:
            raise InputError("--format parquet needs a file: pass -o FILE")
        with _finished_or_absent(out) as half:
            write_parquet(records, run.protocol, half)
        return
    writers = {"jsonl": write_jsonl, "csv": write_csv, "junit": write_junit}

    def write(stream: TextIOBase) -> None:
        if format_ == "rewards":
            _tell_left_out(write_rewards(run, stream))
        elif format_ == "classical":
            write_classical(run, stream)
        else:
            writers[format_](records, stream)

    if out is None:
        with _stdout() as stream:
            write(stream)
        return
    with (
        _finished_or_absent(out) as half,
        half.open("w", encoding="utf-8", errors=ENCODING_ERRORS, newline="") as stream,
    ):
        write(stream)


def _tell_left_out(left_out: Counter[str]) -> None:
    if left_out:
        why = ", ".join(f"{name} {n}" for name, n in left_out.most_common())
        n = left_out.total()
        print(f"rows left out, because they are not scored on all: {n} ({why})", file=sys.stderr)


@contextmanager
def _stdout() -> Iterator[TextIOBase]:
    """Standard output in UTF-8 whatever the locale, line ends as written."""
    with open(  # noqa: PTH123 - a file descriptor
        os.dup(sys.stdout.fileno()), "w", encoding="utf-8", errors=ENCODING_ERRORS, newline=""
    ) as stream:
        yield stream


def _write_partitioned(run: Run, out: str, partition_by: str) -> None:
    columns = list(dict.fromkeys(word.strip() for word in partition_by.split(",")))
    if unknown := set(columns).difference(PARTITIONS):
        raise InputError(
            f"--partition-by: expected some of {','.join(PARTITIONS)}, got "
            f"{', '.join(map(repr, sorted(unknown)))}"
        )
    with _mended(out):
        if is_url(out):
            system, folder = file_system(out)
            with store_errors(out):
                others = write_partitioned(run.records(), run.protocol, folder, columns, system)
        elif Path(out).exists() and not Path(out).is_dir():
            raise InputError(f"{out!r} is a file: --partition-by writes a folder")
        else:
            folder = str(Path(out).absolute())
            others = write_partitioned(run.records(), run.protocol, folder, columns)
    if others:
        told = f"other files in {out!r} stay, and readers take their rows too: {len(others)}, as"
        print(f"{told} {others[0]!r}", file=sys.stderr)


@contextmanager
def _finished_or_absent(out: str) -> Iterator[Path]:
    """A path to write to, whose file is then whole at a path or URL."""
    with _mended(out), sent_whole(out) if is_url(out) else written_whole(Path(out)) as half:
        yield half


@contextmanager
def _mended(out: str) -> Iterator[None]:
    """What cannot be written is the user's to mend."""
    try:
        yield
    except OSError as err:
        told = " ".join(str(err.strerror or err).split())
        raise InputError(f"cannot write {out!r}: {told:.300}") from err
