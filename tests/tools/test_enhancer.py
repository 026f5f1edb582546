import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import cv2
import numpy as np
import pytest
from PIL import Image
from skimage import data
from skimage.metrics import peak_signal_noise_ratio

from agent_judge.errors import ToolError
from agent_judge.images import load_image
from agent_judge.records import Box
from agent_judge.tools.base import View
from agent_judge.tools.enhancer import CAUTION, EnhanceTool, enhance
from agent_judge.tools.loaded import shared_upscaler
from agent_judge.tools.super_resolution import NETWORKS, SCALE, Upscaler


def photo(width, height, left=100, top=60):
    return np.tile(data.astronaut(), (2, 2, 1))[top : top + height, left : left + width]


@pytest.fixture(scope="module")
def upscaler():
    return shared_upscaler("animevideov3")


def stub(run):
    """A network of known arithmetic: every pixel four times, as a real one's caller sees it."""
    return Upscaler(
        network=NETWORKS["animevideov3"], runtime="ncnn", device="cpu", tile_px=256, run=run
    )


def repeat(pixels):
    return pixels.repeat(SCALE, 0).repeat(SCALE, 1)


@pytest.mark.parametrize(
    ("width", "height"), [(1, 1), (7, 5), (16, 256), (543, 337)], ids=["T10"] * 4
)
@pytest.mark.slow
def test_size_is_exactly_four_times_the_crop(width, height):
    done = enhance(photo(width, height), stub(repeat))
    assert done.pixels.shape == done.plain.shape == (4 * height, 4 * width, 3)
    assert done.pixels.dtype == np.uint8


@pytest.mark.parametrize(("width", "height"), [(1, 1), (7, 5), (16, 256)])
def test_network_takes_tiny_and_odd_crops(upscaler, width, height):
    assert enhance(photo(width, height), upscaler).pixels.shape == (4 * height, 4 * width, 3)


@pytest.mark.parametrize("mode", ["RGBA", "L", "LA", "P", "I;16"])
def test_pictures_of_every_kind_reach_the_network_as_8_bit_rgb_t09(upscaler, tmp_path, mode):
    crop = photo(24, 20, left=220, top=120)
    grey = crop[..., 0]
    alpha = np.full_like(grey, 128)
    made = {
        "RGBA": lambda: Image.fromarray(np.dstack([crop, alpha])),
        "L": lambda: Image.fromarray(grey),
        "LA": lambda: Image.fromarray(np.dstack([grey, alpha])),
        "P": lambda: Image.fromarray(crop).quantize(64),
        "I;16": lambda: Image.fromarray(grey.astype(np.uint16) * 257),
    }[mode]()
    assert made.mode == mode
    made.info["transparency"] = 3 if mode == "P" else None
    made.save(tmp_path / "crop.png")
    loaded = load_image(tmp_path / "crop.png")
    done = enhance(loaded, upscaler)
    assert done.pixels.shape == (80, 96, 3)
    assert np.abs(done.pixels.mean((0, 1)) - loaded.mean((0, 1))).max() <= 1
    assert loaded.std() > 10


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_every_network_stays_near_the_true_picture(name):
    true = photo(256, 256)
    small = cv2.resize(true, (64, 64), interpolation=cv2.INTER_AREA)
    done = enhance(small, shared_upscaler(name))
    plain_db = peak_signal_noise_ratio(true, done.plain, data_range=255)
    assert peak_signal_noise_ratio(true, done.pixels, data_range=255) > plain_db - 1.5
    assert not np.array_equal(done.pixels, done.plain)


def test_outlines_are_sharper_than_the_plain_enlargement(upscaler):
    small = np.full((48, 48, 3), 40, np.uint8)
    cv2.circle(small, (24, 24), 12, (220, 60, 60), -1, cv2.LINE_AA)
    done = enhance(small, upscaler)

    def steepest(pixels):
        return np.abs(np.diff(pixels[96, :, 0].astype(int))).max()

    assert steepest(done.pixels) > 1.3 * steepest(done.plain)


@pytest.mark.parametrize("shade", [(0, 0, 0), (255, 255, 255), (200, 30, 90), (128, 128, 128)])
@pytest.mark.slow
def test_mean_colour_stays_within_one_level(upscaler, shade):
    flat = np.full((32, 40, 3), shade, np.uint8)
    for crop in (flat, photo(60, 44)):
        done = enhance(crop, upscaler)
        assert np.abs(done.pixels.mean((0, 1)) - crop.mean((0, 1))).max() <= 1


def test_colours_are_held_locally_not_only_on_average(upscaler):
    crop = np.full((40, 80, 3), (200, 40, 40), np.uint8)
    crop[:, 40:] = (40, 40, 200)
    done = enhance(crop, upscaler)
    for part in (np.s_[:, :120], np.s_[:, 200:]):
        assert np.abs(done.pixels[part].mean((0, 1)) - done.plain[part].mean((0, 1))).max() <= 1


