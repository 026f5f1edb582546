"""Reads one line of text, where the extra `[ocr]` is installed, and compares readings."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable
from importlib import metadata
from typing import Any

import cv2
import numpy as np

from agent_judge.judges.measuring.align import Planes
from agent_judge.records import Box

_PACKAGE = "rapidocr-onnxruntime"
_LINE_PX = 48
"""Height of the lines that the network learnt on."""
_MARGIN = 0.15
"""Share of the line's height that is read beyond its box: letters may be larger than before."""
_SURE = 0.8
"""Mean confidence of the letters from which a reading is believed."""
_ALIKE = 0.7
"""Readings that share more than this may be one word misread."""
_TWINS = str.maketrans("oil", "011")
"""Letters that look like figures in one font or another."""


def reader_version() -> str | None:
    """The version of the network that reads; None where the extra `[ocr]` is not installed."""
    try:
        return metadata.version(_PACKAGE)
    except metadata.PackageNotFoundError:
        return None


def read_line(lab: Planes, box: Box) -> str | None:
    """The line of text in a box; None where there is none, or it cannot be read for sure.

    Args:
        lab: CIE Lab, shape (h, w, 3).
        box: around the line, pixels of `lab`.
    """
    reader = _reader()
    if reader is None:
        return None
    size_wh = (lab.shape[1], lab.shape[0])
    part = box.grow(_MARGIN * box.height).outward().clip(size_wh)
    if part is None:
        return None
    x1, y1, x2, y2 = map(int, part.xyxy)
    rgb = cv2.cvtColor(np.ascontiguousarray(lab[y1:y2, x1:x2]), cv2.COLOR_Lab2BGR)
    times = max(1.0, _LINE_PX / (y2 - y1))
    large = cv2.resize(rgb, None, fx=times, fy=times, interpolation=cv2.INTER_CUBIC)
    pixels = np.clip(np.rint(large * 255), 0, 255).astype(np.uint8)
    lines, _ = reader(pixels, use_det=False, use_cls=False, use_rec=True)
    text, confidence = lines[0] if lines else ("", 0.0)
    return str(text) if canonical(str(text)) and confidence > _SURE else None


def canonical(text: str) -> str:
    """A text without what no reader tells for sure: case, spaces, marks, look-alikes.

    Example:
        >>> canonical("Hello, 10!") == canonical("HELL0 IO")
        True
    """
    return "".join(c for c in text.casefold() if c.isalnum()).translate(_TWINS)


def is_other(first: str, second: str) -> bool:
    """Whether two readings are of two texts, and not of one misread.

    Example:
        >>> is_other("TAXI", "EXIT"), is_other("TAXI", "TAX1!"), is_other("BUS", "BUSI")
        (True, False, False)
    """
    likeness = difflib.SequenceMatcher(None, canonical(first), canonical(second)).ratio()
    return likeness < _ALIKE


@functools.cache
def _reader() -> Callable[..., Any] | None:
    if reader_version() is None:
        return None
    from rapidocr_onnxruntime import RapidOCR

    reader: Callable[..., Any] = RapidOCR()
    return reader
