import numpy as np
import pytest

from agent_judge.judges.measuring.seen import distinct, look, read_seen
from agent_judge.records import Box
from tests.judges.measuring.staged import GREEN, RED, disc, photograph

PHOTO = photograph()
APART = {"gap_share": 0.5, "gap_px": 8.0}


def reply(*regions, **kwargs):
    return {
        "regions": [
            {"box_px": list(box), "area_px": 50, "edge_only": edge} for box, edge in regions
        ],
        "omitted": 0,
        "changed_fraction": 0.01,
        "absolute_fraction": 0.02,
        "transform": [[1, 0, 0], [0, 1, 0]],
        **kwargs,
    }


def test_fringes_are_counted_apart_from_regions():
    seen = read_seen(reply(((1, 2, 9, 9), False), ((0, 0, 99, 1), True)), (100, 100))
    assert [r.box.xyxy for r in seen.regions] == [(1, 2, 9, 9)]
    assert seen.fringes == 1
    assert not seen.nothing


@pytest.mark.parametrize(
    ("data", "nothing"),
    [
        (reply(), True),
        (reply(((0, 0, 99, 1), True)), False),
        (reply(omitted=3), False),
    ],
    ids=["none", "a fringe", "omitted ones"],
)
def test_nothing_is_no_difference_of_any_kind(data, nothing):
    assert read_seen(data, (100, 100)).nothing is nothing


@pytest.mark.parametrize(
    ("transform", "share"),
    [
        ([[1, 0, 0], [0, 1, 0]], 0),
        ([[1, 0, 3], [0, 1, 4]], 0.01),
        ([[1.02, 0, 0], [0, 1.02, 0]], 0.02),
    ],
    ids=["still", "moved by 5 of 500 px", "2 % larger"],
)
def test_the_motion_is_that_of_the_farthest_corner(transform, share):
    seen = read_seen(reply(transform=transform), (300, 400))
    assert seen.moved_share == pytest.approx(share)


def test_two_planted_discs_are_two_regions():
    first, second = Box(40, 40, 70, 70), Box(220, 150, 250, 180)
    seen = look(PHOTO, disc(disc(PHOTO, RED, first), GREEN, second))
    assert len(seen.regions) == 2
    assert all(max(r.box.iou(b) for b in (first, second)) > 0.7 for r in seen.regions)
    assert look(PHOTO, PHOTO).nothing


def test_what_is_white_is_not_looked_at():
    box = Box(40, 40, 70, 70)
    masked = [p.copy() for p in (PHOTO, disc(PHOTO, RED, Box(220, 150, 250, 180)))]
    for pixels in masked:
        pixels[40:70, 40:70] = 255
    assert len(look(masked[0], masked[1], (box,)).regions) == 1


@pytest.mark.parametrize(
    ("boxes", "things"),
    [
        ([], []),
        ([(0, 0, 10, 10), (15, 0, 25, 10)], [(0, 0, 25, 10)]),
        ([(0, 0, 10, 10), (40, 0, 50, 10)], [(0, 0, 10, 10), (40, 0, 50, 10)]),
        ([(0, 0, 60, 60), (85, 0, 145, 60)], [(0, 0, 145, 60)]),
        ([(0, 0, 10, 10), (28, 0, 38, 10), (14, 0, 24, 10)], [(0, 0, 38, 10)]),
        ([(0, 0, 10, 10), (0, 14, 10, 24), (50, 0, 60, 10)], [(0, 0, 10, 24), (50, 0, 60, 10)]),
    ],
    ids=["none", "near", "far", "large ones reach further", "by a third", "below"],
)
def test_fragments_of_one_thing_are_joined(boxes, things):
    found = distinct([Box(*b) for b in boxes], **APART)
    assert [b.xyxy for b in found] == things


def test_the_order_of_fragments_does_not_matter_to_the_things():
    rng = np.random.default_rng(0)
    boxes = [Box(x, y, x + 8, y + 8) for x, y in rng.integers(0, 120, (12, 2)).tolist()]
    wanted = {b.xyxy for b in distinct(boxes, **APART)}
    for _ in range(5):
        order = rng.permutation(len(boxes))
        assert {b.xyxy for b in distinct([boxes[i] for i in order], **APART)} == wanted