@pytest.mark.slow
def test_same_crop_gives_the_same_bytes_from_many_threads(upscaler):
    crops = [photo(40 + i % 3, 30, left=i) for i in range(9)]
    alone = [enhance(crop, upscaler).pixels for crop in crops]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda crop: enhance(crop, upscaler).pixels, crops))
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


def test_one_network_is_loaded_once_for_all_threads():
    start = threading.Barrier(4)

    def load(_):
        start.wait()
        return shared_upscaler("animevideov3")

    with ThreadPoolExecutor(4) as pool:
        assert len(set(map(id, pool.map(load, range(4))))) == 1


def test_crop_is_left_alone(upscaler):
    crop = photo(20, 20)
    before = crop.copy()
    enhance(crop, upscaler)
    assert np.array_equal(crop, before)


@pytest.mark.slow
def test_tiles_show_no_border(upscaler):
    crop = photo(180, 40)
    whole = enhance(crop, upscaler).pixels.astype(int)
    tiled_upscaler = Upscaler(
        network=upscaler.network, runtime="ncnn", device="cpu", tile_px=128, run=upscaler.run
    )
    tiled = enhance(crop, tiled_upscaler).pixels.astype(int)
    # 18 layers of 3x3 see 18 px around, two more than the guard: a level of rounding is left.
    assert np.abs(whole - tiled).max() <= 1


class RunsOut:
    """A network that runs out of memory for more than `limit` pixels, after `fine` calls."""

    def __init__(self, limit, fine=0):
        self.limit, self.fine = limit, fine

    def __call__(self, pixels):
        self.fine -= 1
        if self.fine < 0 and pixels.shape[0] * pixels.shape[1] > self.limit:
            raise MemoryError
        return repeat(pixels)


def test_smaller_tiles_are_tried_once_and_said_when_memory_runs_out():
    """Case T06."""
    crop = photo(200, 200)
    done = enhance(crop, stub(RunsOut(limit=130 * 130)))
    assert not done.fallback
    assert "memory ran out" in done.notes[0]
    assert np.array_equal(done.pixels, enhance(crop, stub(repeat)).pixels)


def test_plain_picture_marked_as_fallback_when_even_small_tiles_are_too_large():
    """Case T06: the second crop is never answered with the first."""
    run = RunsOut(limit=0, fine=1)
    first, second = photo(64, 64), photo(64, 64, left=300, top=300)
    assert not enhance(first, stub(run)).fallback
    done = enhance(second, stub(run))
    assert done.fallback
    assert np.array_equal(done.pixels, done.plain)
    assert np.abs(done.plain.mean((0, 1)) - second.mean((0, 1))).max() <= 1


@pytest.fixture
def view():
    return View(source=photo(640, 480), edited=photo(640, 480, left=140))


def test_reply_shows_both_enlargements_and_says_price_and_caution(view):
    reply = EnhanceTool()(view, {"picture": "edited", "box": [300, 200, 306, 209]})
    assert reply.data["box_px"] == [271, 173, 335, 237]
    assert [p.pixels.shape for p in reply.pictures] == [(256, 256, 3)] * 2
    assert [p.label.split(", ")[0] for p in reply.pictures] == ["edited"] * 2
    assert reply.pictures[0].label.endswith("enhanced by a network")
    assert reply.pictures[1].label.endswith("plain enlargement")
    assert reply.data["cost"].startswith("4096 px, about")
    assert reply.data["network"].startswith("Real-ESRGAN animevideov3, ")
    assert CAUTION in reply.data["notes"]
    assert (
        reply.data == EnhanceTool()(view, {"picture": "edited", "box": [300, 200, 306, 209]}).data
    )


def test_too_many_pixels_are_refused_with_the_limit(view):
    for args in ({"picture": "source"}, {"picture": "source", "box": None}):
        with pytest.raises(ToolError, match=r"640x480 px .* 200000 px .* smaller box"):
            EnhanceTool()(view, args)


def test_small_picture_needs_no_box():
    small = View(source=photo(20, 12), edited=photo(20, 12))
    assert EnhanceTool()(small, {"picture": "source"}).pictures[0].pixels.shape == (48, 80, 3)


@pytest.mark.parametrize(("box", "told"), [([0, 0, 90, 90], True), ([400, 300, 480, 380], False)])
def test_white_mask_in_sight_is_said_to_be_on_purpose(view, box, told):
    masked = replace(view, masked=(Box(50, 50, 70, 70),))
    notes = EnhanceTool()(masked, {"picture": "source", "box": box}).data["notes"]
    assert any("on purpose" in note for note in notes) == told


def test_box_outside_is_told_with_the_size(view):
    with pytest.raises(ToolError, match="640 px wide"):
        EnhanceTool()(view, {"picture": "source", "box": [700, 0, 720, 20]})
