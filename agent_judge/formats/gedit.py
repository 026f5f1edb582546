"""GEdit-Bench: `fullset/TASK/LANGUAGE/KEY.png` and the instructions of its dataset.

The outputs of the benchmark's own generation script lie in such folders, each beside its source
`KEY_SRCIMG.png`. The instructions are columns of the dataset (Parquet; its embedded pictures are
not read) or of a table made of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agent_judge.formats.edit_types import typed
from agent_judge.formats.entries import Entry, Fields, read_entries
from agent_judge.formats.importing import Draft, Import, ImportOptions
from agent_judge.formats.pictures import Pictures

ALIASES = {
    "id": ("key", "id"),
    "instruction": ("instruction", "prompt"),
    "type": ("task_type", "type"),
    "language": ("instruction_language", "language"),
}
_SOURCE_MARK = "_SRCIMG"


def import_gedit(
    table: Path,
    outputs: Path,
    *,
    sources: Path | None = None,
    language: str | None = None,
    options: ImportOptions,
) -> Import:
    """Rows of GEdit-Bench.

    Args:
        table: .parquet, .jsonl, .json or .csv with the keys of `ALIASES`.
        outputs: the model's folder, with `fullset` in it or `fullset` itself.
        sources: pictures named by key; None for the ones beside the outputs.
        language: take the entries in this language only (`en`, `cn`), and those that name none.
        options: editor (default: the folder's name), field map, roots.
    """
    full = outputs / "fullset" if (outputs / "fullset").is_dir() else outputs
    after = Pictures(full, "output", nested=True)
    before = Pictures(sources, "source") if sources else after
    fields = Fields(ALIASES, options.mapping)
    editor = outputs.resolve().name if options.editor is None else options.editor

    def drafts(entry: Entry) -> Iterator[Draft]:
        values = entry.values()
        key, task = fields.text(values, "id"), fields.text(values, "type")
        spoken = fields.take(values, "language") or language or fields.text(values, "language")
        name = f"{task}/{spoken}/{key}"
        source = before.path(key) if sources else after.path(f"{name}{_SOURCE_MARK}")
        edited = after.path(name)
        after.find(f"{name}{_SOURCE_MARK}")  # it is no output, whether it is the source or not
        if language is None or spoken == language:
            yield Draft(
                values={
                    **fields.rest(values),
                    **typed(task),
                    "id": key,
                    "source": source,
                    "edited": edited,
                    "instruction": fields.text(values, "instruction"),
                    "language": spoken,
                    "editor": editor or None,
                }
            )

    return Import(
        read_entries(table),
        drafts,
        fields=fields,
        folders=[full, *([sources] if sources else [])],
        roots=options.roots,
        outputs=after,
    )
