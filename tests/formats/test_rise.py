from typing import Any

from agent_judge.formats.rise import import_rise
from tests.formats.trees import DEFAULTS, lay, put, refusal, rows_of

ENTRIES: list[dict[str, Any]] = [
    {
        "index": "temporal_reasoning_1",
        "category": "temporal_reasoning",
        "instruction": "Draw it a year later.",
        "image": "temporal_reasoning_images/1.png",
        "reference": "A rotten banana.",
    },
    {
        "index": "spatial_reasoning_2",
        "category": "spatial_reasoning",
        "instruction": "Swap them.",
        "image": ["spatial_reasoning_images/2_1.png", "spatial_reasoning_images/2_2.png"],
        "reference_img": "spatial_reasoning_images/2_ref.png",
        "multi_img": "True",
    },
]
PICTURES = (
    "temporal_reasoning_images/1.png spatial_reasoning_images/2_1.png "
    "spatial_reasoning_images/2_2.png spatial_reasoning_images/2_ref.png"
)


def test_outputs_are_found_by_category_and_index(tmp_path):
    table = put(lay(tmp_path / "data", PICTURES) / "datav2.json", ENTRIES)
    outputs = lay(tmp_path / "bagel", "images/temporal_reasoning/temporal_reasoning_1.jpeg")
    found = import_rise(table, outputs, options=DEFAULTS)
    one, two = rows_of(found, tmp_path)
    assert one["edited"] == "bagel/images/temporal_reasoning/temporal_reasoning_1.jpeg"
    assert one["edited_caption"] == "A rotten banana."
    assert "reference" not in one
    assert two["source"] == "data/spatial_reasoning_images/2_1.png"
    assert two["sources"] == ENTRIES[1]["image"]
    assert two["reference"] == "data/spatial_reasoning_images/2_ref.png"
    assert (two["editor"], two["benchmark_type"]) == ("bagel", "spatial_reasoning")
    assert "missing  1: spatial_reasoning_2" in found.summary()


def test_nulls_of_a_data_frame_are_no_values(tmp_path):
    table = lay(tmp_path / "data", PICTURES) / "t.json"
    table.write_text(
        '[{"index": "a", "category": "c", "instruction": "x", "reference_img": NaN,'
        ' "image": "temporal_reasoning_images/1.png"}]'
    )
    found = import_rise(table, lay(tmp_path / "m", "images/c/a.png"), options=DEFAULTS)
    assert "reference" not in rows_of(found, tmp_path)[0]


def test_a_repeated_index_is_told(tmp_path):
    table = put(lay(tmp_path / "data", PICTURES) / "t.json", [ENTRIES[0]] * 2)
    found = import_rise(table, lay(tmp_path / "m", "images/x.png"), options=DEFAULTS)
    assert "'temporal_reasoning_1' is the id of line 2 too" in refusal(found)
