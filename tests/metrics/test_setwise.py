import numpy as np
import pytest

from agent_judge.metrics.setwise import (
    BpmParts,
    overall_absolute,
    overall_setwise,
)


def parts(modify, preserve, size=1.0, position=1.0):
    return BpmParts(modify=modify, preserve=preserve, size=size, position=position)


def independent(rows):
    """The published formula on whole columns."""
    table = np.array(rows)
    semantic = sum(
        (table[:, c] - table[:, c].min()) / (table[:, c].max() - table[:, c].min()) for c in (0, 1)
    )
    return 0.7 * semantic + 0.3 * (table[:, 2] + table[:, 3])


def test_setwise_figures_equal_the_published_formula():
    rng = np.random.default_rng(0)
    rows = [
        (rng.uniform(-1, 1), rng.uniform(-1, 0), rng.integers(2), rng.choice([0, 0.5, 1]))
        for _ in range(30)
    ]
    assert overall_setwise([parts(*row) for row in rows]) == pytest.approx(independent(rows))


def test_setwise_range_runs_from_worst_to_best_in_everything():
    found = overall_setwise([parts(0.3, 0, 1, 1), parts(-0.1, -0.9, 0, 0)])
    assert found[::-1] == pytest.approx((0, 2))


def test_items_with_a_missing_part_have_no_figure_and_move_no_other():
    both = [parts(0.3, -0.2), parts(0.1, -0.1, 0)]
    alone = overall_setwise(both)
    odd = [parts(None, -1), parts(1, None)]
    assert overall_setwise([odd[0], *both, odd[1]]) == (None, *alone, None)


@pytest.mark.parametrize("same", [0.0, 0.3, -0.2])
def test_a_part_that_is_the_same_for_all_leaves_the_order_to_the_others(same):
    found = overall_setwise([parts(same, -0.1), parts(same, -0.3), parts(same, -0.2)])
    assert found == pytest.approx((0.7 * 1.5 + 0.6, 0.7 * 0.5 + 0.6, 0.7 + 0.6))
    assert overall_setwise([parts(same, -0.1)] * 3) == pytest.approx((0.7 + 0.6,) * 3)


@pytest.mark.parametrize("items", [[], [parts(0.3, -0.1)], [parts(0.3, -0.1), parts(None, -0.1)]])
def test_fewer_than_two_items_are_no_set(items):
    assert overall_setwise(items) == (None,) * len(items)


def test_setwise_figure_moves_with_the_set_and_the_absolute_one_does_not():
    one, other, third = parts(0.3, -0.2), parts(0.1, -0.1), parts(-0.5, -0.9)
    assert overall_setwise([one, other, third])[:2] != overall_setwise([one, other])
    assert overall_absolute(one) == pytest.approx(0.7 * (0.65 + 0.8) + 0.6)


@pytest.mark.parametrize(
    ("item", "figure"),
    [
        (parts(-1, -1, 0, 0), 0),
        (parts(1, 0, 1, 1), 2),
        (parts(0, -0.5, 1, 0.5), 0.7 + 0.45),
        (parts(None, 0), None),
        (parts(0, None), None),
    ],
)
def test_absolute_figure_maps_each_part_onto_its_whole_range(item, figure):
    assert overall_absolute(item) == (None if figure is None else pytest.approx(figure))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"modify": 1.1}, "modify must lie between -1 and 1"),
        ({"modify": float("nan")}, "modify must lie"),
        ({"preserve": 0.1}, "preserve must lie between -1 and 0"),
        ({"size": 2.0}, "size must lie"),
        ({"position": -0.5}, "position must lie"),
    ],
)
def test_parts_out_of_range_are_refused(changes, told):
    with pytest.raises(ValueError, match=told):
        BpmParts(**{"modify": 0.0, "preserve": 0.0, "size": 1.0, "position": 1.0, **changes})
