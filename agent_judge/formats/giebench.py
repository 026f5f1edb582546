"""GIE-Bench: one JSON array with a 224x224 mask of the object in every entry.

The masks are squeezed to 224x224 whatever the picture's shape, so boxes are written as shares of
width and height. Entries have no number; an entry's id is the picture's name with a checksum of
its text.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from agent_judge.formats.edit_types import typed
from agent_judge.formats.entries import BadEntry, Entry, Fields, read_entries
from agent_judge.formats.importing import Draft, Import, ImportOptions
from agent_judge.formats.masks import boxes_of_mask, mask_of_values
from agent_judge.formats.pictures import Pictures

ALIASES = {
    "id": ("id", "entry_id", "key"),
    "source": ("image", "image_path"),
    "edited": ("edited_image_path", "edited_image"),
    "instruction": ("edit_instruction", "instruction"),
    "type": ("edit_type",),
    "mask": ("object_mask", "mask"),
}


def import_giebench(table: Path, sources: Path, outputs: Path, *, options: ImportOptions) -> Import:
    """Rows of GIE-Bench.

    Args:
        table: the benchmark's array with `edited_image_path` added to each entry, as its own
            scripts want it. An entry without one, or with a null, has no output.
        sources: the folder that `image` (`/animals/x.jpg`) starts at.
        outputs: where the outputs lie; `edited_image_path` may start further up.
        options: editor, field map, roots.
    """
    before = Pictures(sources, "source", nested=True)
    after = Pictures(outputs, "output", nested=True)
    fields = Fields(ALIASES, options.mapping)
    alike: Counter[str] = Counter()

    def drafts(entry: Entry) -> Iterator[Draft]:
        values = entry.values()
        image = fields.text(values, "source")
        mask = fields.take(values, "mask")
        boxes = [] if mask is None else boxes_of_mask(mask_of_values(mask))
        own_id = fields.take(values, "id")
        edited = fields.take(values, "edited")
        if edited is not None and not isinstance(edited, str):
            raise BadEntry(f"expected a path, got {edited!r:.60}", "edited")
        rest = fields.rest(values)
        instruction = fields.text(values, "instruction")
        id_ = str(own_id) if own_id is not None else _id(image, instruction, rest, alike)
        yield Draft(
            values={
                **rest,
                **typed(fields.take(values, "type")),
                "id": id_,
                "source": before.path(image),
                "edited": _output(after, edited) if edited else str(after.expected(id_)),
                "instruction": instruction,
                "boxes": boxes or None,
                "box_format": "xyxy_norm" if boxes else None,
                "editor": options.editor or None,
            },
            odd=() if mask is None or boxes else ("its mask is empty: no boxes",),
        )

    return Import(
        read_entries(table),
        drafts,
        fields=fields,
        folders=[sources, outputs],
        roots=options.roots,
        outputs=after,
    )


def _output(outputs: Pictures, path: str) -> str:
    """The output at the longest end of a path that there is, else where its name would be."""
    parts = [part for part in path.replace("\\", "/").split("/") if part] or [path]
    ends = ["/".join(parts[n:]) for n in range(len(parts)) if ".." not in parts[n:]]
    return outputs.path(next((end for end in ends if outputs.has(end)), parts[-1]))


def _id(image: str, instruction: str, rest: object, alike: Counter[str]) -> str:
    """The picture's name and a checksum; entries that are the same in all are numbered."""
    text = json.dumps([image, instruction, rest], sort_keys=True)
    name = f"{Path(image).stem}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    alike[name] += 1
    return name if alike[name] == 1 else f"{name}-{alike[name]}"
