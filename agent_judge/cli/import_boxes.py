"""`agent-judge import boxes-...`: boxes that were drawn elsewhere, put onto a manifest's rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agent_judge.cli.import_result import Out, Root, finish

Manifest = Annotated[Path, typer.Argument(help="The rows: JSONL, CSV or Parquet.")]
Replace = Annotated[
    bool, typer.Option("--replace", help="Put them in the place of boxes that rows have.")
]


def boxes_coco(
    manifest: Manifest,
    file: Annotated[Path, typer.Argument(help="COCO detection file (.json).")],
    out: Out = None,
    category: Annotated[str | None, typer.Option(help="Take this category's boxes only.")] = None,
    replace: Replace = False,
    root: Root = None,
) -> None:
    """Put the boxes of a COCO file onto rows, by the names of their sources or their ids."""
    from agent_judge.formats.annotations import BoxImport, NamedAnnotations
    from agent_judge.formats.coco import read_coco

    annotations = NamedAnnotations(read_coco(file, category=category))
    finish(BoxImport(manifest, annotations, replace_boxes=replace, roots=root or ()), out)


def boxes_label_studio(
    manifest: Manifest,
    file: Annotated[Path, typer.Argument(help="JSON or JSON-MIN export.")],
    out: Out = None,
    replace: Replace = False,
    root: Root = None,
) -> None:
    """Put the boxes of a Label Studio export onto rows, by the names of their sources or ids."""
    from agent_judge.formats.annotations import BoxImport, NamedAnnotations
    from agent_judge.formats.label_studio import read_label_studio

    annotations = NamedAnnotations(read_label_studio(file))
    finish(BoxImport(manifest, annotations, replace_boxes=replace, roots=root or ()), out)


def boxes_masks(
    manifest: Manifest,
    folder: Annotated[Path, typer.Argument(help="Masks named after sources or rows.")],
    out: Out = None,
    replace: Replace = False,
    root: Root = None,
) -> None:
    """Put boxes around masks onto rows: what is white, or transparent, is the target."""
    from agent_judge.formats.annotations import BoxImport
    from agent_judge.formats.mask_folder import MaskFolder

    masks = MaskFolder(folder)
    finish(BoxImport(manifest, masks, replace_boxes=replace, roots=root or ()), out)
