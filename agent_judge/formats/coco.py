"""COCO detection files -> boxes by picture."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agent_judge.errors import InputError
from agent_judge.formats.annotations import Annotation
from agent_judge.formats.json_reader import JsonFault, JsonReader

_PARTS = ("images", "annotations", "categories")


def read_coco(path: Path, *, category: str | None = None) -> Iterator[Annotation]:
    """The boxes of each picture, as `xywh` on the picture's own size.

    Every annotation of a picture is taken for a target: a file of all objects there are is not
    what a judge of one edit needs.

    Args:
        path: `{"images": [...], "annotations": [...], "categories": [...]}`, in any order,
            streamed: of segmentations nothing is kept.
        category: take the boxes of this category only.

    Raises:
        InputError: it is no such file.
    """
    images: dict[object, tuple[str, tuple[int, int] | None]] = {}
    boxes: dict[object, list[tuple[list[float], object]]] = defaultdict(list)
    names: dict[object, str] = {}
    for part, value in _values(path):
        try:
            if part == "images":
                images[value["id"]] = (value["file_name"], _size(value))
            elif part == "categories":
                names[value["id"]] = value["name"]
            else:
                boxes[value["image_id"]].append((value["bbox"], value.get("category_id")))
        except (KeyError, TypeError) as err:
            raise InputError(f"{str(path)!r}: {part}: expected {err} in {value!r:.80}") from err
    if not images:
        raise InputError(f"{str(path)!r}: expected COCO's images, annotations and categories")
    if category is not None and category not in names.values():
        known = ", ".join(sorted(names.values()))
        raise InputError(f"--category {category!r}: expected one of {known}")
    for image, (name, size_wh) in images.items():
        kept = [(b, names.get(c, "")) for b, c in boxes[image] if category in (None, names.get(c))]
        yield Annotation(
            name=name,
            boxes=[box for box, _ in kept],
            box_format="xywh",
            box_frame=size_wh,
            targets=[word for word in dict.fromkeys(word for _, word in kept) if word],
        )


def _values(path: Path) -> Iterator[tuple[str, Any]]:
    with JsonReader(path) as reader:
        try:
            for key in reader.members():
                if key not in _PARTS:
                    reader.value()
                    continue
                for _ in reader.elements():
                    yield key, reader.value()
        except JsonFault as err:
            raise InputError(f"{str(path)!r}, line {reader.line}: {err}") from err


def _size(image: Mapping[str, Any]) -> tuple[int, int] | None:
    width, height = image.get("width"), image.get("height")
    return (width, height) if isinstance(width, int) and isinstance(height, int) else None
