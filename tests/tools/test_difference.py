import json
import subprocess
import sys

import cv2
import numpy as np
import pytest
from skimage import data

from agent_judge.audit.degrade import DEGRADE_KINDS, DegradeKind, degrade
from agent_judge.records import Box
from agent_judge.tools.difference import MAX_REGIONS, Difference, find_differences
from tests.pictures import backdrop, letterboxed, resized, scene

KINDS: list[DegradeKind] = list(DEGRADE_KINDS)
RED, BLUE = (220, 20, 20), (20, 40, 220)


def with_disc(pixels, centre=(200, 150), radius=9, colour=BLUE):
    changed = pixels.copy()
    cv2.circle(changed, centre, radius, colour, -1)
    x, y = centre
    return changed, Box(x - radius, y - radius, x + radius + 1, y + radius + 1)


def pair(seed=0):
    """A textured source with a small saturated target, and the target in another colour."""
    source, box = with_disc(scene((512, 384), seed, objects=8).pixels, colour=RED)
    edited, _ = with_disc(source)
    return source, edited, box


def noisy(pixels, sigma, seed=0):
    grain = np.random.default_rng(seed).normal(0, sigma, pixels.shape)
    return np.clip(pixels + grain, 0, 255).astype(np.uint8)


def jpeg(pixels, quality):
    _, file = cv2.imencode(".jpg", pixels[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.ascontiguousarray(np.asarray(cv2.imdecode(file, cv2.IMREAD_COLOR))[..., ::-1])


def moved(pixels, dx, dy):
    height, width = pixels.shape[:2]
    matrix = np.array([[1, 0, dx], [0, 1, dy]], np.float64)
    return cv2.warpAffine(pixels, matrix, (width, height), borderMode=cv2.BORDER_REFLECT)


def only_region(found: Difference, box: Box, iou=0.6):
    assert len(found.regions) == 1, found.regions
    assert found.regions[0].box.iou(box) > iou, (found.regions[0], box)
    return found.regions[0]


def said(found: Difference, word: str) -> bool:
    return any(word in remark for remark in found.remarks)


def test_a_planted_disc_is_the_one_region_with_its_box_and_area():
    source, edited, box = pair()
    found = find_differences(source, edited)
    region = only_region(found, box, iou=0.99)
    assert region.area_px == pytest.approx(np.pi * 9.5**2, rel=0.1)
    assert not region.edge_only
    assert found.changed_fraction == pytest.approx(region.area_px / source[..., 0].size, rel=0.01)
    assert (found.geometry, found.omitted, found.remarks) == ("identical", 0, ())
    assert found.noise_level < 0.2


def test_equal_pictures_differ_in_nothing():
    source = backdrop()
    found = find_differences(source, source.copy())
    assert (found.regions, found.omitted, found.changed_fraction) == ((), 0, 0.0)
    assert (found.absolute_fraction, found.geometry, found.noise_level) == (0.0, "identical", 0.0)
    np.testing.assert_array_equal(found.transform, [[1, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_a_degraded_picture_without_an_edit_has_no_region(kind):
    source = data.chelsea()
    assert find_differences(source, degrade(source, kind, np.random.default_rng(3))).regions == ()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("photo", [data.astronaut, data.coffee, data.rocket])
def test_degraded_photographs_without_an_edit_have_no_region(photo, kind):
    source = photo()
    for seed in range(4):
        degraded = degrade(source, kind, np.random.default_rng(seed))
        assert find_differences(source, degraded).regions == ()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_an_edit_is_found_through_every_degradation(kind):
    source = np.ascontiguousarray(data.chelsea())
    edited, box = with_disc(source, (300, 220), 9, (40, 160, 60))
    found = find_differences(source, degrade(edited, kind, np.random.default_rng(5)))
    only_region(found, box, iou=0.5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_swapping_the_pictures_gives_twins(kind):
    source = np.ascontiguousarray(data.coffee()[:320, :480])
    edited, _ = with_disc(source, (420, 280), 12, (40, 160, 60))
    edited, _ = with_disc(edited, (100, 80), 8, (200, 200, 40))
    degraded = degrade(edited, kind, np.random.default_rng(7))
    there, back = find_differences(source, degraded), find_differences(degraded, source)
    assert len(there.regions) == len(back.regions) >= 2
    motion = np.vstack([there.transform, [0, 0, 1]])
    np.testing.assert_allclose(
        np.vstack([back.transform, [0, 0, 1]]) @ motion, np.eye(3), atol=1e-9
    )
    for one, two in zip(there.regions, back.regions, strict=True):
        corners = np.array([two.box_xyxy[:2], two.box_xyxy[2:]]) @ motion[:2, :2].T + motion[:2, 2]
        assert one.box.iou(Box(*map(float, corners.ravel()))) >= 0.8
        assert one.box.iou(two.box) >= 0.5
    assert there.changed_fraction == back.changed_fraction
    assert there.absolute_fraction == back.absolute_fraction


@pytest.mark.slow
def test_a_stronger_edit_never_ranks_lower():
    source = backdrop((400, 300), 2)
    rival, _ = with_disc(source, (90, 200), 10, (90, 200, 120))
    ranks, strengths = [], []
    for level in (30, 60, 90, 120, 150):
        edited = rival.astype(np.int16)
        edited[60:78, 260:280] += np.array([level, -level, 0], np.int16)
        regions = find_differences(source, np.clip(edited, 0, 255).astype(np.uint8)).regions
        [rank] = [i for i, r in enumerate(regions) if r.box.iou(Box(260, 60, 280, 78)) > 0.5]
        ranks.append(rank)
        strengths.append(regions[rank].strength)
    assert ranks == sorted(ranks, reverse=True)
    assert strengths == sorted(strengths)


@pytest.mark.parametrize("sigma", [4, 6])
@pytest.mark.slow
def test_the_threshold_follows_the_noise_of_the_picture(sigma):
    source, edited, box = pair()
    found = find_differences(source, noisy(edited, sigma))
    only_region(found, box)
    assert said(found, "noise of")
    assert found.noise_level == pytest.approx(0.67 * sigma, rel=0.2)  # luma of three channels
    assert find_differences(source, noisy(source, sigma)).regions == ()


def test_a_global_tone_is_a_number_and_no_region():
    source, edited, box = pair()
    found = find_differences(source, np.clip(edited * 1.06 + 8, 0, 255).astype(np.uint8))
    only_region(found, box)
    assert said(found, "red x1.06 +8") or said(found, "red x1.06 +7"), found.remarks
    assert found.geometry == "identical"


@pytest.mark.parametrize("way", ["reflected", "rolled", "black"])
@pytest.mark.slow
def test_a_shift_is_measured_and_its_border_strip_is_no_region(way):
    source, edited, box = pair()
    shifted = moved(edited, 3, -2)
    if way == "rolled":
        shifted = np.roll(edited, (-2, 3), (0, 1))
    elif way == "black":
        shifted[:, :3], shifted[-2:] = 0, 0
    found = find_differences(source, shifted)
    only_region(found, box, iou=0.9)
    assert found.geometry == "shifted"
    np.testing.assert_allclose(found.transform, [[1, 0, -3], [0, 1, 2]], atol=0.05)
    assert said(found, "moved by (3.0, -2.0) px")


@pytest.mark.parametrize("quality", [75, 95])
@pytest.mark.slow
def test_saving_as_jpeg_alone_is_no_edit_of_a_saturated_target(quality):
    source, edited, box = pair()
    assert find_differences(source, jpeg(source, quality)).regions == ()
    only_region(find_differences(source, jpeg(edited, quality)), box)


def test_a_block_pattern_is_remarked_as_compression():
    source = np.ascontiguousarray(data.astronaut())
    assert said(find_differences(source, jpeg(source, 60)), "compression-like")


@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (7, 6), (1, 40), (40, 1), (2, 3), (32, 32)])
def test_tiny_pictures_are_compared(shape):
    rng = np.random.default_rng(0)
    one, two = (rng.integers(0, 256, (*shape, 3), dtype=np.uint8) for _ in range(2))
    found = find_differences(one, two)
    assert found.absolute_fraction > 0.3
    for region in found.regions:
        x1, y1, x2, y2 = region.box_xyxy
        assert 0 <= x1 < x2 <= shape[1]
        assert 0 <= y1 < y2 <= shape[0]


def test_a_small_edit_of_a_small_picture_is_found():
    source = backdrop((32, 32), 4)
    edited = source.copy()
    edited[12:18, 10:17] = (250, 20, 20)
    only_region(find_differences(source, edited), Box(10, 12, 17, 18))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (np.full((200, 300, 3), 128, np.uint8), np.full((200, 300, 3), 138, np.uint8)),
        (
            np.random.default_rng(1).integers(0, 256, (200, 300, 3), dtype=np.uint8),
            np.random.default_rng(2).integers(0, 256, (200, 300, 3), dtype=np.uint8),
        ),
    ],
    ids=["flat", "unrelated noise"],
)
@pytest.mark.slow
def test_pictures_that_cannot_be_aligned_are_compared_frame_on_frame_and_it_is_said(one, two):
    found = find_differences(one, two)
    np.testing.assert_array_equal(found.transform, [[1, 0, 0], [0, 1, 0]])
    assert found.geometry == "identical"
    assert said(found, "alignment not trusted")


def test_a_flat_picture_with_an_edit():
    source = np.full((200, 300, 3), 128, np.uint8)
    edited, box = with_disc(source, (150, 100), 8)
    only_region(find_differences(source, edited), box, iou=0.9)


def test_grey_pictures_are_compared():
    source, edited, box = pair()
    grey = [np.dstack([cv2.cvtColor(p, cv2.COLOR_RGB2GRAY)] * 3) for p in (source, edited)]
    only_region(find_differences(*grey), box, iou=0.9)


def test_another_size_is_compared_like_an_equal_size():
    source, edited, box = pair()
    found = find_differences(source, resized(edited, (496, 376)))
    equal = find_differences(source, edited)
    assert found.geometry == "scaled"
    assert said(found, "size changed from 512x384 to 496x376 px")
    assert only_region(found, box).box.iou(equal.regions[0].box) > 0.8
    assert found.changed_fraction == pytest.approx(equal.changed_fraction, rel=0.25)


def stretched(pixels):
    return resized(pixels, (int(pixels.shape[1] * 1.1), pixels.shape[0]))


def windowed(pixels):
    return np.pad(resized(pixels, (384, 288)), ((48, 48), (64, 64), (0, 0)))


def turned(pixels):
    height, width = pixels.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), 2, 1)
    return cv2.warpAffine(pixels, matrix, (width, height), borderMode=cv2.BORDER_REFLECT)


