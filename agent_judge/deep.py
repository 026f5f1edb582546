"""Rows that are probably wrong, found before anyone pays: what `validate --deep` looks for.

All of it is guesswork from texts and pixels, so it warns and never refuses. A wrong row is read as
a failure of the editing model otherwise: a mug that is not in its box cannot be made red.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields

import cv2
import numpy as np
from numpy.typing import NDArray

from agent_judge.images import RGB
from agent_judge.plan import Row
from agent_judge.records import Box, Sample, covered_area
from agent_judge.row_fields import COLUMNS
from agent_judge.tools.difference import find_differences

LARGE_SHARE = 0.10
"""DLEBench's targets cover up to a tenth of the picture; larger ones are another task."""
FLAT_LEVELS = 10.0
"""Grey levels (of 255) that a flat place stays within. Of 375 boxes around objects in photographs
none was below 30, and of places without an object every seventh was below 10."""

_SURROUNDINGS_SHARE, _SURROUNDINGS_PX = 0.15, 4.0
"""A box may fit so tightly that its object is flat: what is around it tells them apart."""
_FLAT_PERCENTILE = 98
_BLUR_PX, _SIDE_PX = 1.0, 512
_ADDS = re.compile(r"\b(add|insert|place|put|draw|write|paint|attach|hang|plant)\b", re.IGNORECASE)
"""What is to be added needs nothing where it goes."""
_LEAST_TWICE_WORDS = 4
_SAYS_NOTHING = {"", "null", "none", "nan", "na", "n/a", "todo", "tbd", "undefined", "instruction"}
_LIKE: Mapping[str, str] = {
    **dict.fromkeys(("bbox", "bboxes", "box", "bounding_box", "bounding_boxes"), "boxes"),
    **dict.fromkeys(("target_box", "target_boxes", "target_bbox", "gt_bbox"), "boxes"),
    **dict.fromkeys(("bbox_format", "boxes_format", "box_type"), "box_format"),
    **dict.fromkeys(("image_size", "frame", "box_size"), "box_frame"),
    **dict.fromkeys(("ref", "reference_image", "gt", "ground_truth", "target_image"), "reference"),
    **dict.fromkeys(("edit_type", "task_type", "instruction_type", "category"), "type"),
    **dict.fromkeys(("target", "object", "objects", "target_object"), "targets"),
    **dict.fromkeys(("model", "model_name", "method", "edit_model"), "editor"),
    **dict.fromkeys(("caption", "source_prompt", "prompt_clean"), "source_caption"),
    **dict.fromkeys(("target_caption", "target_prompt"), "edited_caption"),
    **dict.fromkeys(("label", "rating", "ratings"), "labels"),
}
_MASKS = {"mask", "masks", "mask_path", "object_mask"}
_ALIKE = 0.8
_DEFAULTS = {column.name: column.default for column in fields(Sample)}


class TextChecks:
    """What the rows' texts tell, looked at in their order: some of it takes two rows to see."""

    def __init__(self) -> None:
        self._tasks: dict[bytes, int] = {}
        self._outputs: dict[bytes, int] = {}
        self._told: set[str] = set()

    def warnings(self, line: int, sample: Sample) -> list[str]:
        """What is odd about a row's texts, each with what to do.

        Args:
            line: where it stands, to be named by the rows that repeat it.
            sample: the row.
        """
        return [*_instruction(sample), *self._doubles(line, sample), *self._columns(sample)]

    def _doubles(self, line: int, sample: Sample) -> Iterator[str]:
        words = " ".join(sample.instruction.casefold().split())
        task = _digest(str(sample.source), words, sample.editor)
        if (first := self._tasks.setdefault(task, line)) != line:
            yield (
                f"asks the same of the same source as line {first}: drop one, or tell editing "
                "models apart with `editor`"
            )
        elif (first := self._outputs.setdefault(_digest(str(sample.edited)), line)) != line:
            yield f"has the edited picture of line {first}: is `edited` the right file?"

    def _columns(self, sample: Sample) -> Iterator[str]:
        """Each column is told once: it is the same in all rows."""
        for name in sample.metadata:
            plain = name.casefold().replace("-", "_").replace(" ", "_")
            if name in self._told:
                continue
            if plain in _MASKS and sample.boxes is None:
                self._told.add(name)
                yield f"the column {name!r} is not read: make boxes with `import boxes-masks`"
            column = _LIKE.get(plain) or next(
                iter(difflib.get_close_matches(plain, COLUMNS, 1, _ALIKE)), None
            )
            if column is not None and getattr(sample, column) == _DEFAULTS[column]:
                self._told.add(name)
                yield f"the column {name!r} is not read: rename it if it holds {column!r}"


