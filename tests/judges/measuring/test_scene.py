"""Visual Consistency: planted changes outside the target, and what they come to."""

from dataclasses import replace

import numpy as np
import pytest

from agent_judge.judges.measuring.exhibits import ToolAnswer
from agent_judge.judges.measuring.scene import judge_scene
from agent_judge.oracle.mask import paint_white
from agent_judge.records import Box
from tests.judges.measuring.staged import (
    BLUE,
    GREEN,
    RED,
    YELLOW,
    disc,
    drawn,
    exhibits,
    level,
    photograph,
    rendered_anew,
)

PHOTO = photograph()
TARGET = Box(150, 100, 180, 130)
SOURCE = disc(PHOTO, RED, TARGET)
EDITED = disc(PHOTO, GREEN, TARGET)
PLACES = (Box(20, 20, 44, 44), Box(260, 180, 284, 204), Box(40, 180, 64, 204))


def judged(edited, source=SOURCE, reference=None, *, white=(TARGET,)):
    if white is None:
        shown = exhibits("VC", source, edited, reference)
    else:
        pictures = [p for p in (source, edited, reference) if p is not None]
        shown = exhibits("VC", *(paint_white(p, list(white)) for p in pictures), white=white)
    return judge_scene(shown)


def with_discs(count, picture=EDITED):
    for box, colour in zip(PLACES[:count], (YELLOW, BLUE, GREEN), strict=False):
        picture = disc(picture, colour, box)
    return picture


@pytest.mark.parametrize(("count", "wanted"), [(0, 4), (1, 3), (2, 2), (3, 2)])
@pytest.mark.slow
def test_the_level_is_the_number_of_things_that_changed_outside(count, wanted):
    assert level(judged(with_discs(count)), "VC") == wanted


@pytest.mark.slow
@pytest.mark.parametrize("count", [0, 1, 2])
def test_jpeg_noise_is_no_anomaly(count):
    assert level(judged(rendered_anew(with_discs(count), 60)), "VC") == 4 - count


def test_anomalies_are_told_with_their_places():
    finding = judged(with_discs(2))
    found = [box for _, box in finding.anomalies]
    assert all(max(box.iou(place) for box in found) > 0.6 for place in PLACES[:2])


def test_fragments_of_one_thing_are_one_anomaly():
    halves = drawn(EDITED, "rectangle", Box(20, 20, 30, 60), YELLOW)
    halves = drawn(halves, "rectangle", Box(34, 20, 44, 60), YELLOW)
    assert level(judged(halves), "VC") == 3


def test_a_speck_is_no_anomaly_but_no_perfection_either():
    specked = drawn(EDITED, "rectangle", Box(30, 30, 34, 34), YELLOW)
    assert level(judged(specked), "VC") in (4, None)


def test_a_faint_change_is_left_open():
    faint = EDITED.astype(int)
    faint[20:60, 20:60] -= 26
    verdict = judged(np.clip(faint, 0, 255).astype(np.uint8))
    assert level(verdict, "VC") is None
    assert "or 1" in verdict.why


def test_a_large_motion_of_the_whole_is_several_anomalies():
    height, width = SOURCE.shape[:2]
    wide = photograph((width + 24, height), at=(126, 0))
    assert level(judged(wide[:, :width], PHOTO), "VC") in (1, 2)


@pytest.mark.parametrize(("moved_px", "wanted"), [(0, 4), (4, 4), (14, 2)])
def test_a_scene_that_moved_by_more_than_re_rendering_does_is_not_perfect(moved_px, wanted):
    reply = {
        "regions": [],
        "omitted": 0,
        "changed_fraction": 0.0,
        "absolute_fraction": 0.0,
        "transform": [[1, 0, moved_px], [0, 1, 0]],
    }
    shown = exhibits("VC", SOURCE, SOURCE, white=[TARGET])
    looked = ToolAnswer(tool="difference", data=reply)
    assert level(judge_scene(replace(shown, answers=(looked,))), "VC") == wanted


