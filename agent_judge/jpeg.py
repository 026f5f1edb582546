"""Whether a JPEG holds all of its picture: its decoders fill the rest with grey and say nothing."""

from __future__ import annotations

import io
import re

import numpy as np
from PIL import Image

_END = b"\xff\xd9"
_SCAN = 0xDA
_NEXT_MARKER = re.compile(rb"\xff[^\x00\xff]")
_MARKER_BEHIND_SCAN = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")
"""Inside a scan, FF 00 is a stuffed byte and FF D0 to FF D7 are restart marks."""
_MORE_DATA = b"\x5a\xc3" * 32
_CORNER_PX = 4
_FLAT_LEVELS = 2


def ends_early(image: Image.Image, data: bytes) -> bool:
    """Whether the compressed data stops before the picture does, though an end marker follows.

    A decoder ignores what stands between a complete picture's data and the end marker. So where
    bytes put in before that marker change the picture, it asked for more than the file had.
    That takes two more decodes. They are made only where the last corner is flat, as filled
    blocks are, or may look real because earlier scans gave it coarsely (progressive files).

    Args:
        image: the loaded picture, not yet turned.
        data: the file's bytes.
    """
    width, height = image.size
    progressive = "progressive" in image.info
    box = (max(width - _CORNER_PX, 0), max(height - _CORNER_PX, 0), width, height)
    if not progressive and np.ptp(np.asarray(image.crop(box).convert("L"))) > _FLAT_LEVELS:
        return False
    body = data[: _end_of_scans(data)]
    scale = 1 if progressive else 8  # an eighth shows block means only, enough for filled blocks
    return _decode(body + _END, scale) != _decode(body + _MORE_DATA + _END, scale)


def _end_of_scans(data: bytes) -> int:
    """Where the marker behind the last scan begins."""
    at = 2
    while at + 4 <= len(data) and data[at : at + 2] != _END:
        is_scan = data[at + 1] == _SCAN
        at += 2 + int.from_bytes(data[at + 2 : at + 4])
        marker = (_MARKER_BEHIND_SCAN if is_scan else _NEXT_MARKER).search(data, at)
        at = marker.start() if marker else len(data)
    return at


def _decode(data: bytes, scale: int) -> bytes:
    with Image.open(io.BytesIO(data), formats=("JPEG",)) as image:
        image.draft(None, (max(image.width // scale, 1), max(image.height // scale, 1)))
        return image.tobytes()
