import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_judge.records import Box
from agent_judge.tools.detector import UNKNOWN
from agent_judge.tools.tiled_search import (
    MAX_TILES,
    Found,
    Look,
    merge,
    search,
    tile_looks,
)
from tests.tools.red_finder import RedFinder, picture


def boxes_of(result):
    return sorted(f.box.xyxy for f in result.found)


@given(data=st.data(), width=st.integers(60, 3000), height=st.integers(60, 3000))
@settings(max_examples=40)
def test_boxes_of_tiles_return_to_where_the_thing_is(data, width, height):
    x, y = data.draw(st.integers(0, width - 30)), data.draw(st.integers(0, height - 20))
    box = (x, y, x + 30, y + 20)
    assert boxes_of(search(picture(width, height, box), ["red"], RedFinder(2))) == [box]


@given(width=st.integers(2, 9000), height=st.integers(2, 9000))
def test_tiles_cover_the_area_are_few_and_keep_their_origin(width, height):
    area = Box(100, 200, 100 + width, 200 + height)
    looks = tile_looks(area)
    assert len(looks) <= MAX_TILES
    assert all(look.window.union(area) == area for look in looks)
    # The windows form a grid: along each axis no gap between neighbours.
    for axis in (0, 1):
        spans = sorted({(k.window.xyxy[axis], k.window.xyxy[axis + 2]) for k in looks})
        assert spans[0][0] == area.xyxy[axis]
        assert spans[-1][1] == area.xyxy[axis + 2]
        assert all(after[0] <= before[1] for before, after in itertools.pairwise(spans))


@pytest.mark.slow
def test_small_target_that_the_whole_look_misses_is_found_by_tiles_t11():
    pixels = picture(6000, 4000, (4321, 1234, 4345, 1258))
    detector = RedFinder(legible_px=12)
    result = search(pixels, ["red"], detector)
    assert boxes_of(result) == [(4321, 1234, 4345, 1258)]
    assert result.looks[0].scale == pytest.approx(0.2)
    assert result.found[0].look.scale > 0.5
    assert len(detector.seen) == len(result.looks) <= 1 + MAX_TILES


def test_region_is_looked_at_more_closely_and_nothing_outside_is_found():
    pixels = picture(6000, 4000, (4321, 1234, 4345, 1258), (100, 100, 200, 200))
    result = search(pixels, ["red"], RedFinder(20), Box(4000, 1000, 4700, 1500))
    assert boxes_of(result) == [(4321, 1234, 4345, 1258)]
    assert result.looks == (result.found[0].look,)
    assert result.looks[0].scale == pytest.approx(1.6)


def test_small_picture_is_searched_again_only_when_nothing_was_found():
    found, empty = picture(640, 480, (10, 10, 50, 50)), picture(640, 480)
    assert len(search(found, ["red"], RedFinder()).looks) == 1
    assert len(search(empty, ["red"], RedFinder()).looks) == 5
    assert len(search(picture(120, 90), ["red"], RedFinder()).looks) == 1


def test_box_that_fits_no_phrase_is_nothing_found_and_tiles_are_searched():
    class Mistaken(RedFinder):
        def find(self, pictures, phrases):
            return super().find(pictures, [UNKNOWN])

    assert len(search(picture(640, 480, (10, 10, 50, 50)), ["cup"], Mistaken()).looks) == 5


def test_thing_across_a_tile_border_is_one_candidate():
    width, height = 2400, 800
    looks = tile_looks(Box(0, 0, width, height))
    border = int(looks[0].window.x2)
    box = (border - 60, 300, border + 40, 380)
    assert boxes_of(search(picture(width, height, box), ["red"], RedFinder())) == [box]


LOOK = Look(window=Box(0, 0, 100, 100), scale=1.0)


def one(box, score, *, phrase="cup", cut=False):
    return Found(box=Box(*box), phrase=phrase, score=score, look=LOOK, cut=cut)


@pytest.mark.parametrize(
    ("found", "kept"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param(
            [one((0, 0, 10, 10), 0.4), one((1, 0, 10, 10), 0.6)], [0.6], id="the same, better stays"
        ),
        pytest.param(
            [one((0, 0, 10, 10), 0.4), one((1, 0, 10, 10), 0.6, phrase="box")],
            [0.6, 0.4],
            id="other phrases do not compete",
        ),
        pytest.param(
            [one((0, 0, 10, 10), 0.9, cut=True), one((0, 0, 40, 10), 0.5)],
            [0.5],
            id="a fragment gives way to the whole, whatever its score",
        ),
        pytest.param(
            [one((0, 0, 10, 10), 0.9), one((0, 0, 40, 10), 0.5)],
            [0.9, 0.5],
            id="a small thing inside a large one is no fragment",
        ),
        pytest.param(
            [one((0, 0, 10, 10), 0.9, cut=True), one((50, 0, 90, 10), 0.5)],
            [0.9, 0.5],
            id="a cut thing alone stays",
        ),
    ],
)
def test_merge(found, kept):
    assert [f.score for f in merge(found)] == kept
