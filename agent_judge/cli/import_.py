"""`agent-judge import`: files in a foreign layout to a manifest (docs/importing.md)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from agent_judge.cli.import_boxes import boxes_coco, boxes_label_studio, boxes_masks
from agent_judge.cli.import_result import Editor, Map, Out, Root, finish, pairs, tell_next
from agent_judge.cli.terminal import shown_lines
from agent_judge.errors import InputError, ManifestError
from agent_judge.records import BoxFormat

if TYPE_CHECKING:
    from agent_judge.formats.importing import ImportOptions

app = typer.Typer(add_completion=False, rich_markup_mode=None)
app.command("boxes-coco")(boxes_coco)
app.command("boxes-label-studio")(boxes_label_studio)
app.command("boxes-masks")(boxes_masks)

Outputs = Annotated[Path, typer.Argument(help="The editing model's pictures.")]
Images = Annotated[Path, typer.Argument(help="The folder that the table's paths start at.")]


class Setting(StrEnum):
    """How MagicBrush's turns become rows."""

    single = "single"
    multi = "multi"


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
    out: Out = None,
    editor: Editor = None,
) -> None:
    """Match two folders by file stem. A row without an output stays: it is a result."""
    from agent_judge.formats.folder import import_folders
    from agent_judge.manifest import write_manifest

    found = import_folders(sources, outputs, instructions, editor=editor or "")
    print(shown_lines(found.summary()))
    if found.faults:
        raise ManifestError(found.faults)
    if not found.samples:
        raise InputError(f"{str(instructions)!r} has no rows")
    if out is not None:
        write_manifest(out, found.samples)
    tell_next(out, (sources, outputs))


@app.command("dlebench")
def dlebench(
    data: Annotated[Path, typer.Argument(help="The dataset's folder, or its data.jsonl.")],
    outputs: Outputs,
    out: Out = None,
    box_format: Annotated[
        str, typer.Option(metavar="|".join(get_args(BoxFormat)), help="How its boxes are meant.")
    ] = "xyxy",
    editor: Editor = None,
    map_: Map = None,
    root: Root = None,
) -> None:
    """DLEBench: data.jsonl, Source_Images/ and Reference_Images/."""
    from agent_judge.formats.dlebench import import_dlebench

    known: dict[str, BoxFormat] = {name: name for name in get_args(BoxFormat)}
    if box_format not in known:
        raise InputError(f"--box-format {box_format!r}: expected one of {', '.join(known)}")
    options = _options(editor, map_, root)
    finish(import_dlebench(data, outputs, box_format=known[box_format], options=options), out)


@app.command("gedit")
def gedit(
    table: Annotated[Path, typer.Argument(help="The dataset's Parquet file, or a table of it.")],
    outputs: Outputs,
    out: Out = None,
    sources: Annotated[
        Path | None, typer.Option(help="Sources by key; default: KEY_SRCIMG beside the outputs.")
    ] = None,
    language: Annotated[str | None, typer.Option(help="Take en or cn only.")] = None,
    editor: Editor = None,
    map_: Map = None,
    root: Root = None,
) -> None:
    """GEdit-Bench: fullset/TASK/LANGUAGE/KEY.png."""
    from agent_judge.formats.gedit import import_gedit

    options = _options(editor, map_, root)
    finish(import_gedit(table, outputs, sources=sources, language=language, options=options), out)


@app.command("imgedit")
def imgedit(
    table: Annotated[Path, typer.Argument(help="basic_edit.json or the like.")],
    sources: Annotated[Path, typer.Argument(help="The benchmark's original pictures.")],
    outputs: Outputs,
    out: Out = None,
    editor: Editor = None,
    map_: Map = None,
    root: Root = None,
) -> None:
    """ImgEdit-Bench: outputs named by their key, KEY.png."""
    from agent_judge.formats.imgedit import import_imgedit

    finish(import_imgedit(table, sources, outputs, options=_options(editor, map_, root)), out)


@app.command("kris")
def kris(
    bench: Annotated[Path, typer.Argument(help="Holds CATEGORY/annotation.json.")],
    outputs: Outputs,
    out: Out = None,
    editor: Editor = None,
    map_: Map = None,
    root: Root = None,
) -> None:
    """KRIS-Bench: outputs in CATEGORY/NUMBER.jpg."""
    from agent_judge.formats.kris import import_kris

    finish(import_kris(bench, outputs, options=_options(editor, map_, root)), out)


@app.command("rise")
def rise(
    table: Annotated[Path, typer.Argument(help="The benchmark's JSON array.")],
    outputs: Outputs,
    out: Out = None,
    sources: Annotated[
        Path | None, typer.Option(help="Where its pictures lie; default: beside the table.")
    ] = None,
    editor: Editor = None,
    map_: Map = None,
    root: Root = None,
) -> None:
    """RISEBench: outputs in images/CATEGORY/INDEX.png."""
    from agent_judge.formats.rise import import_rise

    options = _options(editor, map_, root)
    finish(import_rise(table, outputs, sources=sources, options=options), out)


@app.command("giebench")
def giebench(
    table: Annotated[Path, typer.Argument(help="The array with edited_image_path in each entry.")],
    sources: Annotated[Path, typer.Argument(help="The folder that `image` starts at.")],
    outputs: Outputs,
    out: Out = None,
    editor: Editor = None,
    map_: Map = None,
    root: Root = None,
) -> None:
    """GIE-Bench: its masks become boxes."""
    from agent_judge.formats.giebench import import_giebench

    finish(import_giebench(table, sources, outputs, options=_options(editor, map_, root)), out)


@app.command("magicbrush")
def magicbrush(
    data: Annotated[Path, typer.Argument(help="A split: edit_turns.json and images/.")],
    outputs: Outputs,
    out: Out = None,
    setting: Annotated[
        Setting, typer.Option(help="A row a turn, or a row a session.")
    ] = Setting.single,
    editor: Editor = None,
    map_: Map = None,
    root: Root = None,
) -> None:
    """MagicBrush: outputs in ID/ID_1.png, ID_inde_2.png, ID_iter_2.png; masks become boxes."""
    from agent_judge.formats.magicbrush import import_magicbrush

    options = _options(editor, map_, root)
    finish(import_magicbrush(data, outputs, setting=setting.value, options=options), out)


@app.command("bpm")
def bpm(
    table: Annotated[Path, typer.Argument(help="local_metadata.json or the like.")],
    images: Images,
    out: Out = None,
    editor: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=NAME", help="The model behind a key: edited_image1=ip2p."),
    ] = None,
    map_: Map = None,
    root: Root = None,
) -> None:
    """BPM's evaluation data: a row for each edited picture of an entry."""
    from agent_judge.formats.bpm import import_bpm

    editors, options = pairs(editor, "--editor"), _options(None, map_, root)
    finish(import_bpm(table, images, editors=editors, options=options), out)


@app.command("dice")
def dice(
    table: Annotated[Path, typer.Argument(help="predicted_differences.json or the like.")],
    images: Images,
    out: Out = None,
    editor: Editor = None,
    map_: Map = None,
    root: Root = None,
) -> None:
    """DICE: a row for each pair, with the differences that were found."""
    from agent_judge.formats.dice import import_dice

    finish(import_dice(table, images, options=_options(editor, map_, root)), out)


def _options(
    editor: str | None, mapping: Sequence[str] | None, roots: Sequence[Path] | None
) -> ImportOptions:
    from agent_judge.formats.importing import ImportOptions

    chosen = pairs(mapping, "--map")
    return ImportOptions(editor=editor, mapping=chosen, roots=tuple(roots or ()))