@pytest.mark.parametrize(
    ("change", "geometry"),
    [
        (lambda p: moved(p, 40, -25), "shifted"),
        (lambda p: moved(p, 0.5, 0.25), "shifted"),
        (lambda p: resized(p, (256, 192)), "scaled"),
        (lambda p: resized(p, (1024, 768)), "scaled"),
        (lambda p: resized(p[19:-19, 26:-26], (512, 384)), "scaled"),
        (lambda p: letterboxed(p, (512, 512))[0], "letterboxed"),
        (windowed, "letterboxed"),
        (stretched, "changed"),
        (turned, "changed"),
    ],
    ids=[
        "far",
        "half-pixel",
        "halved",
        "doubled",
        "recropped",
        "bars",
        "window",
        "stretched",
        "turned",
    ],
)
@pytest.mark.slow
def test_geometry_is_named_and_undone(change, geometry):
    source = np.ascontiguousarray(data.coffee()[:384, :512])
    edited, box = with_disc(source, (300, 200), 12, (40, 160, 60))
    found = find_differences(source, change(edited))
    assert found.geometry == geometry
    only_region(found, box, iou=0.7)


@pytest.mark.slow
def test_an_unrelated_picture_has_few_regions_and_a_large_share():
    source, other = data.astronaut(), np.ascontiguousarray(data.coffee()[:400, :512])
    found = find_differences(source, resized(other, (512, 512)))
    assert found.changed_fraction > 0.5
    assert found.absolute_fraction > 0.5
    assert len(found.regions) <= MAX_REGIONS


