from __future__ import annotations

import pytest

from agent_judge.stats.breakdown import agreement_by_group, disagreements, rating_table
from agent_judge.stats.ratings import manifest_ratings, rated_records
from tests.stats.rows import record


def rated(cases):
    """Rated records from (judge's level, raters' levels, where) triples."""
    records = [record(level, id=f"r{i}", **where) for i, (level, _, where) in enumerate(cases)]
    labels = {
        f"r{i}": [{"by": f"p{k}", where.get("criterion", "IF"): v} for k, v in enumerate(values)]
        for i, (_, values, where) in enumerate(cases)
    }
    return rated_records(records, manifest_ratings(labels))


def test_modes_and_criteria_are_kept_apart_and_groups_named():
    found = agreement_by_group(
        rated(
            [
                (4, [4], {"mode": "oracle", "type": "color", "area_pct": 1.0}),
                (3, [2], {"mode": "oracle", "type": "count", "area_pct": 0.01}),
                (1, [1], {"mode": "tool", "type": "color"}),
                (2, [4], {"mode": "tool", "type": "color", "criterion": "VC"}),
            ]
        ),
        n_resamples=10,
    )

    assert [(g.mode, g.criterion, g.grouping, g.group, g.agreement.n) for g in found] == [
        ("oracle", "IF", "all", "all", 2),
        ("oracle", "IF", "type", "color", 1),
        ("oracle", "IF", "type", "count", 1),
        ("oracle", "IF", "size", "< 0.07 %", 1),
        ("oracle", "IF", "size", "> 0.8 %", 1),
        ("tool", "IF", "all", "all", 1),
        ("tool", "VC", "all", "all", 1),
    ]
    assert found[0].agreement.mae.value == 0.5


def test_rows_of_one_source_picture_are_one_cluster():
    cases = [(1 + i % 4, [1 + i % 3], {"source_sha256": "s"}) for i in range(12)]

    assert agreement_by_group(rated(cases), n_resamples=10)[0].agreement.n_clusters == 1


def test_the_largest_disagreements_come_first_with_their_direction():
    found = disagreements(
        rated([(4, [3, 4], {}), (1, [4, 4], {}), (2, [2, 2], {}), (4, [1, 2], {})]), limit=2
    )

    assert [(row.record.id, row.gap) for row in found] == [("r1", -3.0), ("r3", 2.5)]
    assert found[0].values == {"p0": 4, "p1": 4}


def test_a_rater_who_skipped_a_row_leaves_a_gap_in_the_table():
    table = rating_table(rated([(4, [3, 4], {}), (1, [2], {})]))

    assert table.tolist()[0] == [3, 4]
    assert table.tolist()[1] == pytest.approx([2, float("nan")], nan_ok=True)


def test_nothing_rated_gives_no_groups():
    assert agreement_by_group([]) == []
    assert rating_table([]).shape == (0, 0)