def picture_warnings(row: Row) -> Iterator[str]:
    """What is odd about a row's pictures and boxes, each with what to do.

    Args:
        row: decoded, in the source's frame.
    """
    if row.reference is not None:
        if not _differ(row.source, row.reference):
            yield "the reference shows no change of the source: give a right edit, or leave it out"
        elif np.array_equal(row.reference, row.edited):
            yield "the edited picture equals the reference: is `edited` the model's output?"
    height, width = row.source.shape[:2]
    share = covered_area(row.boxes) / (width * height)
    if share > LARGE_SHARE:
        yield (
            f"the boxes cover {share:.1%} of the picture: are they the targets' own? "
            f"(this protocol is for small objects, up to {LARGE_SHARE:.0%})"
        )
    if _ADDS.search(row.sample.instruction):
        return
    for number, box in enumerate(row.boxes, start=1):
        levels = unevenness(row.source, box)
        if levels < FLAT_LEVELS:
            yield (
                f"box {number} lies on a flat place of the source (within {levels:.0f} grey "
                "levels): nothing to edit is there; was it drawn on another picture or size?"
            )


def unevenness(pixels: RGB, box: Box) -> float:
    """How far the colours in and around a box depart from an even shade, in grey levels.

    A slope of brightness, as a wall has it, is no structure: the best plane is taken out of each
    channel. Blurred a little, so that grain and JPEG blocks do not count.

    Args:
        pixels: uint8 RGB, shape (H, W, 3).
        box: pixels of that picture, inside it.
    """
    height, width = pixels.shape[:2]
    margin_px = max(_SURROUNDINGS_PX, _SURROUNDINGS_SHARE * max(box.width, box.height))
    window = box.grow(margin_px).clip((width, height)) or box
    x1, y1, x2, y2 = map(int, window.outward().xyxy)
    part = _at_most(pixels[y1:y2, x1:x2], _SIDE_PX).astype(np.float32)
    smooth = np.asarray(cv2.GaussianBlur(part, (0, 0), _BLUR_PX), np.float32)
    return float(np.percentile(np.abs(smooth - _planes(smooth)).max(axis=2), _FLAT_PERCENTILE))


def _at_most(part: RGB, side_px: int) -> RGB:
    """The part itself, or shrunk to a longest side."""
    scale = side_px / max(part.shape[:2])
    if scale >= 1:
        return part
    return np.asarray(cv2.resize(part, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA))


def _planes(part: NDArray[np.float32]) -> NDArray[np.float64]:
    """The plane that fits each channel best (least squares)."""
    height, width, channels = part.shape
    y, x = np.mgrid[0 : 1 : height * 1j, 0 : 1 : width * 1j]
    base = np.stack([np.ones(x.size), x.ravel(), y.ravel()], axis=1)
    slopes, *_ = np.linalg.lstsq(base, part.reshape(-1, channels), rcond=None)
    return np.asarray((base @ slopes).reshape(part.shape))


def _differ(one: RGB, other: RGB) -> bool:
    return not np.array_equal(one, other) and bool(find_differences(one, other).regions)


def _instruction(sample: Sample) -> Iterator[str]:
    text = sample.instruction
    if not re.search(r"\w", text) or text.strip(" .").casefold() in _SAYS_NOTHING:
        yield f"the instruction {text!r:.40} says nothing: give the one that was edited by"
        return
    words = re.findall(r"\w+", text.casefold())
    half = len(words) // 2
    if len(words) >= _LEAST_TWICE_WORDS and words[:half] == words[half:]:
        yield f"the instruction says the same twice: {text!r:.80}"


def _digest(*texts: str) -> bytes:
    return hashlib.blake2b("\0".join(texts).encode(), digest_size=16).digest()