@pytest.mark.slow
def test_regions_beyond_the_most_are_counted():
    source = np.full((600, 600, 3), 128, np.uint8)
    edited = source.copy()
    for y in range(20, 580, 40):
        for x in range(20, 580, 40):
            edited[y : y + 8, x : x + 8] = (200, 60, 60)
    found = find_differences(source, edited)
    assert len(found.regions) == MAX_REGIONS
    assert found.omitted == 14 * 14 - MAX_REGIONS


def test_the_true_change_ranks_among_larger_faint_blotches():
    source, edited, box = pair()
    rng = np.random.default_rng(0)
    blotched = edited.astype(np.float32)
    for _ in range(30):
        x, y = rng.integers(20, 490), rng.integers(20, 360)
        blot = np.zeros(source.shape[:2], np.float32)
        if np.hypot(x - 200, y - 150) > 50:
            cv2.circle(blot, (int(x), int(y)), int(rng.integers(14, 24)), 1, -1)
        blotched += cv2.GaussianBlur(blot, (0, 0), 2)[..., None] * rng.choice([-9, 9])
    found = find_differences(source, np.clip(blotched, 0, 255).astype(np.uint8))
    assert found.regions[0].box.iou(box) > 0.6


@pytest.mark.parametrize(
    ("shift", "kind"),
    [((0, 0), "none"), ((3, -2), "none"), ((1.5, 0.5), "jpeg"), ((3, -2), "tone")],
)
@pytest.mark.slow
def test_nothing_is_reported_in_or_along_a_painted_mask(shift, kind):
    source = np.ascontiguousarray(data.astronaut())
    edited, elsewhere = with_disc(source, (400, 100), 10, (40, 200, 60))
    edited, _ = with_disc(edited, (200, 150), 20, (200, 40, 200))
    edited = degrade(moved(edited, *shift), kind, np.random.default_rng(1)).copy()
    mask = Box(170, 120, 232, 181)
    masked_source = source.copy()
    for pixels in (masked_source, edited):
        pixels[120:181, 170:232] = 255
    found = find_differences(masked_source, edited, ignore=(mask,))
    only_region(found, elsewhere)
    np.testing.assert_allclose(found.transform[:, 2], np.negative(shift), atol=0.1)


