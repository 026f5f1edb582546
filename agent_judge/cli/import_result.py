"""What every `import` verb takes, and what it does with what was found."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Protocol

import typer

from agent_judge.cli.terminal import shown_lines
from agent_judge.errors import InputError
from agent_judge.records import Sample

Out = Annotated[
    Path | None,
    typer.Option(
        "-o", "--out", help="Manifest to write (JSONL); without it nothing but the summary."
    ),
]
Editor = Annotated[str | None, typer.Option(help="The editing model's name.")]
Map = Annotated[
    list[str] | None,
    typer.Option("--map", metavar="COLUMN=KEY", help="Which key of an entry holds a column."),
]
Root = Annotated[
    list[Path] | None,
    typer.Option(help="Folder that links among the pictures may lead to."),
]


class Streamed(Protocol):
    """Samples and, once they are read, what to tell of them."""

    @property
    def folders(self) -> Sequence[Path]:
        """Where the pictures lie."""

    def __iter__(self) -> Iterator[Sample]:
        """The samples; ends with an exception where they must not be written."""

    def summary(self) -> str:
        """What was found."""


def finish(found: Streamed, out: Path | None) -> None:
    """Write the manifest, or only read everything, and print what was found."""
    from agent_judge.manifest import write_manifest

    try:
        if out is None:
            deque(found, maxlen=0)
        else:
            write_manifest(out, found)
    finally:
        if summary := found.summary():
            print(shown_lines(summary))
    tell_next(out, found.folders)


def tell_next(out: Path | None, folders: Iterable[Path]) -> None:
    """Print what to do with the manifest."""
    if out is None:
        print("next     pass -o MANIFEST to write it")
        return
    inside = out.absolute().parent.resolve()
    outside = dict.fromkeys(f for f in folders if not f.resolve().is_relative_to(inside))
    roots = "".join(f" --root {folder}" for folder in outside)
    print(f"wrote    {out}\nnext     agent-judge run {out} --out runs/{out.stem}{roots}")


def pairs(texts: Sequence[str] | None, flag: str) -> dict[str, str]:
    """`NAME=VALUE` texts by name.

    Raises:
        InputError: a text has no `=`, or a name comes twice.
    """
    read: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise InputError(f"{flag} {text!r}: expected NAME=VALUE")
        if name in read:
            raise InputError(f"{flag} {text!r}: {name} was given before")
        read[name] = value
    return read
