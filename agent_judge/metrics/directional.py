"""Whether the picture changed in the direction in which the words did (BPM's S_modify)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agent_judge.errors import ToolError
from agent_judge.images import RGB
from agent_judge.metrics.pair import check_pair
from agent_judge.records import Box

Vectors = NDArray[np.float32]
"""Unit vectors, shape (N, D)."""

_CROP_SCALE = 1.5
_LEAST_LENGTH = 1e-5
"""Differences of unit vectors below it are rounding of 32-bit floats, not a direction."""


class Encoder(Protocol):
    """A loaded network that puts pictures and texts into one space; safe from several threads."""

    @property
    def name(self) -> str:
        """Network and weights, for the record."""

    def pictures(self, pictures: Sequence[RGB]) -> Vectors:
        """A unit vector for each picture."""

    def texts(self, texts: Sequence[str]) -> Vectors:
        """A unit vector for each text."""


def directional_similarity(
    source: RGB,
    edited: RGB,
    *,
    boxes: Sequence[Box],
    source_text: str | None,
    edited_text: str | None,
    encoder: Encoder,
) -> float | None:
    """Cosine between the step of the picture and the step of the text.

    `cos(E(edited crop) - E(source crop), E(edited text) - E(source text))` with unit vectors. An
    addition has no source text and steps towards `E(edited text)`; a removal has no edited text and
    steps along `-E(source text)`.

    Args:
        source: uint8 RGB, shape (H, W, 3).
        edited: the same frame, shape (H, W, 3).
        boxes: the edited region in pixels of that frame; empty for the whole picture.
        source_text: what the source shows there; None for an addition.
        edited_text: what the edited picture is to show there; None for a removal.
        encoder: the network.

    Returns:
        -1 (the opposite was done) to 1 (what was told); None where the picture made no step,
        because the crops are the same to the network: no angle is defined then.

    Raises:
        ToolError: the texts are the same to the network, or it gives no numbers.
        ValueError: shapes do not fit, there is no text at all, or no box lies in the picture.
    """
    check_pair(source, edited)
    given = [text for text in (source_text, edited_text) if text is not None]
    if not given:
        raise ValueError("an edit must have a source text, an edited text or both, got neither")
    before, after = (_crop(pixels, boxes) for pixels in (source, edited))
    if np.array_equal(before, after):
        return None
    vectors = encoder.texts(given)
    wanted = vectors[-1] - vectors[0] if len(given) == 2 else vectors[0]
    e_before, e_after = encoder.pictures([before, after])
    # What says nothing of the picture must not read as a picture that did not change.
    if not np.isfinite([*vectors, e_before, e_after]).all():
        raise ToolError(f"{encoder.name} gives no numbers for these pictures and texts")
    if np.linalg.norm(wanted) < _LEAST_LENGTH:
        raise ToolError(f"to {encoder.name} these are one text: {' / '.join(map(repr, given))}")
    return cosine(e_after - e_before, -wanted if edited_text is None else wanted)


def cosine(one: NDArray[np.float32], other: NDArray[np.float32]) -> float | None:
    """Cosine of the angle between two vectors, -1 to 1; None where one of them has no length.

    Example:
        >>> cosine(np.array([1, 0]), np.array([0, 2])), cosine(np.array([1, 0]), np.zeros(2))
        (0.0, None)
    """
    a, b = one.astype(np.float64), other.astype(np.float64)
    lengths = float(np.linalg.norm(a)), float(np.linalg.norm(b))
    if not min(lengths) >= _LEAST_LENGTH:
        return None
    return float(np.clip(a @ b / (lengths[0] * lengths[1]), -1, 1))


def edit_window(boxes: Sequence[Box], size_wh: tuple[int, int]) -> Box | None:
    """The box around all boxes, one and a half times as wide and high, whole pixels, clipped.

    Args:
        boxes: in pixels of the picture; empty for the whole picture.
        size_wh: the picture's width and height.

    Returns:
        None where nothing of it lies in the picture.

    Example:
        >>> edit_window([Box(40, 40, 60, 50), Box(50, 60, 80, 80)], (100, 84)).xyxy
        (30, 30, 90, 84)
    """
    if not boxes:
        return Box(0, 0, *size_wh)
    box = functools.reduce(Box.union, boxes)
    x, y = (_CROP_SCALE - 1) / 2 * box.width, (_CROP_SCALE - 1) / 2 * box.height
    return Box(box.x1 - x, box.y1 - y, box.x2 + x, box.y2 + y).outward().clip(size_wh)


def _crop(pixels: RGB, boxes: Sequence[Box]) -> RGB:
    size_wh = (pixels.shape[1], pixels.shape[0])
    window = edit_window(boxes, size_wh)
    if window is None:
        raise ValueError(f"no box lies in a picture of {size_wh}")
    x1, y1, x2, y2 = (int(v) for v in window.xyxy)
    return pixels[y1:y2, x1:x2]
