from pathlib import Path

import pytest

from agent_judge.annotate.round import draw_round
from agent_judge.records import Sample


@pytest.fixture
def rows(tmp_path):
    for name in ("s.png", "e.png"):
        (tmp_path / name).touch()
    return [
        Sample(id=f"r{i}", source=tmp_path / "s.png", edited=tmp_path / "e.png", instruction="x")
        for i in range(40)
    ]


def ids(rows, *, size=None, seed=0, n_calibration=0):
    round_ = draw_round(rows, size=size, seed=seed, n_calibration=n_calibration)
    return [row.id for row in round_.rows]


def test_every_row_comes_once_and_not_in_the_manifests_order(rows):
    assert sorted(ids(rows)) == sorted(row.id for row in rows)
    assert ids(rows) != [row.id for row in rows]


def test_the_seed_draws_the_subset(rows):
    assert ids(rows, size=7) == ids(rows, size=7)
    assert ids(rows, size=7) != ids(rows, size=7, seed=1)


def test_a_larger_subset_begins_with_the_smaller_one(rows):
    assert ids(rows, size=12)[:7] == ids(rows, size=7)


def test_rows_added_around_it_leave_a_row_where_it_was(rows):
    fewer = ids(rows[10:])
    assert [id_ for id_ in ids(rows) if id_ in fewer] == fewer


def test_rows_without_a_picture_are_left_out_and_counted(rows):
    lost = Sample(id="lost", source=rows[0].source, edited=Path("none.png"), instruction="x")
    round_ = draw_round([lost, *rows], size=50, seed=0, n_calibration=99)

    assert len(round_.rows) == 40
    assert (round_.n_calibration, round_.n_without_picture) == (40, 1)
