"""`report`: run folders to one folder of static HTML that opens from disk.

`index.html` holds the summary as plain HTML. The rows come as scripts, because a page opened from
disk may not fetch: `data/list.js` for the list, and `data/part-N.js`, read when the page of a row
in it is opened. `summary.json` has the figures for programs.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_judge.errors import InputError
from agent_judge.report.page import WEB, about, render_page
from agent_judge.report.pictures import PACK_LIMIT_BYTES, Shelf, total_bytes
from agent_judge.report.plots import diagnose_runs, plots_of
from agent_judge.report.rows import PICTURES, ReportRow, line_of, page_of, rows_of
from agent_judge.report.standing import row_key, summary_of_runs
from agent_judge.report.thumbnails import thumbnail_of
from agent_judge.run import Run, refuse_two_protocols

PAGE, SUMMARY = "index.html", "summary.json"
ROWS_A_PART = 40
"""Rows whose pages lie in one script."""
_ASSETS = ("*.css", "*.js", "vendor/*")


@dataclass(frozen=True, kw_only=True)
class Written:
    """What was written."""

    page: Path
    """The file to open."""
    n_rows: int
    packed: bool
    """Whether the folder holds all its pictures and can be handed on alone."""
    picture_bytes: int
    """Size of the pictures that it shows, thumbnails apart."""
    summary: Mapping[str, Any]
    """What `summary.json` holds."""


def write_report(
    folders: Sequence[Path],
    out: Path,
    *,
    judge_card: Callable[[Run], Sequence[str]],
    pack: bool = False,
    tell: Callable[[int], None],
) -> Written:
    """Write the report of one or several runs.

    Args:
        folders: run folders; several are shown side by side, never pooled.
        out: made, or replaced when it holds a report.
        judge_card: what an audit says of a run's judge at the run's sizes, in lines.
        pack: put all pictures into the folder, however large they are.
        tell: called with the number of rows done so far.

    Raises:
        InputError: a folder without a run, runs of two protocols, or `out` holds something else
            or cannot be written.
    """
    runs = {name: Run.open(folder) for name, folder in _named(folders).items()}
    refuse_two_protocols({str(run.folder): run.protocol.name for run in runs.values()})
    size = total_bytes(path for run in runs.values() for path in _pictures(run))
    packed = pack or size <= PACK_LIMIT_BYTES
    summary = summary_of_runs(runs)
    with _replacing(out) as building:
        shelf = Shelf(building=building, final=out, packed=packed)
        sizes_wh = _write_rows(rows_of(runs), building, shelf, tell)
        diagnosis = diagnose_runs(runs, {key: size for key, size in sizes_wh.items() if size})
        _write(building / "data" / "about.js", _call("about", about(runs)))
        _write(building / "data" / "plots.js", _call("plots", plots_of(diagnosis)))
        _write(building / SUMMARY, json.dumps(summary, indent=2))
        _write(
            building / PAGE,
            render_page(runs, summary, diagnosis, judge_card=judge_card, n_rows=len(sizes_wh)),
        )
        _copy_assets(building)
    return Written(
        page=out / PAGE,
        n_rows=len(sizes_wh),
        packed=packed,
        picture_bytes=size,
        summary=summary,
    )


def _named(folders: Sequence[Path]) -> dict[str, Path]:
    """A short, unique name for each run: its folder's, numbered where it comes again."""
    names: dict[str, Path] = {}
    for folder in folders:
        base = folder.resolve().name
        choices = itertools.chain([base], (f"{base} ({n})" for n in itertools.count(2)))
        names[next(name for name in choices if name not in names)] = folder
    return names


def _pictures(run: Run) -> Iterator[Path]:
    """Every file that the pages of a run's rows show."""
    yield from (run.folder / "blobs").rglob("*.png")
    for planned in run.rows():
        yield from (Path(planned.row[name]) for name in PICTURES if planned.row.get(name))


@contextmanager
def _replacing(out: Path) -> Iterator[Path]:
    """A folder to build in that takes the place of `out` only when all went well."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{str(out)!r} is no folder: pass one as -o")
    if out.exists() and not (out / PAGE).is_file() and any(out.iterdir()):
        raise InputError(f"{str(out)!r} holds other files: pass an empty folder as -o")
    building = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        building.mkdir(parents=True)
        yield building
        if out.exists():
            old = out.with_name(f".{out.name}.{os.getpid()}.old")
            out.rename(old)
            building.rename(out)
            shutil.rmtree(old)
        else:
            building.rename(out)
    except OSError as err:
        raise InputError(f"cannot write {str(out)!r}: {err.strerror or err}") from err
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _write_rows(
    rows: Iterator[ReportRow], building: Path, shelf: Shelf, tell: Callable[[int], None]
) -> dict[str, tuple[int, int] | None]:
    """The list, the parts with the pages, and the thumbnails; returns the rows' picture sizes."""
    (building / "data").mkdir()
    (building / "thumbs").mkdir()
    lines: list[dict[str, Any]] = []
    sizes_wh: dict[str, tuple[int, int] | None] = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for part in itertools.count():
            chunk = list(itertools.islice(rows, ROWS_A_PART))
            if not chunk:
                break
            pages: list[dict[str, Any]] = []
            shown = pool.map(lambda row: _shown(row, shelf), chunk)
            for row, (thumbnail, page) in zip(chunk, shown, strict=True):
                line = {**line_of(row), "part": part, "at": len(pages)}
                if thumbnail is not None:
                    line["thumb"] = f"thumbs/{len(lines)}.webp"
                    (building / line["thumb"]).write_bytes(thumbnail)
                lines.append(line)
                sizes_wh[row_key(row.run_name, row.planned.id)] = row.size_wh
                pages.append(page)
            _write(building / "data" / f"part-{part}.js", _call("part", part, pages))
            tell(len(lines))
    _write(building / "data" / "list.js", _call("list", lines))
    return sizes_wh


def _shown(row: ReportRow, shelf: Shelf) -> tuple[bytes | None, dict[str, Any]]:
    """A row's thumbnail and page; its decoded pictures are let go at once, for they are large."""
    intake = row.take_in() if row.needs_pixels else None
    return row.thumbnail or thumbnail_of(row, intake), page_of(row, intake, shelf)


def _call(function: str, *args: object) -> str:
    """A script that hands data to the page."""
    return f"AJ.receive.{function}({', '.join(json.dumps(arg) for arg in args)});\n"


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _copy_assets(building: Path) -> None:
    for pattern in _ASSETS:
        for path in WEB.glob(pattern):
            target = building / "assets" / path.relative_to(WEB)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
