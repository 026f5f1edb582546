import pytest

from agent_judge.errors import InputError
from agent_judge.formats.dlebench import import_dlebench
from agent_judge.formats.importing import ImportOptions
from tests.formats.trees import DEFAULTS, lay, put, refusal, rows_of


def entry(source="a.jpg", reference="r1.jpg", **values):
    return {
        "image": source,
        "reference_image": reference,
        "edit_operation": "Make the small cup red.",
        "prompt_clean": "A kitchen.",
        **values,
    }


@pytest.fixture
def imported(tmp_path):
    data = lay(
        tmp_path / "data",
        "Source_Images/a.jpg Source_Images/b.jpg Reference_Images/r1.jpg Reference_Images/r2.jpg",
    )

    def run(*entries, outputs="r1.png", options=DEFAULTS, **more):
        put(data / "data.jsonl", list(entries))
        return import_dlebench(data, lay(tmp_path / "out", outputs), options=options, **more)

    return run


def test_the_published_keys_are_read(imported, tmp_path):
    found = imported(entry(bbox=[300, 200, 314, 210], edit_type="Color Change", note="x"))
    assert rows_of(found, tmp_path) == [
        {
            "id": "r1",
            "source": "data/Source_Images/a.jpg",
            "edited": "out/r1.png",
            "instruction": "Make the small cup red.",
            "reference": "data/Reference_Images/r1.jpg",
            "type": "color",
            "boxes": [[300, 200, 314, 210]],
            "source_caption": "A kitchen.",
            "note": "x",
            "benchmark_type": "Color Change",
        }
    ]
    assert "image -> source, reference_image -> reference, edit_operation -> instruction" in (
        found.summary()
    )
    assert "bbox -> boxes; kept: note" in found.summary()
    assert "chosen   outputs are looked for by the name of the reference" in found.summary()


@pytest.mark.parametrize(
    ("value", "boxes", "box_format"),
    [
        ([1, 2, 3, 4], [[1, 2, 3, 4]], "xyxy"),
        ([[1, 2, 3, 4], [5, 6, 7, 8]], [[1, 2, 3, 4], [5, 6, 7, 8]], "xyxy"),
        ("[[1, 2, 3, 4]]", [[1, 2, 3, 4]], "xyxy"),
        ({"x1": 1, "y1": 2, "x2": 3, "y2": 4}, [[1, 2, 3, 4]], "xyxy"),
        ([{"x": 1, "y": 2, "width": 3, "height": 4}], [[1, 2, 3, 4]], "xywh"),
        ([], None, None),
        (None, None, None),
    ],
)
def test_boxes_may_be_written_in_several_ways(imported, tmp_path, value, boxes, box_format):
    (row,) = rows_of(imported(entry(bboxes=value)), tmp_path)
    assert row.get("boxes") == boxes
    assert row.get("box_format", "xyxy" if boxes else None) == box_format


def test_the_user_says_how_numbers_are_meant(imported, tmp_path):
    options = ImportOptions(mapping={"boxes": "mystery.where"})
    found = imported(
        entry(mystery={"where": [0.25, 0.5, 0.5, 1]}), options=options, box_format="xyxy_norm"
    )
    (row,) = rows_of(found, tmp_path)
    assert (row["boxes"], row["box_format"]) == ([[0.25, 0.5, 0.5, 1]], "xyxy_norm")


@pytest.mark.parametrize(
    ("outputs", "column"),
    [("r1.png r2.png", "reference"), ("a.png b.png", "source"), ("n1.png n2.png", "id")],
)
def test_one_key_names_all_outputs(imported, tmp_path, outputs, column):
    entries = entry(id="n1"), entry("b.jpg", "r2.jpg", id="n2")
    found = imported(*entries, outputs=outputs)
    assert [row["edited"] for row in rows_of(found, tmp_path)] == [
        f"out/{name}" for name in outputs.split()
    ]
    assert f"the name of the {column}" in found.summary()


def test_names_of_two_kinds_are_never_mixed(imported, tmp_path):
    entries = entry("a.jpg", "b.jpg"), entry("b.jpg", "r2.jpg")
    found = imported(*entries, outputs="a.png b.png")
    assert [row["edited"] for row in rows_of(found, tmp_path)] == ["out/a.png", "out/b.png"]


def test_one_output_of_two_rows_is_told_with_the_way_out(imported):
    entries = entry("a.jpg", "r1.jpg"), entry("a.jpg", "r2.jpg")
    message = refusal(imported(*entries, outputs="a.png"))
    assert "'a.png' is the output of line 1 too" in message
    assert "--map edited=KEY" in message


def test_a_key_of_its_own_may_name_outputs(imported, tmp_path):
    options = ImportOptions(mapping={"edited": "file"})
    entries = entry("a.jpg", "r1.jpg", file="x"), entry("a.jpg", "r2.jpg", file="y")
    found = imported(*entries, outputs="x.png a.png", options=options)
    assert [row["edited"] for row in rows_of(found, tmp_path)] == ["out/x.png", "out/y.png"]
    assert "missing  1: r2" in found.summary()


def test_rows_without_a_name_of_their_own_get_a_checksum(imported, tmp_path):
    entries = entry(edit_operation="x", out="1"), entry(edit_operation="y", out="2")
    options = ImportOptions(mapping={"edited": "out"})
    ids = [
        row["id"] for row in rows_of(imported(*entries, outputs="1.png", options=options), tmp_path)
    ]
    assert len(set(ids)) == 2
    assert all(id_.startswith("a-") for id_ in ids)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"bbox": [314, 210, 300, 200]}, "boxes: box 1: expected x2 > x1"),
        ({"bbox": [0.1, 0.2, 0.3, 0.4]}, 'looks normalised: set box_format to "xyxy_norm"'),
        ({"bbox": "left"}, "boxes: expected boxes, got the text 'left'"),
        ({"bbox": {"a": 1}}, "boxes: expected four numbers"),
        ({"bbox": 7}, "boxes: box 1: expected four numbers"),
        ({"image": "../../x.jpg"}, "leads out of"),
        ({"edit_operation": None}, "instruction: expected a key edit_operation or"),
    ],
)
def test_what_is_no_row_is_told(imported, values, told):
    assert told in refusal(imported(entry(**values)))


def test_a_folder_without_the_table_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        import_dlebench(lay(tmp_path, "x.png"), tmp_path, options=DEFAULTS)
