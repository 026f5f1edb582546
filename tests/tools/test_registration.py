import cv2
import numpy as np
import pytest
from skimage import data

from agent_judge.tools.registration import frame_onto_frame, register
from tests.pictures import backdrop


def grey_of(pixels):
    return np.asarray(cv2.cvtColor(np.ascontiguousarray(pixels), cv2.COLOR_RGB2GRAY), np.uint8)


def unmasked(*pictures):
    return tuple(np.zeros(p.shape, bool) for p in pictures)


def motion(scale=1.0, turn_deg=0.0, dx=0.0, dy=0.0, centre=(256, 256)):
    """3x3 on continuous pixel coordinates, and the same for OpenCV's centred ones."""
    matrix = np.vstack([cv2.getRotationMatrix2D(centre, turn_deg, scale), [0, 0, 1]])
    matrix[:2, 2] += dx, dy
    half = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
    return matrix, (np.linalg.inv(half) @ matrix @ half)[:2]


def corner_error(found, true, size_wh):
    width, height = size_wh
    corners = np.array([[0, width, 0, width], [0, 0, height, height], [1, 1, 1, 1]], float)
    return np.abs(found @ corners - true @ corners).max()


@pytest.mark.parametrize(
    "known",
    [
        dict(dx=3, dy=-2),
        dict(dx=0.4, dy=0.25),
        dict(dx=-61, dy=40),
        dict(scale=1.015),
        dict(scale=0.985, dx=1.5),
        dict(scale=0.8, dx=20, dy=-9),
        dict(turn_deg=1.5, dx=2),
    ],
    ids=lambda k: " ".join(f"{n}={v}" for n, v in k.items()),
)
@pytest.mark.slow
def test_a_known_motion_is_found_to_a_twentieth_of_a_pixel(known):
    source = data.astronaut()
    matrix, for_opencv = motion(**known)
    moved = cv2.warpAffine(
        source, for_opencv, (512, 512), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT
    )
    noise = np.random.default_rng(0).normal(0, 3, moved.shape[:2])
    fixed = np.clip(grey_of(moved) + noise, 0, 255).astype(np.uint8)
    moving = grey_of(source)
    found = register(moving, fixed, *unmasked(moving, fixed))
    assert found.trusted
    assert not found.bars
    assert corner_error(found.matrix, matrix, (512, 512)) < 0.05


@pytest.mark.parametrize("change", ["noise", "tone", "blur", "edit"])
@pytest.mark.slow
def test_what_is_no_motion_leaves_the_frame_exactly_where_it_was(change):
    moving = grey_of(data.coffee())
    fixed = moving.astype(np.float64)
    if change == "noise":
        fixed += np.random.default_rng(1).normal(0, 6, fixed.shape)
    elif change == "tone":
        fixed = fixed * 0.9 + 12
    elif change == "blur":
        fixed = cv2.GaussianBlur(fixed, (0, 0), 1.2)
    else:
        fixed[120:220, 200:330] = 30
    fixed = np.clip(fixed, 0, 255).astype(np.uint8)
    found = register(moving, fixed, *unmasked(moving, fixed))
    assert found.trusted
    np.testing.assert_array_equal(found.matrix, np.eye(3))


@pytest.mark.parametrize(
    ("moving", "fixed"),
    [
        (np.full((200, 300), 90, np.uint8), np.full((200, 300), 120, np.uint8)),
        tuple(
            np.random.default_rng(s).integers(0, 256, (200, 300), dtype=np.uint8) for s in (0, 1)
        ),
        (grey_of(data.coffee()), grey_of(data.astronaut())),
    ],
    ids=["flat", "noise", "unrelated"],
)
@pytest.mark.slow
def test_a_motion_that_explains_nothing_is_not_used(moving, fixed):
    found = register(moving, fixed, *unmasked(moving, fixed))
    assert not found.trusted
    np.testing.assert_allclose(found.matrix, frame_onto_frame(moving.shape, fixed.shape))


def test_a_small_picture_is_laid_frame_on_frame():
    moving, fixed = np.zeros((10, 20), np.uint8), np.zeros((20, 40), np.uint8)
    found = register(moving, fixed, *unmasked(moving, fixed))
    np.testing.assert_array_equal(found.matrix, np.diag([2, 2, 1]))


@pytest.mark.parametrize("level", [0, 255])
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.slow
def test_bars_are_seen_on_either_side(level, swap):
    picture = grey_of(data.chelsea())
    height, width = picture.shape
    barred = cv2.copyMakeBorder(picture, 70, 80, 0, 0, cv2.BORDER_CONSTANT, value=level)
    true = np.array([[1, 0, 0], [0, 1, 70], [0, 0, 1]], float)
    pair, size_wh = (picture, barred), (width, height)
    if swap:
        pair, true, size_wh = (barred, picture), np.linalg.inv(true), (width, height + 150)
    found = register(*pair, *unmasked(*pair))
    assert found.bars
    assert corner_error(found.matrix, true, size_wh) < 0.1


def test_a_strip_that_a_shift_left_is_no_bar():
    moving = grey_of(data.chelsea())
    fixed = np.zeros_like(moving)
    fixed[:, 4:] = moving[:, :-4]
    found = register(moving, fixed, *unmasked(moving, fixed))
    assert not found.bars
    np.testing.assert_allclose(found.matrix[:2, 2], [4, 0], atol=0.05)


def test_a_painted_mask_that_stands_still_does_not_hold_the_picture_back():
    moving = grey_of(backdrop((320, 240), 3))
    fixed = np.roll(moving, (-2, 3), (0, 1))
    masked = np.zeros(moving.shape, bool)
    masked[40:200, 50:270] = True
    moving, fixed = moving.copy(), fixed.copy()
    moving[masked] = fixed[masked] = 255
    found = register(moving, fixed, masked, masked)
    np.testing.assert_allclose(found.matrix[:2, 2], [3, -2], atol=0.1)


@pytest.mark.parametrize("size_wh", [(61, 1400), (1400, 61), (903, 1400)])
@pytest.mark.slow
def test_a_mask_on_a_long_picture_is_reduced_with_it(size_wh):
    """One factor for both: a factor read off a rounded side gave the mask a row more or less."""
    moving = grey_of(backdrop(size_wh, 3))
    masked = np.zeros(moving.shape, bool)
    masked[10:20, 10:20] = True
    found = register(moving, moving.copy(), masked, masked)
    np.testing.assert_allclose(found.matrix[:2], np.eye(3)[:2], atol=1e-6)


@pytest.mark.slow
def test_a_flat_picture_is_no_numerical_fault():
    """A line through values that do not vary has no slope: numpy warned of it."""
    flat = np.full((133, 119), 191, np.uint8)
    spotted = flat.copy()
    spotted[66:86, 59:79] = 7
    for moving, fixed in ((flat, spotted), (spotted, flat)):
        found = register(moving, fixed, *unmasked(moving, fixed))
        np.testing.assert_array_equal(found.matrix, np.eye(3))
