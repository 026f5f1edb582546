import io

import numpy as np
import pytest
from PIL import Image

from agent_judge.records import Box
from agent_judge.thumbnail import N_TILES, TILE_PX, make_thumbnail
from tests.pictures import scene


def tiles(data: bytes) -> list[np.ndarray]:
    strip = np.asarray(Image.open(io.BytesIO(data)).convert("RGBA"))
    assert strip.shape == (TILE_PX, N_TILES * TILE_PX, 4)
    return np.split(strip, N_TILES, axis=1)


def share_of(colour, tile) -> float:
    near = np.abs(tile[..., :3].astype(int) - colour).max(axis=2) < 60
    return float((near & (tile[..., 3] > 128)).mean())


def test_target_fills_its_tile_and_is_a_speck_in_the_whole_picture():
    pixels = np.full((600, 800, 3), 40, np.uint8)
    pixels[300:324, 500:524] = (255, 0, 0)
    target = Box(500, 300, 524, 324)
    whole, _, before, after = tiles(make_thumbnail(pixels, pixels, target))
    assert share_of((255, 0, 0), whole) < 0.01
    assert share_of((255, 0, 0), before) == pytest.approx(0.25, abs=0.06)
    assert np.abs(before.astype(int) - after).max() < 8  # lossy, each tile with its neighbours


@pytest.mark.parametrize(
    ("edited", "target", "empty"),
    [
        (False, None, [False, True, True, True]),
        (True, None, [False, False, True, True]),
        (False, Box(10, 10, 30, 30), [False, True, False, True]),
    ],
)
def test_what_does_not_exist_leaves_its_tile_empty(edited, target, empty):
    pixels = scene().pixels
    found = tiles(make_thumbnail(pixels, pixels if edited else None, target))
    assert [not tile[..., 3].any() for tile in found] == empty


@pytest.mark.parametrize(
    ("size_hw", "target"),
    [
        ((1, 1), Box(0, 0, 1, 1)),
        ((3, 2000), Box(1990, 0, 2000, 3)),
        ((2000, 3), Box(0, 0, 3, 2000)),
        ((200, 300), Box(0, 0, 300, 200)),
        ((200, 300), Box(299.2, 199.5, 300, 200)),
    ],
    ids=["one pixel", "wide, at the border", "high, all of it", "all of it", "a corner"],
)
def test_any_shape_and_any_box_gives_a_picture(size_hw, target):
    pixels = np.zeros((*size_hw, 3), np.uint8)
    tiles(make_thumbnail(pixels, pixels, target))


def test_ten_thousand_rows_stay_under_200_megabytes():
    noisy = np.random.default_rng(0).integers(0, 255, (480, 640, 3), dtype=np.uint8)
    assert len(make_thumbnail(noisy, noisy, Box(100, 100, 140, 140))) < 45_000
    drawn = scene((640, 480)).pixels
    assert len(make_thumbnail(drawn, drawn, Box(100, 100, 140, 140))) < 20_000