def test_a_mask_over_everything_leaves_nothing_to_report():
    source, edited, _ = pair()
    found = find_differences(source, edited, ignore=(Box(-5, -5, 600, 600),))
    assert (found.regions, found.changed_fraction, found.absolute_fraction) == ((), 0.0, 0.0)


def test_an_object_that_moved_by_half_a_pixel_is_an_edge():
    source = np.full((240, 320, 3), 100, np.uint8)
    source[60:180, 80:240] = backdrop((160, 120), 1)
    cv2.rectangle(source, (120, 90), (180, 140), (30, 30, 30), -1)
    shifted = moved(source, 0.5, 0)
    edited = source.copy()
    edited[80:150, 110:190] = shifted[80:150, 110:190]
    found = find_differences(source, edited)
    assert found.regions
    assert all(region.edge_only for region in found.regions)
    disc, box = with_disc(edited, (40, 40), 6)
    regions = find_differences(source, disc).regions
    assert regions[0].box.iou(box) > 0.6
    assert [r.edge_only for r in regions] == sorted(r.edge_only for r in regions)


def test_a_strip_along_the_border_is_an_edge():
    source = backdrop((320, 240), 1)
    edited, box = with_disc(source, (100, 100), 5)
    edited[:, -2:] = 255
    first, last = find_differences(source, edited).regions
    assert first.box.iou(box) > 0.6
    assert (first.edge_only, last.edge_only) == (False, True)


