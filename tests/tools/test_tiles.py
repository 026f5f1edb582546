import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_judge.tools.tiles import ramp, spans


@given(length=st.integers(1, 5000), tile=st.integers(2, 900), data=st.data())
def test_spans_cover_all_lie_inside_and_overlap_enough(length, tile, data):
    overlap = data.draw(st.integers(0, tile - 1))
    found = spans(length, tile, overlap)
    assert found[0][0] == 0
    assert found[-1][1] == length
    assert all(0 <= start < stop <= length for start, stop in found)
    assert {stop - start for start, stop in found} == {min(tile, length)}
    for (_, before), (after, _) in itertools.pairwise(found):
        assert before - after >= overlap


@given(length=st.integers(65, 3000), tile=st.integers(65, 600))
def test_blended_tiles_leave_no_sample_without_weight(length, tile):
    guard, rise = 16, 32
    total = np.zeros(length)
    for start, stop in spans(length, tile, 2 * guard + rise):
        total[start:stop] += ramp((start, stop), length, guard, rise)
    assert total.min() > 0


@pytest.mark.parametrize("span", [(0, 100), (40, 140), (100, 200)])
def test_weights_vanish_only_where_a_tile_ends_inside_the_picture(span):
    weights = ramp(span, 200, 16, 32)
    assert (weights[:16] == 0).all() == (span[0] > 0)
    assert (weights[-16:] == 0).all() == (span[1] < 200)
    assert weights.max() == 1
