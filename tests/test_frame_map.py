"""Pictures of another size lie in their source's frame, or are told apart in words."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from PIL import Image

from agent_judge.errors import GeometryError
from agent_judge.frame import FrameMap, aspect_misfit, frame_of, to_source_frame
from agent_judge.records import Box
from tests.pictures import backdrop, encoded, letterboxed, resized, scene

FLATS = [None, (128, 128, 128), (255, 255, 255), (0, 0, 0)]
"""Backdrops: textured, and flat ones that run into bars of their colour."""


def moved_px(one: Box, other: Box) -> float:
    return float(np.abs(np.subtract(one.xyxy, other.xyxy)).max())


def test_pictures_of_the_same_size_always_share_the_frame():
    unrelated = np.random.default_rng(0).integers(0, 256, (240, 320, 3), dtype=np.uint8)
    frame = frame_of(scene().pixels, unrelated)
    assert (frame.kind, frame.notes) == ("identical", ())
    assert to_source_frame(unrelated, frame) is unrelated


def test_a_picture_of_half_the_size_is_scaled_with_a_note():  # I26 a
    source = scene((600, 400))
    half = resized(source.pixels, (300, 200))
    frame = frame_of(source.pixels, half)
    assert (frame.kind, frame.notes) == ("scaled", ("300x200 scaled to the source's 600x400",))
    assert frame.to_source(Box(100, 50, 110, 60)) == Box(200, 100, 220, 120)
    back = to_source_frame(half, frame)
    assert back.shape == source.pixels.shape
    assert np.abs(back.astype(int) - source.pixels).mean() < 6


@pytest.mark.parametrize("flat", FLATS, ids=str)
@pytest.mark.parametrize(
    "reframe",
    [
        lambda a: resized(a, (512, 768)),  # stretched
        lambda a: a[:, 100:500],  # cut
        lambda a: a.transpose(1, 0, 2),  # turned
        lambda a: np.vstack([a, a[:150]]),  # continued
    ],
    ids=["stretched", "cut", "turned", "continued"],
)
@pytest.mark.slow
def test_another_geometry_is_never_stretched(reframe, flat):  # I26 b
    source = scene((600, 400), 1, objects=4, flat=flat).pixels
    with pytest.raises(GeometryError, match=r"600x400.*neither one scale .* nor uniform bars"):
        frame_of(source, reframe(source))


def test_a_small_misfit_is_stretched_with_a_note():  # I26 c
    source = scene((600, 400)).pixels
    frame = frame_of(source, resized(source, (592, 400)))
    assert frame.kind == "scaled"
    assert frame.notes[1] == "its aspect differs by 1.4%: stretched"
    assert moved_px(frame.to_source(Box(0, 0, 592, 400)), Box(0, 0, 600, 400)) < 1e-9


@pytest.mark.parametrize(
    ("one_wh", "other_wh", "share"),
    [
        ((600, 400), (600, 400), 0),
        ((600, 400), (204, 133), 204 * 400 / (133 * 600) - 1),
        ((600, 400), (200, 133), 0),  # 133.3 rounded
        ((1920, 1080), (64, 36), 0),
        ((600, 400), (400, 600), 1.25),
    ],
)
def test_aspect_misfit_is_the_ratio_of_aspects(one_wh, other_wh, share):
    assert aspect_misfit(one_wh, other_wh) == pytest.approx(share)
    assert aspect_misfit(other_wh, one_wh) == pytest.approx(share)


@pytest.mark.parametrize("flat", FLATS, ids=str)
@pytest.mark.parametrize("bar", [(0, 0, 0), (255, 255, 255), (128, 128, 128), (200, 30, 90)])
@pytest.mark.parametrize("size_wh", [(512, 512), (1024, 1024), (512, 768), (900, 400)])
@pytest.mark.slow
def test_bars_are_found_and_the_mapping_includes_them(size_wh, bar, flat):
    source = scene((600, 400), 2, objects=4, flat=flat)
    boxed, inner = letterboxed(source.pixels, size_wh, bar)
    frame = frame_of(source.pixels, boxed)
    assert frame.kind == "letterboxed"
    assert moved_px(frame.content, inner) <= 1
    assert "bars" in frame.notes[0]
    back = to_source_frame(boxed, frame)
    assert np.abs(back.astype(int) - source.pixels).mean() < 12


def test_bars_are_found_after_jpeg():
    source = scene((600, 400), 3).pixels
    boxed, inner = letterboxed(source, (512, 512))
    decoded = np.asarray(Image.open(io.BytesIO(encoded(boxed, "JPEG", quality=60))))
    assert moved_px(frame_of(source, decoded).content, inner) <= 1


@pytest.mark.parametrize(
    ("pad", "content"),
    [
        (((0, 150), (0, 0)), (0, 0, 600, 400)),
        (((150, 0), (0, 0)), (0, 150, 600, 550)),
        (((40, 40), (30, 30)), (30, 40, 630, 440)),
        (((10, 90), (20, 20)), (20, 10, 620, 410)),
    ],
    ids=["below", "above", "all around", "off centre"],
)
def test_bars_may_lie_at_any_side(pad, content):
    source = scene((600, 400), 3).pixels
    boxed = np.pad(source, (*pad, (0, 0)), constant_values=17)
    frame = frame_of(source, boxed)
    assert moved_px(frame.content, Box(*content)) <= 1
    np.testing.assert_array_equal(to_source_frame(boxed, frame), source)


def test_a_uniform_picture_of_another_aspect_is_no_letterbox():
    with pytest.raises(GeometryError):
        frame_of(backdrop((60, 40)), np.zeros((60, 60, 3), np.uint8))


@pytest.mark.parametrize("size_hw", [(5, 5), (7, 6), (40, 1), (1, 40), (1, 1)])
def test_tiny_pictures_map_or_are_refused(size_hw):  # D12
    tiny = np.zeros((*size_hw, 3), np.uint8)
    try:
        frame = frame_of(backdrop((64, 48)), tiny)
    except GeometryError:
        return
    assert to_source_frame(tiny, frame).shape == (48, 64, 3)


SIDE = st.integers(1, 5000)
SPOT = st.floats(0, 4999, allow_nan=False)


@given(SIDE, SIDE, SIDE, SIDE, SPOT, SPOT, SPOT, SPOT)
def test_mapping_there_and_back_is_the_identity(ws, hs, wc, hc, left, top, x, y):
    frame = FrameMap(
        kind="letterboxed", source_wh=(ws, hs), content=Box(left, top, left + wc, top + hc)
    )
    box = Box(x, y, x + 7, y + 5)
    assert moved_px(frame.to_source(frame.from_source(box)), box) < 1e-6
    assert moved_px(frame.from_source(Box(0, 0, ws, hs)), frame.content) < 1e-9


@given(st.integers(8, 80), st.integers(8, 80), st.integers(8, 120), st.integers(8, 120))
def test_every_letterbox_of_a_textured_picture_is_mapped(ws, hs, wl, hl):
    source = backdrop((ws, hs), seed=ws)
    boxed, inner = letterboxed(source, (wl, hl))
    assume(min(inner.width, inner.height) >= 4)
    frame = frame_of(source, boxed)
    assert (
        frame.kind == "identical"
        or aspect_misfit((ws, hs), (wl, hl)) <= 0.02
        or (moved_px(frame.content, inner) <= 2.5)
    )
