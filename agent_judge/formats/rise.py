"""RISEBench: one JSON array, outputs in `images/CATEGORY/INDEX.png` of the model's folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agent_judge.formats.edit_types import typed
from agent_judge.formats.entries import BadEntry, Entry, Fields, read_entries
from agent_judge.formats.importing import Draft, Import, ImportOptions, several_sources
from agent_judge.formats.pictures import Pictures

ALIASES = {
    "id": ("index", "id"),
    "source": ("image", "images"),
    "reference": ("reference_img",),
    "instruction": ("instruction",),
    "edited_caption": ("reference_txt", "reference"),
    "type": ("category",),
}


def import_rise(
    table: Path, outputs: Path, *, sources: Path | None = None, options: ImportOptions
) -> Import:
    """Rows of RISEBench.

    Args:
        table: the array of samples, with `index`, `category`, `image` (a path or a list) and
            `instruction`; a reference is a picture, a text (the wanted result's caption) or both.
        outputs: the model's folder, with `images` in it or `images` itself.
        sources: the folder that `image` and `reference_img` start at; None for the table's.
        options: editor (default: the folder's name), field map, roots.
    """
    made = outputs / "images" if (outputs / "images").is_dir() else outputs
    given = sources or table.absolute().parent
    before = Pictures(given, "source", nested=True)
    after = Pictures(made, "output", nested=True)
    fields = Fields(ALIASES, options.mapping)
    editor = outputs.resolve().name if options.editor is None else options.editor

    def drafts(entry: Entry) -> Iterator[Draft]:
        values = entry.values()
        index, category = fields.text(values, "id"), fields.text(values, "type")
        names = fields.names(values, "source")
        if not names:
            raise BadEntry("expected a key image with one path or several", "source")
        paths = [before.path(name) for name in names]
        reference = fields.names(values, "reference")
        yield Draft(
            values={
                **fields.rest(values),
                **typed(category),
                **({"sources": names} if len(names) > 1 else {}),
                "id": index,
                "source": paths[0],
                "edited": after.path(f"{category}/{index}"),
                "reference": before.path(reference[0]) if reference else None,
                "instruction": fields.text(values, "instruction"),
                "edited_caption": fields.take(values, "edited_caption"),
                "editor": editor or None,
            },
            odd=several_sources(names),
        )

    return Import(
        read_entries(table),
        drafts,
        fields=fields,
        folders=[given, made],
        roots=options.roots,
        outputs=after,
    )
