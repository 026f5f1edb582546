"""Records: what has no level gives none to any figure."""

from typing import Any

import pytest

from agent_judge.records import Record

ROW: dict[str, Any] = {
    "id": "a",
    "item": "a",
    "editor": "",
    "type": None,
    "mode": "tool",
    "criterion": "IF",
}


def test_a_scored_record_gives_its_level():
    assert Record(**ROW, status="scored", level=2).scored_level == 2


@pytest.mark.parametrize(
    "fate",
    [{"status": "missing_output"}, {"status": "unscored", "reason": "timeout"}],
    ids=["nothing to judge", "could not be judged"],
)
def test_no_figure_gets_a_level_out_of_a_record_without_one(fate):
    with pytest.raises(ValueError, match="expected a scored record"):
        _ = Record(**ROW, **fate).scored_level
