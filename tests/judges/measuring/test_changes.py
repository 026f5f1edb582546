import numpy as np
import pytest

from agent_judge.judges.measuring.changes import shrunk
from agent_judge.judges.measuring.laid_over import inside
from agent_judge.records import Box
from tests.judges.measuring.staged import (
    BLUE,
    BOX,
    GREEN,
    RED,
    SIZE_WH,
    changes,
    disc,
    drawn,
    photograph,
)

PHOTO = photograph(SIZE_WH)
SOURCE, REFERENCE = disc(PHOTO, RED), disc(PHOTO, GREEN)
INSIDE = inside((BOX,), SOURCE.shape)


def test_what_the_reference_changed_was_wanted():
    drawn_part = disc(np.zeros_like(PHOTO), (1, 1, 1))[..., 0] > 0
    wanted = changes(SOURCE, SOURCE, REFERENCE).wanted
    assert (wanted & drawn_part).sum() / (wanted | drawn_part).sum() > 0.85


def test_without_a_reference_all_of_the_box_was():
    assert np.array_equal(changes(SOURCE, REFERENCE).wanted, INSIDE)


def test_nothing_done_leaves_all_of_the_way():
    measured = changes(SOURCE, SOURCE, REFERENCE)
    assert (measured.done, measured.share) == (0, 0)
    assert measured.left == pytest.approx(1, abs=0.02)


def test_the_reference_itself_is_all_of_the_way():
    measured = changes(SOURCE, REFERENCE, REFERENCE)
    assert measured.done == pytest.approx(1)
    assert (measured.left, measured.share) == (0, 1)
    assert measured.look_apart == measured.spread == 0


def test_half_of_the_way_is_half():
    between = ((SOURCE.astype(int) + REFERENCE) // 2).astype(np.uint8)
    measured = changes(SOURCE, between, REFERENCE)
    assert 0.3 < measured.done < 0.7
    assert 0.3 < measured.left < 0.7


def test_spread_is_the_area_beyond_what_was_wanted():
    small = Box(70, 50, 90, 70)
    reference = disc(SOURCE, GREEN, small)
    square = drawn(SOURCE, "rectangle", BOX, BLUE)
    wanted = (reference != SOURCE).any(axis=2).sum()
    beyond = BOX.area - np.pi * 12**2
    measured = changes(SOURCE, square, reference).spread
    assert measured == pytest.approx(beyond / wanted, rel=0.35)
    assert changes(SOURCE, reference, reference).spread == 0


def test_look_apart_is_blind_to_texture():
    rng = np.random.default_rng(0)
    grain = rng.integers(-40, 40, (*PHOTO.shape[:2], 1))
    gravel, other = (np.clip(120 + g, 0, 255) for g in (grain, np.roll(grain, 5, axis=1)))
    reference, edited = (np.where(INSIDE[..., None], g, PHOTO) for g in (gravel, other))
    reference, edited = reference.astype(np.uint8), edited.astype(np.uint8)
    assert changes(SOURCE, edited, reference).look_apart < 6
    assert changes(SOURCE, drawn(PHOTO, "rectangle", BOX, RED), reference).look_apart > 30


def test_a_change_must_exceed_the_noise_around():
    busy = np.random.default_rng(1).integers(-25, 25, PHOTO.shape)
    noisy = np.clip(SOURCE + busy, 0, 255).astype(np.uint8)
    measured = changes(SOURCE, noisy, REFERENCE)
    assert measured.limit == measured.laid.noise > 6
    assert measured.share < 0.2


def test_a_mask_loses_its_rim_unless_little_would_be_left():
    block = np.zeros((20, 20), bool)
    block[4:14, 4:14] = True
    assert shrunk(block).sum() == 64
    line = np.zeros((20, 20), bool)
    line[4] = True
    assert np.array_equal(shrunk(line), line)
