"""Boxes of COCO, Label Studio and masks find their rows by name and nothing else."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from PIL import Image

from agent_judge.errors import InputError
from agent_judge.formats.annotations import BoxImport, NamedAnnotations
from agent_judge.formats.coco import read_coco
from agent_judge.formats.label_studio import read_label_studio
from agent_judge.formats.mask_folder import MaskFolder
from tests.formats.trees import lay, put, refusal, rows_of


@pytest.fixture
def manifest(tmp_path):
    lay(tmp_path, "before/cat.jpg before/dog.jpg after/1.png")

    def write(*rows):
        base = {"edited": "after/1.png", "instruction": "x"}
        return put(tmp_path / "m.jsonl", [{**base, **row} for row in rows])

    return write


ROWS = ({"id": "1", "source": "before/cat.jpg"}, {"id": "2", "source": "before/dog.jpg"})
COCO = {
    "annotations": [
        {"id": 1, "image_id": 11, "category_id": 5, "bbox": [10, 20, 30, 40], "segmentation": []},
        {"id": 2, "image_id": 11, "category_id": 6, "bbox": [1, 2, 3, 4]},
        {"id": 3, "image_id": 12, "category_id": 6, "bbox": [5, 5, 5, 5]},
    ],
    "info": {"year": 2026},
    "images": [
        {"id": 12, "file_name": "other/bird.jpg", "width": 64, "height": 48},
        {"id": 11, "file_name": "before/cat.jpg", "width": 640, "height": 480},
    ],
    "categories": [{"id": 5, "name": "cup"}, {"id": 6, "name": "plate"}],
}


def coco(tmp_path, value=COCO, **options):
    return NamedAnnotations(read_coco(put(tmp_path / "coco.json", value), **options))


def test_coco_boxes_keep_their_frame_and_their_names(tmp_path, manifest):
    found = BoxImport(manifest(*ROWS), coco(tmp_path))
    cat, dog = rows_of(found, tmp_path)
    assert cat["boxes"] == [[10, 20, 30, 40], [1, 2, 3, 4]]
    assert (cat["box_format"], cat["box_frame"]) == ("xywh", [640, 480])
    assert cat["targets"] == ["cup", "plate"]
    assert "boxes" not in dog
    assert found.summary().splitlines() == [
        "found    2 rows",
        "matched  1",
        "missing  1: 2",
        "kept     0",
        "odd      1: no row asks for the annotation of 'other/bird.jpg'",
        "faults   0",
    ]


def test_one_category_may_be_taken(tmp_path, manifest):
    (row, _) = rows_of(BoxImport(manifest(*ROWS), coco(tmp_path, category="cup")), tmp_path)
    assert (row["boxes"], row["targets"]) == ([[10, 20, 30, 40]], ["cup"])
    with pytest.raises(InputError, match="expected one of cup, plate"):
        coco(tmp_path, category="mug")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([], "expected '{', got '\\['"),
        ({"annotations": []}, "expected COCO's images, annotations and categories"),
        ({"images": [{"id": 1}]}, "images: expected 'file_name'"),
        ({"annotations": [7]}, "annotations: expected"),
    ],
)
def test_what_is_no_coco_file_is_told(tmp_path, value, told):
    with pytest.raises(InputError, match=told):
        coco(tmp_path, value)


def test_own_boxes_are_kept_unless_they_are_to_be_replaced(tmp_path, manifest):
    path = manifest({**ROWS[0], "boxes": [[1, 1, 9, 9]]}, ROWS[1])
    kept = BoxImport(path, NamedAnnotations(read_coco(put(tmp_path / "c.json", COCO))))
    assert "no row has an annotation" in refusal(kept)
    assert "kept     1: 1" in kept.summary()
    replaced = BoxImport(path, coco(tmp_path), replace_boxes=True)
    assert rows_of(replaced, tmp_path)[0]["boxes"] == [[10, 20, 30, 40], [1, 2, 3, 4]]


def test_the_deepest_shared_folder_decides_and_a_tie_is_told(tmp_path, manifest):
    images = [
        {"id": 11, "file_name": "before/cat.jpg"},
        {"id": 12, "file_name": "elsewhere/cat.jpg"},
    ]
    found = BoxImport(manifest(*ROWS), coco(tmp_path, {**COCO, "images": images}))
    assert rows_of(found, tmp_path)[0]["targets"] == ["cup", "plate"]
    images[0]["file_name"] = "somewhere/cat.jpg"
    message = refusal(BoxImport(manifest(*ROWS), coco(tmp_path, {**COCO, "images": images})))
    assert "'somewhere/cat.jpg' and 'elsewhere/cat.jpg' could both be meant" in message
    assert "(id '1')" in message


def test_an_annotation_named_after_a_row_goes_before_one_named_after_its_source(tmp_path, manifest):
    images = [{"id": 11, "file_name": "cat.jpg"}, {"id": 12, "file_name": "two.png"}]
    rows = ROWS[0], {"id": "two", "source": "before/cat.jpg"}
    found = BoxImport(manifest(*rows), coco(tmp_path, {**COCO, "images": images}))
    assert [len(row["boxes"]) for row in rows_of(found, tmp_path)] == [2, 1]


def test_rows_that_share_a_source_share_its_boxes_and_it_is_told(tmp_path, manifest):
    found = BoxImport(manifest(ROWS[0], {**ROWS[0], "id": "1b"}), coco(tmp_path))
    assert len(rows_of(found, tmp_path)) == 2
    assert "'1b' has the boxes of '1': one source, other targets?" in found.summary()


def test_a_box_that_is_none_is_told_with_its_row(tmp_path, manifest):
    value = {**COCO, "annotations": [{"image_id": 11, "bbox": [10, 20, 0, 40]}]}
    message = refusal(BoxImport(manifest(*ROWS), coco(tmp_path, value)))
    assert "boxes: 'before/cat.jpg', box 1: expected a width above 0" in message


def task(picture, *regions, **values):
    result = [{"type": "rectanglelabels", "value": region} for region in regions]
    return {"id": 1, "data": {"image": picture}, "annotations": [{"result": result}], **values}


RECTANGLE = {"x": 25, "y": 50, "width": 25, "height": 10, "rectanglelabels": ["cup"]}


def studio(tmp_path, *tasks):
    return NamedAnnotations(read_label_studio(put(tmp_path / "ls.json", list(tasks))))


@pytest.mark.parametrize(
    "picture",
    [
        "/data/upload/1/3f2a1b9c-cat.jpg",
        "/data/local-files/?d=before/cat.jpg",
        "s3://bucket/before/cat.jpg",
        "https://host/before/cat.jpg?X-Amz-Signature=1",
        "cat.png",
    ],
)
def test_label_studio_names_pictures_in_many_ways(tmp_path, manifest, picture):
    found = BoxImport(manifest(*ROWS), studio(tmp_path, task(picture, RECTANGLE)))
    row = rows_of(found, tmp_path)[0]
    assert row["boxes"] == [pytest.approx([0.25, 0.5, 0.5, 0.6])]
    assert (row["box_format"], row["targets"]) == ("xyxy_norm", ["cup"])


def regions_of(tmp_path, *regions, **values):
    (annotation,) = read_label_studio(
        put(tmp_path / "ls.json", [task("cat.jpg", *regions, **values)])
    )
    return annotation


def test_a_turned_rectangle_gives_its_upright_box(tmp_path):
    size = {"original_width": 200, "original_height": 100}
    region = {"x": 50, "y": 50, "width": 20, "height": 10, "rotation": 90}
    (box,) = regions_of(tmp_path, {**region, **size}).boxes
    # 40 x 10 px, turned clockwise about its first corner (100, 50): 10 to the left, 40 down.
    assert box == pytest.approx([90 / 200, 50 / 100, 100 / 200, 90 / 100])
    (box,) = regions_of(tmp_path, {**region, **size, "rotation": 45}).boxes
    side = math.sqrt(0.5)
    assert box[0] * 200 == pytest.approx(100 - 10 * side)
    assert box[3] * 100 == pytest.approx(50 + 50 * side)


def test_polygons_and_ellipses_give_their_upright_boxes(tmp_path):
    polygon = {"points": [[10, 20], [30, 5], [20, 40]], "polygonlabels": ["cup"]}
    ellipse = {"x": 50, "y": 50, "radiusX": 5, "radiusY": 10}
    found = regions_of(tmp_path, polygon, ellipse)
    assert [list(box) for box in found.boxes] == [
        pytest.approx([0.1, 0.05, 0.3, 0.4]),
        pytest.approx([0.45, 0.4, 0.55, 0.6]),
    ]


def test_brushes_and_further_annotators_are_told(tmp_path):
    found = regions_of(tmp_path, RECTANGLE, {"format": "rle", "rle": [1, 2]})
    assert len(found.boxes) == 1
    assert found.remark == "1 regions are no boxes (export brushes as masks)"
    drawn: list[dict[str, Any]] = [{"result": [{"value": {**RECTANGLE, "x": n}}]} for n in (1, 2)]
    several = regions_of(tmp_path, annotations=[{"was_cancelled": True, "result": []}, *drawn])
    assert (several.boxes[0][0], several.remark) == (0.01, "the first of 2 annotations")
    drawn[1]["ground_truth"] = True
    assert regions_of(tmp_path, annotations=drawn).boxes[0][0] == 0.02


def test_the_short_export_is_read_too(tmp_path):
    path = put(tmp_path / "ls.json", [{"image": "/x/cat.jpg", "id": 3, "label": [RECTANGLE]}])
    (found,) = read_label_studio(path)
    assert (found.name, found.targets) == ("/x/cat.jpg", ["cup"])


@pytest.mark.parametrize(
    "value", [[7], [{"data": {"text": "x"}}], [{**task("a.png"), "annotations": [7]}]]
)
def test_what_is_no_export_is_told(tmp_path, value):
    with pytest.raises(InputError, match=r"ls.json', line \d+: no task that can be read"):
        list(read_label_studio(put(tmp_path / "ls.json", value)))


@pytest.mark.parametrize("name", ["1.png", "cat.png", "cat_mask.png", "1-mask.png", "deep/cat.png"])
def test_masks_are_found_by_row_or_source(tmp_path, manifest, name):
    mask = np.zeros((50, 100), np.uint8)
    mask[10:20, 30:60] = 255
    path = tmp_path / "masks" / name
    path.parent.mkdir(parents=True)
    Image.fromarray(mask).save(path)
    found = BoxImport(manifest(*ROWS), MaskFolder(tmp_path / "masks"))
    if name.startswith("deep"):
        assert "no row has an annotation" in refusal(found)
        return
    cat, dog = rows_of(found, tmp_path)
    assert (cat["boxes"], cat["box_format"]) == ([[0.3, 0.2, 0.6, 0.4]], "xyxy_norm")
    assert "boxes" not in dog


def test_a_mask_that_is_no_picture_is_told(tmp_path, manifest):
    lay(tmp_path / "masks", "1.png")
    assert "1.png" in refusal(BoxImport(manifest(*ROWS), MaskFolder(tmp_path / "masks")))


def test_the_rest_of_a_row_is_left_as_it_was(tmp_path, manifest):
    path = manifest({**ROWS[0], "targets": ["mug"], "shot": "outdoors"})
    found = BoxImport(path, coco(tmp_path))
    (row,) = rows_of(found, tmp_path)
    before = json.loads(path.read_text())
    assert {k: v for k, v in row.items() if k not in ("boxes", "box_format", "box_frame")} == before
