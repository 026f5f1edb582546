"""KRIS-Bench: an `annotation.json` in the folder of each category, outputs in folders named alike.

An edit may have several source pictures: the frames of a sequence, or the elements of a
composition. A row has one source, so the first is taken, all are kept as `sources`, and the
summary says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_judge.errors import InputError
from agent_judge.formats.edit_types import typed
from agent_judge.formats.entries import BadEntry, Entry, Fields, read_entries
from agent_judge.formats.importing import Draft, Import, ImportOptions
from agent_judge.formats.pictures import Pictures

ALIASES = {
    "source": ("ori_img",),
    "reference": ("gt_img",),
    "instruction": ("ins_en", "instruction", "ins"),
}
_TABLE = "annotation.json"


def import_kris(bench: Path, outputs: Path, *, options: ImportOptions) -> Import:
    """Rows of KRIS-Bench; their ids are `CATEGORY/NUMBER`.

    Args:
        bench: holds `CATEGORY/annotation.json` with the source pictures beside it.
        outputs: the model's folder: `CATEGORY/NUMBER.jpg` each.
        options: editor (default: the folder's name), field map, roots.

    Raises:
        InputError: a folder is missing, or `bench` holds no annotation.
    """
    before = Pictures(bench, "source", nested=True)
    after = Pictures(outputs, "output", nested=True)
    tables = sorted(path for path in before.others() if path.name == _TABLE)
    if not tables:
        raise InputError(f"{str(bench)!r}: expected CATEGORY/{_TABLE} in it")
    fields = Fields(ALIASES, options.mapping)
    editor = outputs.resolve().name if options.editor is None else options.editor

    def drafts(entry: Entry) -> Iterator[Draft]:
        values = entry.values()
        if entry.key is None:
            raise ValueError("expected one JSON object of edits by number")
        category = entry.path.parent.relative_to(before.folder).as_posix()
        names = names_of(fields.take(values, "source"), "source")
        if not names:
            raise BadEntry("expected a key ori_img with one name or several", "source")
        sources = [before.path(f"{category}/{name}") for name in names]
        references = names_of(fields.take(values, "reference"), "reference")
        yield Draft(
            values={
                **fields.rest(values),
                **typed(category),
                **({"sources": names} if len(names) > 1 else {}),
                "id": f"{category}/{entry.key}",
                "source": sources[0],
                "edited": after.path(f"{category}/{entry.key}"),
                "reference": before.path(f"{category}/{references[0]}") if references else None,
                "instruction": fields.text(values, "instruction"),
                "editor": editor or None,
            },
            odd=first_of_several(names),
        )

    return Import(
        (entry for table in tables for entry in read_entries(table)),
        drafts,
        fields=fields,
        folders=[bench, outputs],
        roots=options.roots,
        outputs=after,
    )


def names_of(value: Any, column: str) -> list[str]:  # noqa: ANN401 - what an entry holds
    """One name, or a list of them, as a list; empty for nothing.

    Raises:
        BadEntry: it is neither.
    """
    names = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(name, str) and name for name in names):
        raise BadEntry(f"expected one name or a list of names, got {value!r:.60}", column)
    return names


def first_of_several(names: list[str]) -> tuple[str, ...]:
    """What to say of an edit with several source pictures."""
    if len(names) < 2:
        return ()
    return (f"{len(names)} source pictures, {names[0]!r} is taken and all are kept as sources",)
