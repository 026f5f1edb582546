"""BPM's evaluation data: one entry a task, with several edited pictures in it.

Each edited picture becomes a row of its own; `item` joins the rows of a task, so that `compare`
and `agree` can pair them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agent_judge.formats.entries import BadEntry, Entry, Fields, read_entries
from agent_judge.formats.importing import Draft, Import, ImportOptions
from agent_judge.formats.pictures import Pictures

ALIASES = {
    "item": ("idx", "id", "index"),
    "source": ("source_image_path", "source_image", "source"),
    "instruction": ("instruction", "edit_instruction"),
    "source_caption": ("source_caption",),
    "edited_caption": ("target_caption", "edited_caption"),
    "targets": ("original_image_edited_area", "LLM.gemma_origin"),
}
_EDITED = re.compile(r"edited_image_?(?P<name>.*)")
_PATHS = ("image_path", "edited_image_path", "path")
_EDITORS = ("edit_method", "method", "model", "editor")
_NO_PHRASE = {"none", "all"}
"""What the benchmark's parser writes where an edit has no object in the source, or is global."""


def import_bpm(
    table: Path, images: Path, *, editors: Mapping[str, str], options: ImportOptions
) -> Import:
    """Rows of BPM's local, global or ground-truth set.

    Args:
        table: `local_metadata.json`, ...: `idx`, `instruction`, `source_image_path`, and for each
            edited picture `edited_image1` and so on with an `image_path` and its ratings.
        images: the folder that those paths start at.
        editors: names of the editing models by key: `edited_image1` and so on. A key without one
            takes the name that the entry has (`method` or the like), or stands for itself.
        options: field map, roots.
    """
    pictures = Pictures(images, "picture", nested=True)
    fields = Fields(ALIASES, options.mapping)

    def drafts(entry: Entry) -> Iterator[Draft]:
        values = entry.values()
        item = fields.text(values, "item")
        shared = {
            **{k: v for k, v in fields.rest(values).items() if not _EDITED.fullmatch(k)},
            "item": item,
            "source": pictures.path(fields.text(values, "source")),
            "instruction": fields.text(values, "instruction"),
            "source_caption": fields.take(values, "source_caption"),
            "edited_caption": fields.take(values, "edited_caption"),
            "targets": _phrases(fields.take(values, "targets")),
        }
        edits = {key: value for key, value in values.items() if _EDITED.fullmatch(key)}
        if not edits:
            raise BadEntry("expected a key edited_image1 or the like")
        for key, edit in edits.items():
            about = edit if isinstance(edit, Mapping) else {"image_path": edit}
            path = _first(about, _PATHS)
            if path is None:
                raise BadEntry(f"expected an image_path in it, got {edit!r:.60}", key)
            editor = editors.get(key) or _first(about, _EDITORS) or key
            yield Draft(
                values={
                    **shared,
                    "id": f"{item}/{key}",
                    "edited": pictures.path(path),
                    "editor": editor,
                    "bpm": {k: v for k, v in about.items() if k not in (*_PATHS, *_EDITORS)},
                }
            )

    return Import(
        read_entries(table),
        drafts,
        fields=fields,
        folders=[images],
        roots=options.roots,
        outputs=pictures,
        only_outputs=False,
    )


def _first(values: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    found = (values[key] for key in keys if isinstance(values.get(key), str) and values[key])
    return next(found, None)


def _phrases(value: object) -> list[str] | None:
    phrases = value if isinstance(value, list) else [value]
    kept = [p for p in phrases if isinstance(p, str) and p.strip().lower() not in _NO_PHRASE]
    return kept or None
