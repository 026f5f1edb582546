from __future__ import annotations

from agent_judge.stats.size import NO_SIZE, SIZE_BINS, group_order


def test_groups_sort_by_size_then_by_letter():
    shuffled = ["ocr", SIZE_BINS[2], NO_SIZE, SIZE_BINS[0], "color", SIZE_BINS[1]]

    assert sorted(shuffled, key=group_order) == [*SIZE_BINS, NO_SIZE, "color", "ocr"]
