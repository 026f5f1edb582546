"""One decoder and one encoder for every picture that the judge, the tools and the report see.

Whatever a file holds comes out as 8-bit sRGB, upright, without transparency, and every change on
the way is told in words. Files are known by their content; damaged ones are refused, never
half-decoded, because a grey lower half would be judged as an edit.

Pictures of another size than their source are brought into its pixel frame where one scale, or
uniform bars around the picture, explain the sizes; they are never stretched in silence.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
import struct
import threading
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFile, TiffImagePlugin, UnidentifiedImageError

from agent_judge.errors import GeometryError, PictureError
from agent_judge.jpeg import ends_early
from agent_judge.records import Box
from agent_judge.srgb import flat_srgb

RGB = NDArray[np.uint8]
"""uint8 sRGB, shape (H, W, 3)."""
MAX_PIXELS = 120_000_000
"""Larger pictures are refused from the header: above any usual camera, below any bomb."""
MAX_FILE_BYTES = 1 << 30
"""Larger files are refused unread."""
SUFFIXES = {
    **dict.fromkeys((".jpg", ".jpeg", ".jpe", ".jfif"), "JPEG"),
    **dict.fromkeys((".tif", ".tiff"), "TIFF"),
    **dict.fromkeys((".jp2", ".j2k", ".jpx"), "JPEG2000"),
    **dict.fromkeys((".ppm", ".pgm", ".pbm", ".pnm", ".pfm"), "PPM"),
    **dict.fromkeys((".bmp", ".dib"), "BMP"),
    **{".png": "PNG", ".webp": "WEBP", ".gif": "GIF", ".avif": "AVIF"},
}
"""File suffix -> format. Formats that start programs (EPS) or have no signature stay out."""

MAX_ASPECT_MISFIT = 0.02
"""Aspects that differ by no more are one picture scaled (editing models round sizes)."""

FORMATS = tuple(sorted(set(SUFFIXES.values())))
"""All formats that are read, by Pillow's names."""
_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
DAMAGE = (
    *(OSError, ValueError, SyntaxError, TypeError, LookupError, EOFError, ArithmeticError),
    *(AttributeError, AssertionError, RuntimeError, MemoryError, struct.error, zlib.error),
)
"""What Pillow's readers raise on damaged bytes: there is no one class for it."""
_BAR_LEVELS, _BAR_SHARE = 24, 0.99
"""A line belongs to a bar when this share of it lies this close to the bar's colour (JPEG)."""
_BAR_EDGE_PX, _BAR_EDGE_SHARE = 2, 0.01
"""How far a bar's edge may lie from where it should: pixels, share of the longer side."""


@dataclass(frozen=True, kw_only=True)
class Decoded:
    """A picture as everything here sees it."""

    pixels: RGB
    """Upright 8-bit sRGB."""
    notes: tuple[str, ...]
    """What was done to the file's content, in words."""
    sha256: str
    """Of the file's bytes."""
    format: str
    """What the content is: PNG, JPEG, ..."""


def load_image(path: str | os.PathLike[str]) -> RGB:
    """The picture in a file, upright, in sRGB, transparency flattened on white.

    Args:
        path: PNG, JPEG, WebP, GIF, TIFF, BMP, AVIF, JPEG 2000 or PNM, known by its content.

    Returns:
        uint8 RGB, shape (H, W, 3).

    Raises:
        PictureError: the file cannot be read, is damaged, no picture, or over the pixel limit.
    """
    return decode_image(Path(path)).pixels


def decode_image(source: Path | bytes) -> Decoded:
    """The picture with the notes and the checksum that go into its record.

    EXIF orientation is applied, an embedded colour profile and CMYK become sRGB, transparency is
    flattened on white, 16-bit and float values are scaled to 8 bit, and of an animation the first
    frame is taken. Safe to call from several threads.

    Args:
        source: a file, or its bytes.

    Raises:
        PictureError: as `load_image`; the message is one line that names the file.
    """
    name = "picture" if isinstance(source, bytes) else repr(str(source))
    data = source if isinstance(source, bytes) else _read(source)
    notes: list[str] = []
    try:
        with quiet_pillow(), Image.open(io.BytesIO(data), formats=FORMATS) as image:
            _check_size(image.size)
            kind = "JPEG" if image.format == "MPO" else str(image.format)
            suffix = "" if isinstance(source, bytes) else source.suffix.lower()
            if SUFFIXES.get(suffix, kind) != kind:
                notes.append(f"{kind} content in a {suffix} file")
            pixels = np.array(_upright_srgb(image, data, notes))
    except UnidentifiedImageError as err:
        raise PictureError(
            f"{name}: no whole picture of a known format ({', '.join(FORMATS)})"
        ) from err
    except Image.DecompressionBombError as err:
        raise PictureError(f"{name}: larger than {MAX_PIXELS // 10**6} megapixels") from err
    except DAMAGE as err:
        what = " ".join(str(err).split()) or type(err).__name__
        raise PictureError(f"{name}: cannot be decoded: {what}") from err
    checksum = hashlib.sha256(data).hexdigest()
    return Decoded(pixels=pixels, notes=tuple(notes), sha256=checksum, format=kind)