def test_a_thin_drawn_line_is_no_edge():
    source = backdrop((320, 240), 1)
    edited = source.copy()
    cv2.line(edited, (60, 120), (200, 120), (250, 250, 250), 2)
    assert not only_region(find_differences(source, edited), Box(60, 119, 201, 122), 0.3).edge_only


def test_texture_that_changes_without_its_mean_is_found():
    source = np.ascontiguousarray(data.astronaut())
    edited = source.copy()
    stripes = (np.indices((40, 40)).sum(axis=0) % 2 * 2 - 1)[..., None] * 25
    edited[430:470, 420:460] = np.clip(edited[430:470, 420:460] + stripes, 0, 255)
    regions = find_differences(source, edited).regions
    assert regions[0].box.iou(Box(420, 430, 460, 470)) > 0.6


@pytest.mark.slow
def test_the_same_bytes_come_back_whatever_the_number_of_threads():
    source = np.ascontiguousarray(data.coffee())
    edited, _ = with_disc(source, (300, 200), 12)
    edited = degrade(edited, "zoom", np.random.default_rng(2))
    threads = cv2.getNumThreads()
    answers = []
    try:
        for count in (1, 4, 4):
            cv2.setNumThreads(count)
            answers.append(json.dumps(find_differences(source, edited).to_json()))
    finally:
        cv2.setNumThreads(threads)
    assert len(set(answers)) == 1


_LARGEST = """
import resource, cv2, numpy as np
from agent_judge.tools.difference import find_differences
source = cv2.resize(np.random.default_rng(0).integers(40, 200, (60, 80, 3), np.uint8), (8000, 6000))
edited = source.copy()
cv2.circle(edited, (3000, 2000), 40, (220, 30, 40), -1)
[region] = find_differences(source, edited).regions
print(*region.box_xyxy, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.slow
def test_the_largest_picture_takes_less_than_two_gigabytes():
    done = subprocess.run([sys.executable, "-c", _LARGEST], check=True, capture_output=True)
    *box, megabytes = map(int, done.stdout.split())
    assert Box(*box).iou(Box(2960, 1960, 3041, 2041)) > 0.9
    assert megabytes < 2000


def test_json_has_the_fields_of_the_record():
    source, edited, _ = pair()
    found = find_differences(source, edited)
    written = json.loads(json.dumps(found.to_json()))
    assert list(written) == [
        "regions",
        "omitted",
        "changed_fraction",
        "absolute_fraction",
        "remarks",
        "geometry",
        "transform",
        "noise_level",
    ]
    assert list(written["regions"][0]) == ["box_xyxy", "area_px", "strength", "edge_only"]
    assert written["regions"][0]["box_xyxy"] == list(found.regions[0].box_xyxy)


def test_the_pictures_are_not_changed():
    source, edited, _ = pair()
    copies = source.copy(), edited.copy()
    find_differences(source, edited, ignore=(Box(10, 10, 40, 40),))
    np.testing.assert_array_equal(source, copies[0])
    np.testing.assert_array_equal(edited, copies[1])


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros((4, 4), np.uint8),
        np.zeros((4, 4, 4), np.uint8),
        np.zeros((4, 4, 3), np.float32),
        np.zeros((0, 4, 3), np.uint8),
    ],
    ids=["grey", "alpha", "float", "empty"],
)
def test_other_arrays_are_refused(wrong):
    with pytest.raises(ValueError, match="edited must be uint8 of shape"):
        find_differences(np.zeros((4, 4, 3), np.uint8), wrong)
