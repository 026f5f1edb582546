"""KRIS-Bench: an `annotation.json` in the folder of each category, outputs in folders named alike.

An edit may have several source pictures: the frames of a sequence, or the elements of a
composition. A row has one source, so the first is taken, all are kept as `sources`, and the
summary says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agent_judge.errors import InputError
from agent_judge.formats.edit_types import typed
from agent_judge.formats.entries import BadEntry, Entry, Fields, read_entries
from agent_judge.formats.importing import Draft, Import, ImportOptions, several_sources
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
        names = fields.names(values, "source")
        if not names:
            raise BadEntry("expected a key ori_img with one name or several", "source")
        sources = [before.path(f"{category}/{name}") for name in names]
        references = fields.names(values, "reference")
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
            odd=several_sources(names),
        )

    return Import(
        (entry for table in tables for entry in read_entries(table)),
        drafts,
        fields=fields,
        folders=[bench, outputs],
        roots=options.roots,
        outputs=after,
    )