def encode_png(pixels: RGB) -> bytes:
    """The picture as PNG: lossless, quick, the same bytes for the same pixels.

    All rows have one filter: a search for each row's best takes as long again for 1 % of the size.
    Only runs are looked for: of photographs the usual search makes files 5 % larger, in half as
    much time again.
    """
    import cv2  # here alone, so that what only reads manifests does not load it

    quick = (
        *(cv2.IMWRITE_PNG_COMPRESSION, 1),
        *(cv2.IMWRITE_PNG_STRATEGY, cv2.IMWRITE_PNG_STRATEGY_RLE),
        *(cv2.IMWRITE_PNG_FILTER, cv2.IMWRITE_PNG_FILTER_UP),
    )
    _, data = cv2.imencode(".png", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), quick)
    return data.tobytes()


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


def _read(path: Path) -> bytes:
    name = repr(str(path))
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # reading a pipe or a device could block for ever
            raise PictureError(f"{name}: not a regular file")
        if status.st_size > MAX_FILE_BYTES:
            raise PictureError(f"{name}: {status.st_size} bytes, the limit is {MAX_FILE_BYTES}")
        return path.read_bytes()
    except OSError as err:
        raise PictureError(f"{name}: {err.strerror or err}") from err
    except ValueError as err:  # a NUL character
        raise PictureError(f"{name}: {err}") from err


def _check_size(size_wh: tuple[int, int]) -> None:
    width, height = size_wh
    if width * height > MAX_PIXELS:
        raise ValueError(f"{width}x{height} is larger than {MAX_PIXELS // 10**6} megapixels")


_quiet_lock = threading.Lock()
_quiet_depth = 0
_quiet_filters = warnings.catch_warnings()


@contextmanager
def quiet_pillow() -> Iterator[None]:
    """Pillow's warnings off, however many threads decode.

    `catch_warnings` swaps a list of the whole process: with one per thread, the thread that
    leaves last would restore the silenced list. So the first one in silences, the last one out
    restores.
    """
    global _quiet_depth, _quiet_filters
    with _quiet_lock:
        if _quiet_depth == 0:
            _quiet_filters = warnings.catch_warnings()
            _quiet_filters.__enter__()
            warnings.filterwarnings("ignore", module=r"PIL\.")
        _quiet_depth += 1
    try:
        yield
    finally:
        with _quiet_lock:
            _quiet_depth -= 1
            if _quiet_depth == 0:
                _quiet_filters.__exit__(None, None, None)


def _upright_srgb(image: ImageFile.ImageFile, data: bytes, notes: list[str]) -> Image.Image:
    is_tiff = isinstance(image, TiffImagePlugin.TiffImageFile)
    # A TIFF turns upright while it loads and forgets it; a PNG may keep its EXIF behind its pixels.
    turn = _orientation(image) if is_tiff else 1
    flat = flat_srgb(image, notes)
    if image.format in ("JPEG", "MPO") and ends_early(image, data):
        raise ValueError("the compressed data ends before the picture does")
    turn = turn if is_tiff else _orientation(image)
    if turn in _UPRIGHT:
        notes.append(f"turned upright (EXIF orientation {turn})")
    if _has_more_frames(image):
        notes.append("several pictures in the file: the first was taken")
    return flat if is_tiff or turn not in _UPRIGHT else flat.transpose(_UPRIGHT[turn])


def _orientation(image: Image.Image) -> int:
    try:
        turn = image.getexif().get(0x0112, 1)
    except DAMAGE:  # damaged EXIF is no damaged picture
        return 1
    return turn if isinstance(turn, int) else 1


def _has_more_frames(image: Image.Image) -> bool:
    try:
        return bool(getattr(image, "is_animated", False))
    except DAMAGE:  # there is a second frame, a damaged one
        return True


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
