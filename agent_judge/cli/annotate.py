"""`agent-judge annotate`: people rate edits by the judge's ladder, on a local page."""

from __future__ import annotations

import signal
import webbrowser
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from agent_judge.annotate.journal import Entry, Journal
from agent_judge.annotate.labels import labelled
from agent_judge.annotate.round import draw_round
from agent_judge.annotate.server import AnnotationServer
from agent_judge.annotate.session import Session
from agent_judge.cli.options import refuse_other_protocols, settings_of
from agent_judge.cli.terminal import shown
from agent_judge.errors import InputError
from agent_judge.manifest import check_manifest, read_manifest, write_manifest


def annotate(
    manifest: Annotated[Path, typer.Argument(help="JSONL, CSV or Parquet; docs/data-format.md.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Label table; default: MANIFEST-labels.csv beside the manifest."),
    ] = None,
    sample: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Rate a seeded subset of N rows.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the order, and so of the subset.")] = 0,
    calibration: Annotated[
        int, typer.Option(min=0, metavar="N", help="Rows of the calibration round.")
    ] = 10,
    root: Annotated[
        list[Path] | None,
        typer.Option(help="Folder that paths may lead to besides the manifest's."),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Default: any free one.")] = 0,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    merge_into: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.jsonl", help="Write the manifest with the labels so far, and end."
        ),
    ] = None,
) -> None:
    """Rate IF and VC by hand, blind to editor and judge; end with Ctrl-C, go on by the same call.

    Ratings are kept beside the label table, in a .journal.jsonl file, as soon as they are given.
    """
    settings = settings_of(manifest, config=None, assignments=(), flags={})
    refuse_other_protocols(settings, "annotate")
    roots = tuple(root or ())
    check_manifest(manifest, roots=roots)
    out = out or manifest.with_name(f"{manifest.stem}-labels.csv")
    with Journal.open(_journal_of(out)) as journal:
        if merge_into is not None:
            _merge(manifest, roots, journal.latest(), merge_into)
            return
        round_ = draw_round(
            read_manifest(manifest, roots=roots),
            size=sample,
            seed=seed,
            n_calibration=calibration,
        )
        if not round_.rows:
            raise InputError("no row has both of its pictures: there is nothing to rate")
        if round_.n_without_picture:
            print(f"{round_.n_without_picture} rows left out: source or edited picture is missing")
        session = Session(round_, journal, out, now=_now)
        with _listening(session, port) as server:
            print(
                f"{len(round_.rows)} rows to rate, {round_.n_calibration} of them to calibrate; "
                f"ratings go to {out}"
            )
            print(f"open {server.url} (Ctrl-C ends)", flush=True)
            if open_:
                webbrowser.open(server.url)
            _serve(server)
        print(f"{out}: {_told(journal.latest())}")


def _journal_of(out: Path) -> Path:
    """The journal beside a label table; a table without one is someone else's."""
    journal = out.with_suffix(".journal.jsonl")
    if out.suffix != ".csv":
        raise InputError(f"--out {str(out)!r}: expected a .csv file")
    if out.exists() and not journal.exists():
        raise InputError(f"{str(out)!r} exists and was not written by annotate: pass another --out")
    return journal


def _merge(manifest: Path, roots: tuple[Path, ...], entries: list[Entry], into: Path) -> None:
    try:
        write_manifest(into, labelled(read_manifest(manifest, roots=roots), entries))
    except OSError as err:
        raise InputError(f"cannot write {str(into)!r}: {err.strerror or err}") from err
    print(f"{into}: {_told(entries)}")


def _listening(session: Session, port: int) -> AnnotationServer:
    try:
        return AnnotationServer(session, port)
    except OSError as err:
        raise InputError(f"--port {port}: {err.strerror}") from err


def _serve(server: AnnotationServer) -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()


def _told(entries: list[Entry]) -> str:
    counts = Counter(entry.by for entry in entries if entry.levels)
    return ", ".join(f"{shown(by)} {n} rows" for by, n in sorted(counts.items())) or "no ratings"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
