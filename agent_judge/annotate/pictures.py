"""The pictures of a row as raters see them: in the judge's frame, at full resolution."""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

from agent_judge.errors import OutputFault, SampleError
from agent_judge.images import RGB, encode_png
from agent_judge.intake import take_in
from agent_judge.records import Box, Sample

DIFFERENCE = "difference"
"""Name of the picture that is made on demand."""
_SHOWN = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".avif": "image/avif",
}
"""Suffixes whose files every browser shows as they are."""
_KEPT_ROWS = 6
_OVERLAY_RGB = (255, 0, 200)
_FAINT_LEVELS, _FULL_LEVELS = 8, 72
"""Up to the first, differences are noise of re-encoding; from the second the colour is full."""


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A picture as it is sent."""

    data: bytes
    mime: str


@dataclass(frozen=True, kw_only=True)
class ShownRow:
    """The pictures of a row, in one pixel frame."""

    size_wh: tuple[int, int]
    boxes: tuple[Box, ...]
    """Given targets, pixels of the source."""
    pictures: Mapping[str, Picture]
    """`source`, `edited`, and `reference` where there is one."""


class Pictures:
    """Decodes rows when they are looked at, and keeps the last few. Safe from any thread."""

    def __init__(self) -> None:
        self._rows: OrderedDict[str, ShownRow | None] = OrderedDict()
        self._decoding = threading.Lock()

    def row(self, sample: Sample) -> ShownRow | None:
        """The pictures of a row; None where it cannot be rated.

        Why is not told: the message would name the file, and the file may name the editor.
        """
        with self._decoding:
            if sample.id not in self._rows:
                self._rows[sample.id] = _show(sample)
            self._rows.move_to_end(sample.id)
            while len(self._rows) > _KEPT_ROWS:
                self._rows.popitem(last=False)
            return self._rows[sample.id]

    def difference(self, sample: Sample) -> Picture | None:
        """Where the pictures differ, to lie over the edited one; None where it cannot be told."""
        with self._decoding:
            try:
                row = take_in(sample).row
            except (SampleError, OutputFault):
                return None
        return Picture(data=difference_overlay(row.source, row.edited), mime="image/png")


def _show(sample: Sample) -> ShownRow | None:
    try:
        intake = take_in(sample)
    except (SampleError, OutputFault):
        return None
    row = intake.row
    decoded = {"source": row.source, "edited": row.edited, "reference": row.reference}
    files = {"source": sample.source, "edited": sample.edited, "reference": sample.reference}
    changed = {note.split(": ", 1)[0] for note in intake.notes}
    return ShownRow(
        size_wh=(row.source.shape[1], row.source.shape[0]),
        boxes=row.boxes,
        pictures={
            name: _picture(pixels, None if name in changed else files[name])
            for name, pixels in decoded.items()
            if pixels is not None
        },
    )


def _picture(pixels: RGB, file: Path | None) -> Picture:
    """The file itself where a browser shows it as the judge gets it, else its pixels as PNG."""
    mime = None if file is None else _SHOWN.get(file.suffix.lower())
    if file is None or mime is None:
        return Picture(data=encode_png(pixels), mime="image/png")
    return Picture(data=file.read_bytes(), mime=mime)


def difference_overlay(source: RGB, edited: RGB) -> bytes:
    """A PNG that is opaque where two pictures differ and clear where they do not.

    It is plain arithmetic on purpose: what the judge's own tool finds worth a look would steer
    the rater to the judge's view.

    Args:
        source: uint8 RGB, shape (H, W, 3).
        edited: the same shape.
    """
    smooth = [cv2.blur(pixels, (3, 3)) for pixels in (source, edited)]
    apart = cv2.absdiff(smooth[0], smooth[1]).max(axis=2).astype(np.float32)
    strength = (apart - _FAINT_LEVELS) / (_FULL_LEVELS - _FAINT_LEVELS)
    overlay = np.empty((*apart.shape, 4), np.uint8)
    overlay[..., :3] = _OVERLAY_RGB
    overlay[..., 3] = (strength.clip(0, 1) * 255).astype(np.uint8)
    out = io.BytesIO()
    Image.fromarray(overlay).save(out, "PNG", compress_level=1)
    return out.getvalue()
