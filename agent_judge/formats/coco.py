"""COCO detection files -> boxes by picture."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from agent_judge.errors import InputError
from agent_judge.formats.annotations import Annotation
from agent_judge.formats.json_reader import JsonFault, JsonReader

Key: TypeAlias = int | str
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
    images: dict[Key, tuple[str, tuple[int, int] | None]] = {}
    boxes: dict[Key, list[tuple[list[float], Key | None]]] = defaultdict(list)
    names: dict[Key, str] = {}
    for part, value in _values(path):
        try:
            if part == "images":
                images[_key(value, "id")] = (_text(value, "file_name"), _size(value))
            elif part == "categories":
                names[_key(value, "id")] = _text(value, "name")
            else:
                category_id = _key(value, "category_id") if "category_id" in value else None
                boxes[_key(value, "image_id")].append((_box(value), category_id))
        except (KeyError, TypeError) as err:
            raise InputError(f"{str(path)!r}: {part}: expected {err} in {value!r:.80}") from err
    if not images:
        raise InputError(f"{str(path)!r}: expected COCO's images, annotations and categories")
    if category is not None and category not in names.values():
        known = ", ".join(sorted(names.values()))
        raise InputError(f"--category {category!r}: expected one of {known}")
    for image, (name, size_wh) in images.items():
        named = [(box, names.get(c, "") if c is not None else "") for box, c in boxes[image]]
        kept = [(box, word) for box, word in named if category in (None, word)]
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


def _key(value: Any, name: str) -> Key:  # noqa: ANN401 - what the file holds
    if not isinstance(value[name], int | str):
        raise TypeError(f"a number as {name!r}")
    key: Key = value[name]
    return key


def _text(value: Any, name: str) -> str:  # noqa: ANN401
    if not isinstance(value[name], str):
        raise TypeError(f"text as {name!r}")
    return str(value[name])


def _box(value: Any) -> list[float]:  # noqa: ANN401
    box = value["bbox"]
    if not isinstance(box, list) or len(box) != 4:
        raise TypeError("four numbers as 'bbox'")
    return box


def _size(image: Mapping[str, Any]) -> tuple[int, int] | None:
    sides = image.get("width"), image.get("height")
    width, height = (side if type(side) is int and side > 0 else None for side in sides)
    return None if width is None or height is None else (width, height)
