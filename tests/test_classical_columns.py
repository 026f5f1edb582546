"""The classical columns of rows, read from their pictures."""

import numpy as np
import pytest

from agent_judge.classical_columns import classical_columns
from agent_judge.images import encode_png
from agent_judge.metrics.classical import COLUMNS
from agent_judge.store import PlannedRow

GREY = np.full((40, 50, 3), 100, np.uint8)


def planned(folder, id_, edited, **more):
    (folder / "source.png").write_bytes(encode_png(GREY))
    path = folder / f"{id_}.png"
    if edited is not None:
        path.write_bytes(encode_png(edited))
    row = {
        "id": id_,
        "source": str(folder / "source.png"),
        "edited": str(path),
        "instruction": "make it brighter",
        **more,
    }
    return PlannedRow(id=id_, mode="tool", row=row)


def brighter_in(box, by):
    x1, y1, x2, y2 = box
    edited = GREY.copy()
    edited[y1:y2, x1:x2] += np.uint8(by)
    return edited


def test_figures_stand_apart_inside_and_outside_the_boxes(tmp_path):
    box = [10, 10, 20, 30]
    row = planned(tmp_path, "a", brighter_in(box, 51), boxes=[box])
    [(id_, found)] = classical_columns([row])
    assert id_ == "a"
    assert tuple(found) == COLUMNS
    assert found["l1_inside"] == pytest.approx(51 / 255)
    assert found["l1_outside"] == 0
    assert found["l1"] == pytest.approx(0.2 * 200 / 2000)


def test_rows_keep_their_order_and_one_without_output_is_empty(tmp_path):
    rows = [
        planned(tmp_path, "a", GREY),
        planned(tmp_path, "b", None),
        planned(tmp_path, "c", brighter_in((0, 0, 50, 40), 51)),
    ]
    found = dict(classical_columns(rows))
    assert list(found) == ["a", "b", "c"]
    assert set(found["b"].values()) == {None}
    assert [found[id_]["l1"] for id_ in "ac"] == pytest.approx([0, 0.2])
    assert found["a"]["l1_inside"] is None  # no boxes: there is no inside
