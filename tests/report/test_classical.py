"""Classical columns as a table to join with the records."""

import csv
import io

import numpy as np
import pytest

from agent_judge.images import encode_png
from agent_judge.report.classical import write_classical
from agent_judge.run import Run
from agent_judge.store import Store
from tests.report.runs import BINDING, plan_rows


def test_a_line_a_row_with_empty_cells_for_what_is_not_there(tmp_path):
    grey = np.full((30, 30, 3), 100, np.uint8)
    (tmp_path / "s.png").write_bytes(encode_png(grey))
    (tmp_path / "e.png").write_bytes(encode_png(grey + np.uint8(51)))
    common = {"source": str(tmp_path / "s.png"), "instruction": "x", "editor": "m"}
    rows = [
        {"id": "a", "edited": str(tmp_path / "e.png"), "type": "color", **common},
        {"id": "b", "edited": str(tmp_path / "gone.png"), **common},
    ]
    with Store.create(tmp_path / "run", BINDING) as store:
        plan_rows(store, rows)
    out = io.StringIO()
    write_classical(Run.open(tmp_path / "run"), out)
    first, second = csv.DictReader(io.StringIO(out.getvalue()))
    assert (first["id"], first["item"], first["editor"], first["type"]) == ("a", "a", "m", "color")
    assert float(first["l1"]) == pytest.approx(0.2)
    assert first["l1_inside"] == ""
    assert (second["id"], second["l1"]) == ("b", "")
