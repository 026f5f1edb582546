"""How a picture of any size lies in its source's pixel frame.

Pictures of another size than their source are brought into its frame where one scale, or uniform
bars around the picture, explain the sizes; they are never stretched in silence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from agent_judge.errors import GeometryError
from agent_judge.images import RGB
from agent_judge.records import Box

MAX_ASPECT_MISFIT = 0.02
"""Aspects that differ by no more are one picture scaled (editing models round sizes)."""
_BAR_LEVELS, _BAR_SHARE = 24, 0.99
"""A line belongs to a bar when this share of it lies this close to the bar's colour (JPEG)."""
_BAR_EDGE_PX, _BAR_EDGE_SHARE = 2, 0.01
"""How far a bar's edge may lie from where it should: pixels, share of the longer side."""


@dataclass(frozen=True, kw_only=True)
class FrameMap:
    """How a picture of any size lies in its source's pixel frame."""

    kind: Literal["identical", "scaled", "letterboxed"]
    source_wh: tuple[int, int]
    content: Box
    """The part of the picture that shows the source's frame, in the picture's pixels."""
    notes: tuple[str, ...] = ()
    """What brings it into the source's frame, in words; empty for identical sizes."""

    def to_source(self, box: Box) -> Box:
        """A box of the picture in pixels of the source, not clipped."""
        x, y = self.source_wh[0] / self.content.width, self.source_wh[1] / self.content.height
        left, top = self.content.x1, self.content.y1
        return Box((box.x1 - left) * x, (box.y1 - top) * y, (box.x2 - left) * x, (box.y2 - top) * y)

    def from_source(self, box: Box) -> Box:
        """A box of the source in pixels of the picture, not clipped."""
        x, y = self.content.width / self.source_wh[0], self.content.height / self.source_wh[1]
        left, top = self.content.x1, self.content.y1
        return Box(box.x1 * x + left, box.y1 * y + top, box.x2 * x + left, box.y2 * y + top)


def aspect_misfit(one_wh: tuple[int, int], other_wh: tuple[int, int]) -> float:
    """By which share two aspect ratios differ; 0 where rounding to whole pixels explains it.

    Example:
        >>> round(aspect_misfit((600, 400), (592, 400)), 4), aspect_misfit((600, 400), (200, 133))
        (0.0135, 0.0)
    """
    (w1, h1), (w2, h2) = sorted((one_wh, other_wh), reverse=True)
    if abs(w1 * h2 / h1 - w2) < 1 or abs(h1 * w2 / w1 - h2) < 1:
        return 0.0
    ratio = w1 * h2 / (h1 * w2)
    return round(max(ratio, 1 / ratio) - 1, 9)  # so that 101/100 is within 1 %


def frame_of(source: RGB, picture: RGB) -> FrameMap:
    """How `picture` lies in the source's pixel frame.

    Same-size pictures always share it. Otherwise one scale must explain the sizes (aspects within
    `MAX_ASPECT_MISFIT`), or uniform bars around the picture must.

    Raises:
        GeometryError: neither does; the message states both sizes.
    """
    source_wh, size_wh = _size_wh(source), _size_wh(picture)
    whole = Box(0, 0, *size_wh)
    if source_wh == size_wh:
        return FrameMap(kind="identical", source_wh=source_wh, content=whole)
    sizes = f"{size_wh[0]}x{size_wh[1]} scaled to the source's {source_wh[0]}x{source_wh[1]}"
    misfit = aspect_misfit(source_wh, size_wh)
    if misfit <= MAX_ASPECT_MISFIT:
        notes = (sizes, f"its aspect differs by {misfit:.1%}: stretched") if misfit else (sizes,)
        return FrameMap(kind="scaled", source_wh=source_wh, content=whole, notes=notes)
    content = _inside_bars(source, picture)
    if content is None:
        raise GeometryError(
            f"{size_wh[0]}x{size_wh[1]} against the source's {source_wh[0]}x{source_wh[1]}: "
            f"neither one scale (aspects differ by {misfit:.0%}) nor uniform bars explain it"
        )
    x1, y1, x2, y2 = (round(v) for v in content.xyxy)
    notes = (f"bars around {x1},{y1},{x2},{y2} left out", sizes)
    return FrameMap(kind="letterboxed", source_wh=source_wh, content=content, notes=notes)


