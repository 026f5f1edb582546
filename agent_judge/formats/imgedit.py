"""ImgEdit-Bench: one JSON object of edits by key, outputs named by that key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agent_judge.formats.edit_types import typed
from agent_judge.formats.entries import Entry, Fields, read_entries
from agent_judge.formats.importing import Draft, Import, ImportOptions
from agent_judge.formats.pictures import Pictures

ALIASES = {
    "source": ("id", "image", "source"),
    "instruction": ("prompt", "instruction", "edit_prompt"),
    "type": ("edit_type", "type"),
}


def import_imgedit(table: Path, sources: Path, outputs: Path, *, options: ImportOptions) -> Import:
    """Rows of ImgEdit-Bench (basic and UGE suites).

    Args:
        table: `{"KEY": {"id": "animal/000.jpg", "prompt": ..., "edit_type": ...}, ...}`. Its
            `id` is the path of the source.
        sources: the folder that those paths start at.
        outputs: `KEY.png` each.
        options: editor, field map, roots.
    """
    before, after = Pictures(sources, "source", nested=True), Pictures(outputs, "output")
    fields = Fields(ALIASES, options.mapping)

    def drafts(entry: Entry) -> Iterator[Draft]:
        values = entry.values()
        if entry.key is None:
            raise ValueError("expected one JSON object of edits by key")
        yield Draft(
            values={
                **fields.rest(values),
                **typed(fields.take(values, "type")),
                "id": entry.key,
                "source": before.path(fields.text(values, "source")),
                "edited": after.path(entry.key),
                "instruction": fields.text(values, "instruction"),
                "editor": options.editor or None,
            }
        )

    return Import(
        read_entries(table),
        drafts,
        fields=fields,
        folders=[sources, outputs],
        roots=options.roots,
        outputs=after,
    )
