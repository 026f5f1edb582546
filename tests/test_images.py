"""Every kind of picture file becomes upright opaque 8-bit sRGB, or one clear line."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import threading
import warnings
import zlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageCms

from agent_judge.errors import PictureError
from agent_judge.images import MAX_PIXELS, decode_image, encode_png, load_image
from tests.pictures import backdrop, encoded, scene

TURNS: dict[int, Callable[[np.ndarray], np.ndarray]] = {
    1: lambda a: a,
    2: lambda a: a[:, ::-1],
    3: lambda a: a[::-1, ::-1],
    4: lambda a: a[::-1],
    5: lambda a: a.transpose(1, 0, 2),
    6: lambda a: np.rot90(a, -1),
    7: lambda a: np.rot90(a, 2).transpose(1, 0, 2),
    8: lambda a: np.rot90(a),
}
"""EXIF orientation -> how the stored rows are shown (EXIF 2.3, tag 0x0112)."""


def exif(orientation: int) -> Image.Exif:
    tags = Image.Exif()
    tags[0x0112] = orientation
    return tags


def png_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, depth: int, colour: int, rows: bytes, *chunks: bytes) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    body = (png_chunk(b"IHDR", head), *chunks, png_chunk(b"IDAT", rows), png_chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(body)


def bomb(side_px: int) -> bytes:
    """A 1-bit PNG of a few kilobytes that unpacks to `side_px` squared."""
    deflate = zlib.compressobj(9)
    row = bytes(1 + (side_px + 7) // 8)
    packed = b"".join(deflate.compress(row) for _ in range(side_px)) + deflate.flush()
    return png(side_px, side_px, 1, 0, packed)


def swapped_profile() -> bytes:
    """sRGB with red and green exchanged: a profile whose effect is plain to see."""
    data = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    return data.replace(b"rXYZ", b"tmp!").replace(b"gXYZ", b"rXYZ").replace(b"tmp!", b"gXYZ")


@pytest.mark.parametrize("fmt", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("turn", range(1, 9))
def test_exif_orientation_is_applied(fmt: str, turn: int):
    stored = backdrop((40, 24))
    plain = decode_image(encoded(stored, fmt)).pixels
    decoded = decode_image(encoded(stored, fmt, exif=exif(turn)))
    np.testing.assert_array_equal(decoded.pixels, TURNS[turn](plain))
    assert (f"EXIF orientation {turn}" in "; ".join(decoded.notes)) == (turn != 1)


def test_turned_jpeg_and_upright_png_share_size_and_content():  # I01
    upright = scene((40, 100), side_px=10).pixels
    stored = np.rot90(upright)
    turned = decode_image(encoded(stored, "JPEG", exif=exif(6), quality=95, subsampling=0)).pixels
    assert turned.shape == upright.shape == (100, 40, 3)
    assert np.abs(turned.astype(int) - upright).mean() < 4


def test_damaged_exif_is_no_damaged_picture():
    data = encoded(backdrop((16, 16)), "JPEG", exif=b"Exif\0\0II*\0\xff\xff\xff\xff")
    assert decode_image(data).pixels.shape == (16, 16, 3)


def test_hidden_colours_below_transparency_do_not_show():  # I03
    alpha = np.full((60, 80), 255, np.uint8)
    alpha[:50] = 0
    pair = []
    for hidden in (0, 255):
        colour = backdrop((80, 60))
        colour[:50] = hidden
        pair.append(decode_image(encoded(np.dstack([colour, alpha]))))
    np.testing.assert_array_equal(pair[0].pixels, pair[1].pixels)
    assert (pair[0].pixels[:50] == 255).all()
    assert pair[0].notes == ("transparency flattened on white",)


def test_half_transparency_is_blended_with_white():
    rgba = np.full((4, 5, 4), (100, 0, 200, 128), np.uint8)
    expected = np.rint(np.array([100, 0, 200]) * 128 / 255 + 255 * 127 / 255)
    assert np.abs(decode_image(encoded(rgba)).pixels - expected).max() <= 1


def test_an_opaque_alpha_channel_changes_nothing():
    pixels = backdrop((20, 10))
    decoded = decode_image(encoded(np.dstack([pixels, np.full((10, 20), 255, np.uint8)])))
    np.testing.assert_array_equal(decoded.pixels, pixels)
    assert decoded.notes == ()


def palette_image() -> Image.Image:
    image = Image.fromarray(np.repeat(np.arange(4, dtype=np.uint8), 4).reshape(4, 4), "L")
    image = image.convert("P")
    image.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9])
    return image


def test_palette_transparency_given_as_one_index():
    decoded = decode_image(encoded(palette_image(), transparency=2))
    rows = [(255, 0, 0), (0, 255, 0), (255, 255, 255), (9, 9, 9)]
    assert [tuple(row[0]) for row in decoded.pixels] == rows


def test_palette_transparency_given_per_index():
    decoded = decode_image(encoded(palette_image(), transparency=bytes([0, 255, 255, 0])))
    rows = [(255, 255, 255), (0, 255, 0), (0, 0, 255), (255, 255, 255)]
    assert [tuple(row[0]) for row in decoded.pixels] == rows


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr"])
def test_every_mode_becomes_three_channels(mode: str):  # T09
    image = Image.fromarray(backdrop((24, 16))).convert("RGBA" if mode == "PA" else "RGB")
    image = image.convert(mode)
    fmt = "TIFF" if mode in ("PA", "CMYK", "YCbCr") else "PNG"
    pixels = decode_image(encoded(image, fmt)).pixels
    assert pixels.shape == (16, 24, 3)
    assert pixels.dtype == np.uint8
    assert 60 < pixels.mean() < 200


def test_grey_with_alpha_is_flattened_on_white():  # T09
    decoded = decode_image(encoded(Image.new("LA", (8, 6), (0, 0))))
    assert (decoded.pixels == 255).all()


def ramp16() -> np.ndarray:
    return np.arange(256 * 256, dtype=np.uint16).reshape(256, 256)


@pytest.mark.parametrize("fmt", ["PNG", "TIFF", "PPM"])
def test_sixteen_bit_grey_keeps_256_levels(fmt: str):  # I05
    decoded = decode_image(encoded(Image.fromarray(ramp16()), fmt))
    np.testing.assert_array_equal(decoded.pixels[..., 0], ramp16() // 256)
    assert "16-bit" in "; ".join(decoded.notes)


def test_sixteen_bit_colour_and_grey_scale_alike():
    values = ramp16()[::8, ::8].astype(">u2")
    height, width = values.shape
    rgb = np.repeat(values[..., None], 3, axis=2)
    rows = zlib.compress(b"".join(b"\0" + row.tobytes() for row in rgb))
    decoded = decode_image(png(width, height, 16, 2, rows))
    np.testing.assert_array_equal(decoded.pixels[..., 1], values // 256)
    assert decoded.notes == ("16-bit channels scaled to 8 bit",)


@pytest.mark.parametrize(("colour", "channels"), [(0, 1), (2, 3)], ids=["grey", "colour"])
def test_a_transparent_16_bit_colour_is_flattened(colour: int, channels: int):
    values = np.full((2, 3, channels), 0x1234, ">u2")
    values[0] = 0x8001
    rows = zlib.compress(b"".join(b"\0" + row.tobytes() for row in values))
    key = png_chunk(b"tRNS", struct.pack(">H", 0x8001) * channels)
    pixels = decode_image(png(3, 2, 16, colour, rows, key)).pixels
    assert (pixels[0] == 255).all()
    assert (pixels[1] == 0x12).all()


def tiff_grey(values: np.ndarray, *, signed: bool = False) -> bytes:
    """An uncompressed little-endian TIFF of one strip: Pillow writes no signed 16-bit ones."""
    height, width = values.shape
    raw = values.tobytes()
    tags = [
        *((256, 3, width), (257, 3, height), (258, 3, values.itemsize * 8), (259, 3, 1)),
        *((262, 3, 1), (273, 4, 8), (277, 3, 1), (278, 3, height), (279, 4, len(raw))),
        (339, 3, 2 if signed else 1),
    ]
    entries = b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in tags)
    directory = struct.pack("<H", len(tags)) + entries + bytes(4)
    return struct.pack("<2sHI", b"II", 42, 8 + len(raw)) + raw + directory


@pytest.mark.parametrize(
    ("dtype", "signed"), [("<u2", False), ("<i2", True), ("<u4", False), ("<i4", True)]
)
def test_wide_tiff_grey_spans_black_to_white(dtype: str, signed: bool):
    white = np.iinfo(dtype).max
    decoded = decode_image(tiff_grey(np.array([[0, white // 2, white]], dtype), signed=signed))
    assert decoded.pixels[0, :, 0].tolist() == [0, 127, 255]
    assert decoded.notes == (f"{np.dtype(dtype).itemsize * 8}-bit grey scaled to 8 bit",)


@pytest.mark.parametrize("white", [1.0, 255.0, 65535.0])
def test_float_grey_is_scaled_from_its_range(white: float):
    values = np.linspace(0, white, 256, dtype=np.float32).reshape(16, 16)
    decoded = decode_image(encoded(Image.fromarray(values), "TIFF"))
    assert decoded.pixels[..., 0].ravel().tolist() == list(range(256))
    assert "float" in decoded.notes[0]


def test_float_highlights_above_white_do_not_darken_the_rest():
    values = np.array([[0.5, 1.3]], np.float32)
    pixels = decode_image(encoded(Image.fromarray(values), "TIFF")).pixels
    assert pixels[0, :, 0].tolist() == [128, 255]


def test_float_that_is_not_finite_is_refused():
    values = np.array([[0.5, np.nan]], np.float32)
    with pytest.raises(PictureError, match="not finite"):
        decode_image(encoded(Image.fromarray(values), "TIFF"))


def test_cmyk_ink_becomes_the_colour_it_prints():
    inks = Image.new("CMYK", (8, 8), (0, 255, 255, 0))
    decoded = decode_image(encoded(inks, "JPEG", quality=95))
    assert np.abs(decoded.pixels.astype(int) - (255, 0, 0)).max() <= 4
    assert "CMYK" in decoded.notes[0]


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P"])
def test_an_embedded_profile_is_applied(mode: str):
    image = Image.new("RGB", (4, 4), (255, 0, 0)).convert(mode)
    decoded = decode_image(encoded(image, icc_profile=swapped_profile()))
    assert np.abs(decoded.pixels.astype(int) - (0, 255, 0)).max() <= 4
    assert "colour profile" in decoded.notes[0]


def test_an_srgb_profile_changes_no_pixel():
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    pixels = backdrop((30, 20))
    decoded = decode_image(encoded(pixels, icc_profile=profile))
    np.testing.assert_array_equal(decoded.pixels, pixels)
    assert decoded.notes == ()


@pytest.mark.parametrize(
    ("mode", "profile"), [("RGB", b"no profile at all"), ("CMYK", swapped_profile())]
)
def test_an_unusable_profile_is_ignored_and_told(mode: str, profile: bytes):
    image = Image.fromarray(backdrop((16, 16))).convert(mode)
    fmt = "JPEG" if mode == "CMYK" else "PNG"
    plain = decode_image(encoded(image, fmt)).pixels
    decoded = decode_image(encoded(image, fmt, icc_profile=profile))
    np.testing.assert_array_equal(decoded.pixels, plain)
    assert decoded.notes[0] == "unusable colour profile ignored"


@pytest.mark.parametrize("fmt", ["GIF", "WEBP", "PNG", "TIFF"])
def test_of_an_animation_the_first_frame_is_taken(fmt: str):  # I07
    first = Image.fromarray(np.where(scene((32, 32), side_px=8).pixels > 128, 255, 0).astype("u1"))
    second = Image.fromarray(255 - np.asarray(first))
    options = {"WEBP": {"lossless": True}}.get(fmt, {})
    alone = decode_image(encoded(first, fmt, **options)).pixels
    data = encoded(first, fmt, save_all=True, append_images=[second], **options)
    decoded = decode_image(data)
    np.testing.assert_array_equal(decoded.pixels, alone)
    assert decoded.notes == ("several pictures in the file: the first was taken",)


WHOLE = {
    "JPEG": {"quality": 90},
    "progressive JPEG": {"quality": 90, "progressive": True},
    "JPEG with restarts": {"quality": 90, "restart_marker_blocks": 8},
    **{fmt: {} for fmt in ("PNG", "WEBP", "GIF", "TIFF", "BMP", "AVIF", "JPEG2000", "PPM")},
}


@lru_cache
def whole(kind: str) -> bytes:
    fmt = next(word for word in kind.split() if word.isupper())
    return encoded(scene((160, 120)).pixels, fmt, **WHOLE[kind])


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.95])
def test_a_truncated_file_is_refused(kind: str, share: float):  # I08
    data = whole(kind)
    with pytest.raises(PictureError):
        decode_image(data[: int(len(data) * share)])


@pytest.mark.parametrize("kind", [kind for kind in WHOLE if kind.split()[-1] != "JPEG2000"])
def test_bytes_behind_the_picture_do_no_harm(kind: str):
    data = whole(kind)
    np.testing.assert_array_equal(
        decode_image(data + b"\0trailer\xff\xd9").pixels, decode_image(data).pixels
    )


@pytest.mark.parametrize("kind", [kind for kind in WHOLE if "JPEG" in kind and "2000" not in kind])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_truncated_jpeg_closed_by_an_end_marker_is_refused(kind: str, share: float):
    data = whole(kind)
    with pytest.raises(PictureError, match="ends before the picture does"):
        decode_image(data[: int(len(data) * share)] + b"\xff\xd9")


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"restart_marker_blocks": 4}])
@pytest.mark.parametrize("size_wh", [(1, 1), (7, 6), (64, 48), (65, 33)])
def test_a_flat_jpeg_is_whole(options: dict[str, object], size_wh: tuple[int, int]):
    flat = np.full((size_wh[1], size_wh[0], 3), 90, np.uint8)
    assert decode_image(encoded(flat, "JPEG", **options)).pixels.shape == flat.shape


def test_a_thumbnail_in_the_exif_is_not_taken_for_the_end():
    thumbnail = encoded(backdrop((16, 16)), "JPEG")
    data = encoded(np.full((32, 32, 3), 9, np.uint8), "JPEG", exif=b"Exif\0\0" + thumbnail)
    assert decode_image(data).pixels.shape == (32, 32, 3)


def test_content_counts_not_the_extension(tmp_path: Path):  # I10
    pixels = backdrop((20, 10))
    path = tmp_path / "edited.png"
    path.write_bytes(encoded(pixels, "WEBP", lossless=True))
    decoded = decode_image(path)
    np.testing.assert_array_equal(decoded.pixels, pixels)
    assert decoded.notes == ("WEBP content in a .png file",)


@pytest.mark.parametrize("side_px", [12_500, 20_000])
@pytest.mark.slow
def test_a_bomb_is_refused_from_its_header(side_px: int):  # I12
    with pytest.raises(PictureError, match="larger than 120 megapixels"):
        decode_image(bomb(side_px))


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")
@pytest.mark.slow
def test_a_bomb_takes_no_memory():
    code = (
        "import resource, sys; from agent_judge.images import decode_image, PictureError\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: decode_image(sys.stdin.buffer.read())\n"
        "except PictureError: pass\n"
        "else: raise SystemExit('decoded')\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    run = subprocess.run([sys.executable, "-c", code], input=bomb(12_500), capture_output=True)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < 20_000  # kilobytes; decoded it would be 468,750


def test_the_pixel_limit_lets_large_photographs_pass():
    assert 108_000_000 < MAX_PIXELS < 12_500**2


@pytest.mark.parametrize("size_hw", [(5, 5), (7, 6), (40, 1), (1, 40), (1, 1)])
def test_tiny_pictures_are_pictures(size_hw: tuple[int, int]):  # D12
    pixels = np.random.default_rng(0).integers(0, 256, (*size_hw, 3), dtype=np.uint8)
    np.testing.assert_array_equal(decode_image(encoded(pixels)).pixels, pixels)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x89PNG\r\n\x1a\n",
        b"GIF89a",
        b"\xff\xd8\xff\xd9",
        b"<html>404</html>",
        b"%!PS-Adobe-3.0",
    ],
    ids=["empty", "signature only", "gif head", "empty jpeg", "an error page", "postscript"],
)
def test_what_is_no_picture_is_one_clear_line(data: bytes, tmp_path: Path):
    path = tmp_path / "edited.png"
    path.write_bytes(data)
    with pytest.raises(PictureError) as caught:
        load_image(path)
    assert "edited.png" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["missing.png", "folder", "pipe", "nul\0.png", "x" * 300])
def test_what_cannot_be_read_is_one_clear_line(name: str, tmp_path: Path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")  # opening it would wait for a writer
    with pytest.raises(PictureError) as caught:
        load_image(tmp_path / name)
    assert "\n" not in str(caught.value)


@given(
    kind=st.sampled_from(sorted(WHOLE)),
    at=st.floats(0, 1),
    junk=st.binary(min_size=1, max_size=40),
)
def test_damaged_bytes_give_a_picture_or_a_picture_error(kind: str, at: float, junk: bytes):
    data = whole(kind)
    place = int(at * len(data))
    try:
        pixels = decode_image(data[:place] + junk + data[place + len(junk) :]).pixels
    except PictureError:
        return
    assert pixels.ndim == 3
    assert pixels.shape[2] == 3


def test_pillows_warnings_stay_inside():
    no_frames = png_chunk(b"acTL", struct.pack(">II", 0, 0))
    data = png(1, 1, 8, 0, zlib.compress(b"\0\x07"), no_frames)
    with pytest.warns(UserWarning, match="APNG"):
        Image.open(io.BytesIO(data))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert decode_image(data).pixels.tolist() == [[[7, 7, 7]]]


def test_threads_decode_alike_and_leave_the_warning_filters_as_they_were():
    files = [encoded(scene((60, 40), seed).pixels, fmt) for seed, fmt in enumerate(["PNG", "JPEG"])]
    expected = [decode_image(data).pixels for data in files]
    before = list(warnings.filters)
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(20):
            if not np.array_equal(decode_image(files[number % 2]).pixels, expected[number % 2]):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert list(warnings.filters) == before


def test_png_is_lossless_and_the_same_bytes_each_time():
    pixels = scene().pixels
    data = encode_png(pixels)
    assert data == encode_png(pixels.copy())
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(data))), pixels)


def test_the_checksum_is_that_of_the_file(tmp_path: Path):
    path = tmp_path / "a.png"
    path.write_bytes(encode_png(backdrop((8, 8))))
    run = subprocess.run(["sha256sum", path], capture_output=True, text=True, check=True)
    assert decode_image(path).sha256 == run.stdout.split()[0]
