import numpy as np
import pytest

from agent_judge.judges.measuring.thresholds import SCENE
from agent_judge.judges.measuring.whole import compare_whole
from agent_judge.records import Box
from tests.judges.measuring.staged import ground, photograph, rendered_anew

PHOTO = photograph((256, 192), at=(120, 20))
OTHER = photograph((256, 192), at=(0, 300))


def test_a_picture_is_as_it_was():
    whole = compare_whole(PHOTO, PHOTO, ())
    assert whole.typical == 0
    assert whole.outlines == pytest.approx(1)


def test_another_photograph_has_other_outlines():
    whole = compare_whole(PHOTO, OTHER, ())
    assert abs(whole.outlines) < 0.2
    assert whole.typical > 10


@pytest.mark.parametrize(
    "edited",
    [
        rendered_anew(PHOTO, 50),
        np.roll(PHOTO, (1, 2), (0, 1)),
        np.clip(PHOTO * 0.95 + 8, 0, 255).astype(np.uint8),
    ],
    ids=["jpeg", "moved", "toned"],
)
def test_re_rendering_keeps_the_whole(edited):
    whole = compare_whole(PHOTO, edited, ())
    assert whole.typical < SCENE.typical_same
    assert whole.outlines > SCENE.outlines_lost + 0.15


@pytest.mark.parametrize(
    "edited",
    [255 - PHOTO, (PHOTO * (0.25, 0.3, 0.6)).astype(np.uint8), PHOTO[..., ::-1]],
    ids=["negative", "night", "channels swapped"],
)
def test_another_light_or_style_changes_the_whole(edited):
    assert compare_whole(PHOTO, edited, ()).typical > SCENE.typical_other


def test_what_is_white_does_not_count():
    white = (Box(0, 0, 256, 96),)
    half = PHOTO.copy()
    half[:96] = OTHER[:96]
    seen = compare_whole(PHOTO, half, white)
    assert seen.typical < 0.5
    assert compare_whole(PHOTO, half, ()).typical > 0.5


def test_where_all_is_white_nothing_changed():
    whole = compare_whole(PHOTO, OTHER, (Box(0, 0, 256, 192),))
    assert (whole.typical, whole.outlines) == (0, 1)


def test_flat_pictures_have_no_outlines():
    flat = np.full_like(PHOTO, 90)
    assert compare_whole(flat, flat, ()).outlines == 0


@pytest.mark.parametrize("size_wh", [(1, 1), (3, 400), (900, 700)])
def test_any_size_will_do(size_wh):
    picture = ground(1, size_wh)
    assert compare_whole(picture, picture, ()).typical == 0
