"""Precision and recall of boxes, one to one, by hand."""

import itertools

import numpy as np
import pytest

from agent_judge.records import Box
from agent_judge.stats.detection import Detection, detect

A, B = Box(0, 0, 10, 10), Box(20, 0, 30, 10)


@pytest.mark.parametrize(
    ("found", "planted", "matched"),
    [
        ([], [], 0),
        ([A], [], 0),
        ([], [A], 0),
        ([A], [A], 1),
        ([A, B], [B, A], 2),
        ([A, A], [A], 1),  # found twice counts once
        ([A], [A, A], 1),  # one box finds one
        ([Box(0, 0, 10, 5)], [A], 1),  # IoU 0.5 is enough
        ([Box(0, 0, 10, 4.9)], [A], 0),
        ([Box(0, 0, 30, 10)], [A, B], 0),  # one box around both finds neither
        ([Box(0, 0, 10, 20)], [A], 1),
        # the first could take either: the pairs are chosen so that both find one
        ([Box(0, 0, 10, 10), Box(0, 0, 10, 14)], [Box(0, 0, 10, 12), Box(0, 0, 10, 6)], 2),
    ],
)
def test_pairs_are_made_one_to_one_as_many_as_can_be(found, planted, matched):
    assert detect(found, planted) == Detection(
        n_found=len(found), n_planted=len(planted), n_matched=matched
    )


def test_counts_add_up_over_pictures():
    total = detect([A, B], [A]) + detect([A], [A, B]) + detect([], [B])
    assert (total.n_found, total.n_planted, total.n_matched) == (3, 4, 2)
    assert total.precision_01 == pytest.approx(2 / 3)
    assert total.recall_01 == 0.5


def test_nothing_found_has_no_precision_and_nothing_planted_no_recall():
    assert detect([], [A]).precision_01 is None
    assert detect([A], []).recall_01 is None


def test_as_many_pairs_as_trying_every_assignment_gives():
    rng = np.random.default_rng(7)

    def boxes(n):
        corners = rng.integers(0, 12, (n, 2))
        sides = rng.integers(4, 12, (n, 2))
        return [Box(*map(float, (*c, *(c + s)))) for c, s in zip(corners, sides, strict=True)]

    for _ in range(30):
        found, planted = boxes(5), boxes(4)
        best = max(
            sum(f.iou(p) >= 0.3 for f, p in zip(order, planted, strict=False))
            for order in itertools.permutations(found)
        )
        assert detect(found, planted, iou=0.3).n_matched == best