@pytest.mark.parametrize(
    ("box", "wanted"),
    [
        (Box(182, 104, 198, 126), None),
        (Box(150, 132, 180, 142), None),
        (Box(200, 104, 224, 126), 3),
    ],
    ids=["beside", "below", "farther"],
)
@pytest.mark.slow
def test_a_change_right_at_the_target_may_be_its_shadow(box, wanted):
    assert level(judged(drawn(EDITED, "rectangle", box, YELLOW)), "VC") == wanted


@pytest.mark.parametrize(
    ("box", "wanted"),
    [
        (Box(300, 230, 320, 240), None),
        (Box(300, 200, 320, 240), 3),
        (Box(200, 230, 220, 240), 3),
    ],
    ids=["a small one in the corner", "a large one", "at one border"],
)
@pytest.mark.slow
def test_a_small_change_in_a_corner_may_be_a_model_s_mark(box, wanted):
    assert level(judged(drawn(EDITED, "rectangle", box, YELLOW)), "VC") == wanted


def test_a_motion_of_two_pixels_is_none():
    wide = photograph((322, 242))
    assert level(judged(wide[2:, 2:], PHOTO), "VC") == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "edited",
    [
        photograph(at=(0, 260)),
        255 - EDITED,
        (EDITED * (0.25, 0.3, 0.6)).astype(np.uint8),
        np.full_like(EDITED, 128),
    ],
    ids=["another place", "negative", "night", "grey"],
)
def test_another_scene_light_or_style_is_a_collapse(edited):
    assert level(judged(edited), "VC") == 1


@pytest.mark.slow
def test_a_scene_restyled_a_little_is_left_open():
    grey = EDITED.mean(axis=2, keepdims=True)
    mixed = [(EDITED * (1 - share) + grey * share).astype(np.uint8) for share in (0, 0.5, 1)]
    assert [level(judged(edited), "VC") for edited in mixed] == [4, None, 1]


@pytest.mark.slow
def test_nearly_flat_pictures_have_no_outlines_to_lose():
    rng = np.random.default_rng(0)
    wall = [np.clip(rng.normal(200, 2, PHOTO.shape), 0, 255).astype(np.uint8) for _ in range(2)]
    assert level(judged(wall[1], wall[0]), "VC") == 4


def test_what_the_reference_changed_outside_the_boxes_is_the_targets():
    shadow = disc(EDITED, BLUE, PLACES[0])
    reference = disc(EDITED, YELLOW, PLACES[0])
    assert level(judged(shadow, reference=reference), "VC") == 4
    assert level(judged(shadow), "VC") == 3


@pytest.mark.slow
def test_without_boxes_the_reference_tells_the_target():
    assert level(judged(EDITED, reference=EDITED, white=None), "VC") == 4
    assert level(judged(with_discs(1), reference=EDITED, white=None), "VC") == 3


def test_a_change_much_larger_than_the_target_is_not_the_targets():
    large = drawn(EDITED, "rectangle", TARGET.grow(40), YELLOW)
    assert level(judged(large, reference=EDITED, white=None), "VC") != 4


def test_beside_a_large_target_without_a_box_damage_is_not_told_apart():
    large = Box(60, 60, 180, 180)
    edited = disc(SOURCE, BLUE, large)
    assert level(judged(edited, reference=edited, white=None), "VC") is None
    assert level(judged(SOURCE, reference=edited, white=None), "VC") == 4
    assert level(judged(edited, reference=edited, white=(large,)), "VC") == 4


@pytest.mark.slow
def test_without_boxes_or_reference_only_nothing_and_collapse_are_known():
    assert level(judged(SOURCE, white=None), "VC") == 4
    assert level(judged(255 - SOURCE, white=None), "VC") == 1
    assert level(judged(EDITED, white=None), "VC") is None


def test_a_reference_like_the_source_tells_no_target():
    assert level(judged(EDITED, reference=SOURCE, white=None), "VC") is None


@pytest.mark.slow
def test_more_anomalies_never_rank_higher():
    worse = [*(with_discs(n) for n in range(4)), photograph(at=(0, 260))]
    levels = [level(judged(edited), "VC") or 0 for edited in worse]
    assert levels == sorted(levels, reverse=True)
    assert 0 not in levels
