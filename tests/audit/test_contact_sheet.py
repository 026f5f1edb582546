import json
from pathlib import Path

import pytest

from agent_judge.audit import contact_sheet
from agent_judge.errors import PictureError
from agent_judge.images import load_image

DEMO = Path(__file__).parents[2] / "eval_data" / "demo"


@pytest.fixture
def manifest(tmp_path):
    """Seven rows, one more than a page holds; the last has no reference."""
    lines = (DEMO / "manifest.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(lines[i]) for i in (11, 11, 11, 11, 11, 11, 8)]
    for row in rows:
        row |= {
            key: str(DEMO / row[key]) for key in ("source", "edited", "reference") if key in row
        }
    path = tmp_path / "m.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.mark.slow
def test_every_row_of_a_manifest_is_on_a_page(manifest, tmp_path):
    contact_sheet.main([str(manifest), str(tmp_path / "pages")])
    pages = sorted((tmp_path / "pages").iterdir())
    shapes = [load_image(page).shape[:2] for page in pages]
    strip = contact_sheet.CELL_PX + contact_sheet.CAPTION_PX
    width = 6 * contact_sheet.CELL_PX
    assert shapes == [(contact_sheet.STRIPS_PER_PAGE * strip, width), (strip, width)]


def test_a_missing_picture_is_named(tmp_path):
    row = {"source": "none.png", "edited": "none.png", "boxes": [[0, 0, 2, 2]], "labels": []}
    (tmp_path / "m.jsonl").write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(PictureError, match=r"none\.png"):
        contact_sheet.contact_sheet(tmp_path / "m.jsonl", tmp_path)