def to_source_frame(picture: RGB, frame: FrameMap) -> RGB:
    """The picture at the source's size, resampled with anti-aliasing, bars left out.

    Args:
        picture: the picture that `frame` was made for; returned itself when of the same size.
        frame: from `frame_of`.
    """
    if frame.kind == "identical":
        return picture
    image = Image.fromarray(picture)
    return np.array(image.resize(frame.source_wh, Image.Resampling.BICUBIC, frame.content.xyxy))


def _size_wh(pixels: RGB) -> tuple[int, int]:
    return pixels.shape[1], pixels.shape[0]


def _inside_bars(source: RGB, picture: RGB) -> Box | None:
    """The part of `picture` inside uniform bars that shows the source's frame, if there is one.

    A bar may run on into lines of its colour that belong to the picture (night sky below a black
    bar). So such lines are left out of the source as well, and what remains must agree.
    """
    source_wh, size_wh = _size_wh(source), _size_wh(picture)
    margins = np.array(
        [
            _margins(ours, theirs)
            for ours, theirs in zip(_from_sides(source), _from_sides(picture), strict=True)
        ]
    )
    kept, seen = _without(source_wh, margins[:, 0]), _without(size_wh, margins[:, 1])
    if kept is None or seen is None:
        return None
    for content in _fitted_into(source_wh, size_wh):
        expected = FrameMap(kind="letterboxed", source_wh=source_wh, content=content)
        off_px = np.subtract(expected.from_source(kept).xyxy, seen.xyxy)
        if np.abs(off_px).max() <= max(_BAR_EDGE_PX, _BAR_EDGE_SHARE * max(size_wh)):
            return content
    x, y = seen.width / kept.width, seen.height / kept.height
    left, top = seen.x1 - kept.x1 * x, seen.y1 - kept.y1 * y
    content = Box(left, top, left + source_wh[0] * x, top + source_wh[1] * y)
    outside_px = max(-left, -top, content.x2 - size_wh[0], content.y2 - size_wh[1])
    if outside_px > _BAR_EDGE_PX or max(x / y, y / x) - 1 > MAX_ASPECT_MISFIT:
        return None
    return content.clip(size_wh)


def _fitted_into(source_wh: tuple[int, int], size_wh: tuple[int, int]) -> list[Box]:
    """Where the source lies when scaled to fit into a picture: centred, at the start, the end."""
    scale = min(size_wh[0] / source_wh[0], size_wh[1] / source_wh[1])
    width, height = round(source_wh[0] * scale), round(source_wh[1] * scale)
    free_x, free_y = size_wh[0] - width, size_wh[1] - height
    corners = [(free_x // 2, free_y // 2), (0, 0), (free_x, free_y)]
    return [Box(x, y, x + width, y + height) for x, y in corners]


def _from_sides(pixels: RGB) -> tuple[RGB, RGB, RGB, RGB]:
    """The picture's lines counted from the left, top, right and bottom."""
    columns = pixels.transpose(1, 0, 2)
    return columns, pixels, columns[::-1], pixels[::-1]


def _margins(source_lines: RGB, lines: RGB) -> tuple[int, int]:
    """How many lines at one side show only the picture's colour there: of source and picture."""
    colour = np.median(lines[0], axis=0)
    margin = _run(lines, colour)
    return (_run(source_lines, colour) if margin else 0), margin


def _run(lines: RGB, colour: NDArray[np.float64]) -> int:
    for n, line in enumerate(lines):
        if (np.abs(line - colour).max(axis=1) <= _BAR_LEVELS).mean() < _BAR_SHARE:
            return n
    return len(lines)


def _without(size_wh: tuple[int, int], margins: NDArray[np.int_]) -> Box | None:
    left, top, right, bottom = map(int, margins)
    whole = Box(0, 0, *size_wh)
    if left + right >= whole.width or top + bottom >= whole.height:
        return None
    return Box(left, top, whole.x2 - right, whole.y2 - bottom)
