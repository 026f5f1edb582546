"""DLEBench: `data.jsonl` with `Source_Images/` and `Reference_Images/` beside it.

The names of its box and type keys are not published, so they are looked for under many aliases
and the keys that were found are always told. Nor is there a rule for the names of outputs: they
may be named by an own key, the id, the reference or the source. One of these is taken for the
whole set, the one by which most outputs are found.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from agent_judge.formats.edit_types import typed
from agent_judge.formats.entries import BadEntry, Entry, Fields, read_entries
from agent_judge.formats.importing import Draft, Import, ImportOptions
from agent_judge.formats.pictures import Pictures
from agent_judge.images import SUFFIXES
from agent_judge.records import BoxFormat

ALIASES = {
    "id": ("id", "index", "idx", "sample_id", "uid", "key"),
    "source": ("image", "source_image", "source", "input_image", "image_path"),
    "reference": ("reference_image", "reference", "target_image", "gt_image"),
    "edited": ("edited_image", "edited", "output_image", "output", "result"),
    "instruction": ("edit_operation", "instruction", "edit_instruction", "edit_prompt"),
    "source_caption": ("prompt_clean", "source_caption", "source_prompt", "caption"),
    "edited_caption": (
        *("prompt_edited", "prompt_edit", "edited_caption", "edited_prompt"),
        *("target_caption", "target_prompt"),
    ),
    "type": (
        *("instruction_type", "edit_type", "type", "task_type", "operation_type"),
        *("editing_type", "category", "task"),
    ),
    "boxes": (
        *("boxes", "bboxes", "bbox", "box", "bounding_boxes", "bounding_box"),
        *("target_boxes", "target_bboxes", "target_box", "target_bbox", "gt_bbox", "coordinates"),
    ),
    "targets": ("targets", "target_objects", "target_object", "objects", "object", "target"),
}
_NAMING = ("edited", "id", "reference", "source")
_CORNERS = (("x1", "y1", "x2", "y2"), ("xmin", "ymin", "xmax", "ymax"))
_SIZES = (("x", "y", "width", "height"), ("x", "y", "w", "h"), ("left", "top", "width", "height"))


def import_dlebench(
    data: Path, outputs: Path, *, box_format: BoxFormat = "xyxy", options: ImportOptions
) -> Import:
    """Rows of DLEBench.

    Args:
        data: the dataset's folder, with `data.jsonl` in it; or the table itself.
        outputs: the editing model's pictures.
        box_format: how lists of four numbers are meant; boxes with named numbers say it
            themselves.
        options: editor, field map, roots.

    Raises:
        InputError: a folder or the table is missing.
    """
    table = data / "data.jsonl" if data.is_dir() else data
    before, after = Pictures(table.parent, "source", nested=True), Pictures(outputs, "output")
    fields = Fields(ALIASES, options.mapping)
    naming, id_column = _survey(table, fields, after)
    naming = "edited" if "edited" in options.mapping else naming
    lines: dict[str, int] = {}

    def drafts(entry: Entry) -> Iterator[Draft]:
        values = entry.values()
        instruction = fields.text(values, "instruction")
        reference = fields.take(values, "reference")
        id_ = _id(values, instruction, fields, id_column)
        output = after.path(str(fields.take(values, naming) or id_))
        if (first := lines.setdefault(output, entry.line)) != entry.line:
            told = f"{Path(output).name!r} is the output of line {first} too"
            raise BadEntry(f"{told}: tell which key names outputs with --map edited=KEY", "edited")
        yield Draft(
            values={
                **fields.rest(values),
                **typed(fields.take(values, "type")),
                **_boxes(fields.take(values, "boxes"), box_format),
                "id": id_,
                "source": _in(before, "Source_Images", fields.text(values, "source")),
                "edited": output,
                "reference": reference and _in(before, "Reference_Images", str(reference)),
                "instruction": instruction,
                "source_caption": fields.take(values, "source_caption"),
                "edited_caption": fields.take(values, "edited_caption"),
                "targets": _phrases(fields.take(values, "targets")),
                "editor": options.editor or None,
            }
        )

    return Import(
        read_entries(table),
        drafts,
        fields=fields,
        folders=[table.parent, outputs],
        roots=options.roots,
        outputs=after,
        remark=f"outputs are looked for by the name of the {naming}",
    )


def _survey(table: Path, fields: Fields, outputs: Pictures) -> tuple[str, str | None]:
    """The column by which most outputs are found, and the first whose names are unique."""
    n_entries = 0
    names: dict[str, set[str]] = {column: set() for column in _NAMING}
    n_found = dict.fromkeys(_NAMING, 0)
    for entry in read_entries(table):
        n_entries += 1
        for column in _NAMING if isinstance(entry.value, Mapping) else ():
            name = fields.take(entry.value, column)
            if isinstance(name, str | int):
                names[column].add(_stem(name))
                n_found[column] += outputs.has(str(name))
    best = max(_NAMING, key=lambda column: n_found[column])
    unique = (c for c in ("id", "reference", "source") if len(names[c]) == n_entries)
    return (best if n_found[best] else "source"), next(unique, None)


def _id(values: Mapping[str, Any], instruction: str, fields: Fields, id_column: str | None) -> str:
    """The name in a column that tells entries apart, else the source's with a checksum."""
    if id_column is not None:
        return _stem(fields.text(values, id_column))
    source = fields.text(values, "source")
    text = f"{source}\n{fields.take(values, 'reference')}\n{instruction}"
    return f"{_stem(source)}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _stem(name: str | int) -> str:
    path = PurePosixPath(str(name).replace("\\", "/"))
    return path.stem if path.suffix.lower() in SUFFIXES else path.name


def _in(pictures: Pictures, folder: str, name: str) -> str:
    """A picture by its name in one of the benchmark's folders, or by its whole path."""
    return pictures.path(name if pictures.has(name) else f"{folder}/{name}")


def _boxes(value: object, box_format: BoxFormat) -> dict[str, Any]:
    """The columns of a row that boxes give, however they are written."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as err:
            raise BadEntry(f"expected boxes, got the text {value!r:.60}", "boxes") from err
    many = value if isinstance(value, list) else [] if value is None else [value]
    if many and not isinstance(many[0], list | Mapping):
        many = [many]  # four numbers
    read = [_box(box, box_format) for box in many]
    formats = {kind for kind, _ in read}
    if len(formats) > 1:
        raise BadEntry(f"expected boxes of one kind, got {' and '.join(sorted(formats))}", "boxes")
    return {"boxes": [box for _, box in read], "box_format": formats.pop()} if read else {}


def _box(value: object, box_format: BoxFormat) -> tuple[str, list[Any]]:
    """A box and its format."""
    if isinstance(value, list):
        return box_format, value
    if isinstance(value, Mapping):
        for names, kind in (*((n, "xyxy") for n in _CORNERS), *((n, "xywh") for n in _SIZES)):
            if all(name in value for name in names):
                return kind, [value[name] for name in names]
    raise BadEntry(f"expected four numbers, got {value!r:.60}", "boxes")


def _phrases(value: object) -> list[str] | None:
    phrases = value if isinstance(value, list) else [value]
    return [phrase for phrase in phrases if isinstance(phrase, str) and phrase.strip()] or None
