"""`agent-judge import`: files in a foreign layout to a manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agent_judge.errors import InputError, ManifestError

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.callback()
def _group() -> None:
    """Make a manifest from files that lie in another layout."""


@app.command("folder")
def folder(
    sources: Annotated[Path, typer.Argument(help="Folder of pictures before the edit.")],
    outputs: Annotated[Path, typer.Argument(help="Folder of the editing model's pictures.")],
    instructions: Annotated[
        Path, typer.Argument(help="CSV, JSONL or Parquet: a source's name and its instruction.")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="Manifest to write (JSONL).")],
    editor: Annotated[str, typer.Option(help="The editing model's name.")] = "",
) -> None:
    """Match two folders by file stem. A row without an output stays: it is a result."""
    from agent_judge.formats.folder import import_folders
    from agent_judge.manifest import write_manifest

    found = import_folders(sources, outputs, instructions, editor=editor)
    print(found.summary())
    if found.faults:
        raise ManifestError(found.faults)
    if not found.samples:
        raise InputError(f"{str(instructions)!r} has no rows")
    write_manifest(out, found.samples)
    roots = "".join(f" --root {folder}" for folder in _outside(out, sources, outputs))
    print(f"wrote    {out}\nnext     agent-judge run {out} --out runs/{out.stem}{roots}")


def _outside(manifest: Path, *folders: Path) -> list[Path]:
    """The folders that a manifest there may not lead to by itself."""
    inside = manifest.absolute().parent.resolve()
    return [folder for folder in folders if not folder.resolve().is_relative_to(inside)]
