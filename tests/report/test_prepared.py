import pytest

from agent_judge.records import Box
from agent_judge.report.prepared import prepared_of
from agent_judge.settings import OracleSettings
from tests.report.runs import record, scored

TWO = [[100, 100, 140, 110], [300, 200, 310, 220]]
SIZE_WH = (640, 480)
MARGINS = OracleSettings()


def prepared(criterion, boxes=TWO, **row):
    made = scored({"id": "a", "boxes": boxes, **row}, criterion)
    return prepared_of(made, SIZE_WH, MARGINS)


def test_oracle_if_shows_a_crop_a_target_grown_by_half_its_longer_side_and_at_least_32_px():
    assert prepared("IF") == {"crops": [(68, 68, 172, 142), (268, 168, 342, 252)]}


def test_count_shows_one_crop_around_all_targets():
    around = Box(100, 100, 310, 220).grow(105)
    assert prepared("IF", type="count") == {"crops": [(0, 0, around.x2, around.y2)]}


def test_oracle_vc_shows_the_white_rectangles():
    # 4 px and 2 % of the longer side, outward to whole pixels.
    assert prepared("VC") == {"white": [(95, 95, 145, 115), (295, 195, 315, 225)]}


@pytest.mark.parametrize("criterion", ["IF", "VC"])
def test_whole_pictures_and_rows_without_a_level_have_nothing_prepared(criterion):
    assert prepared(criterion, boxes=None) is None
    failed = record({"id": "a", "boxes": TWO}, criterion, status="unscored", reason="invalid_box")
    assert prepared_of(failed, SIZE_WH, MARGINS) is None
