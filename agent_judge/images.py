"""One decoder and one encoder for every picture that the judge, the tools and the report see.

Whatever a file holds comes out as 8-bit sRGB, upright, without transparency, and every change on
the way is told in words. Files are known by their content; damaged ones are refused, never
half-decoded, because a grey lower half would be judged as an edit.
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

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFile, TiffImagePlugin, UnidentifiedImageError

from agent_judge.errors import PictureError
from agent_judge.jpeg import ends_early
from agent_judge.remote import MAX_FILE_BYTES, bring, shown
from agent_judge.srgb import flat_srgb

RGB = NDArray[np.uint8]
"""uint8 sRGB, shape (H, W, 3)."""
MAX_PIXELS = 120_000_000
"""Larger pictures are refused from the header: above any usual camera, below any bomb."""
SUFFIXES = {
    **dict.fromkeys((".jpg", ".jpeg", ".jpe", ".jfif"), "JPEG"),
    **dict.fromkeys((".tif", ".tiff"), "TIFF"),
    **dict.fromkeys((".jp2", ".j2k", ".jpx"), "JPEG2000"),
    **dict.fromkeys((".ppm", ".pgm", ".pbm", ".pnm", ".pfm"), "PPM"),
    **dict.fromkeys((".bmp", ".dib"), "BMP"),
    **{".png": "PNG", ".webp": "WEBP", ".gif": "GIF", ".avif": "AVIF"},
}
"""File suffix -> format. Formats that start programs (EPS) or have no signature stay out."""

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
    profile: bytes | None
    """The ICC profile that the file names for its colours."""


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


def decode_image(source: Path | bytes, *, assumed_profile: bytes | None = None) -> Decoded:
    """The picture with the notes and the checksum that go into its record.

    EXIF orientation is applied, an embedded colour profile and CMYK become sRGB, transparency is
    flattened on white, 16-bit and float values are scaled to 8 bit, and of an animation the first
    frame is taken. Safe to call from several threads.

    Args:
        source: a file, or its bytes.
        assumed_profile: ICC profile of the colours of a file that names none; None for sRGB.

    Raises:
        PictureError: as `load_image`; the message is one line that names the file.
    """
    name = "picture" if isinstance(source, bytes) else repr(shown(source))
    data = source if isinstance(source, bytes) else _read(source)
    notes: list[str] = []
    try:
        with quiet_pillow(), Image.open(io.BytesIO(data), formats=FORMATS) as image:
            _check_size(image.size)
            kind = "JPEG" if image.format == "MPO" else str(image.format)
            suffix = "" if isinstance(source, bytes) else source.suffix.lower()
            if SUFFIXES.get(suffix, kind) != kind:
                notes.append(f"{kind} content in a {suffix} file")
            profile = image.info.get("icc_profile") or None
            pixels = np.array(_upright_srgb(image, data, notes, assumed_profile))
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
    return Decoded(pixels=pixels, notes=tuple(notes), sha256=checksum, format=kind, profile=profile)


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


def _read(path: Path) -> bytes:
    name = repr(shown(path))
    try:
        bring(path)
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


def _upright_srgb(
    image: ImageFile.ImageFile, data: bytes, notes: list[str], assumed_profile: bytes | None
) -> Image.Image:
    is_tiff = isinstance(image, TiffImagePlugin.TiffImageFile)
    # A TIFF turns upright while it loads and forgets it; a PNG may keep its EXIF behind its pixels.
    turn = _orientation(image) if is_tiff else 1
    flat = flat_srgb(image, notes, assumed_profile)
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
