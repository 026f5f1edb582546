import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from agent_judge.audit import photographs
from agent_judge.errors import InputError
from agent_judge.records import Box


def listing(folder, *rows):
    path = folder / "photos.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def picture(folder, size_wh=(300, 240)):
    Image.new("RGB", size_wh, "grey").save(folder / "a.png")
    return "a.png"


def test_every_builtin_photograph_is_free_and_loads():
    path = Path(photographs.__file__).with_name("photographs.jsonl")
    licences = [json.loads(line)["licence"] for line in path.read_text("utf-8").splitlines()]
    assert set(licences) == {"CC0", "public domain"}
    scenes = [photographs.load_scene(p) for p in photographs.builtin_photographs()]
    assert len(scenes) >= 6  # intervals need as many clusters
    assert all(max(scene.size_wh) <= photographs.MAX_SIDE_PX for scene in scenes)
    assert sum(len(scene.things) for scene in scenes) >= 15


def test_objects_are_named_so_that_one_phrase_means_one(tmp_path):
    boxes = {"cup": [[10, 10, 30, 30], [250, 200, 280, 230]], "dog": [[100, 100, 150, 140]]}
    boxes["bird"] = [[10, 100, 20, 110], [30, 100, 40, 110]]
    objects = [{"category": k, "box_xyxy": b} for k, v in boxes.items() for b in v]
    path = listing(tmp_path, {"id": "x", "image": picture(tmp_path), "objects": objects})
    scene = photographs.load_scene(photographs.read_photographs(path)[0])
    names = [thing.name for thing in scene.things]
    assert names == ["cup in the upper left", "cup in the lower right", "dog", None, None]


def test_an_outline_becomes_a_mask_and_a_crowd_is_left_out(tmp_path):
    square = {"category": "tile", "box_xyxy": [50, 60, 90, 100]}
    square["segmentation"] = [[50, 60, 89, 60, 89, 99, 50, 99]]
    crowd = {"category": "people", "box_xyxy": [0, 0, 100, 100], "iscrowd": 1}
    row = {"id": "x", "image": picture(tmp_path), "objects": [square, crowd]}
    (thing,) = photographs.load_scene(
        photographs.read_photographs(listing(tmp_path, row))[0]
    ).things
    assert thing.box == Box(50, 60, 90, 100)
    assert thing.mask is not None
    assert thing.mask.sum() == 1600


def test_a_large_photograph_and_its_boxes_shrink_together(tmp_path):
    name = picture(tmp_path, (2560, 1280))
    objects = [{"category": "cup", "box_xyxy": [100, 200, 300, 400]}]
    (photo,) = photographs.read_photographs(
        listing(tmp_path, {"id": "x", "image": name, "objects": objects})
    )
    scene = photographs.load_scene(photo)
    assert scene.size_wh == (1280, 640)
    assert scene.things[0].box == Box(50, 100, 150, 200)


@pytest.mark.parametrize(
    "row",
    [
        {"image": "a.png"},
        {"id": "x"},
        {"id": "x", "image": "a.png", "objects": [{"category": "cup"}]},
        {"id": "x", "image": "a.png", "objects": [{"category": "c", "box_xyxy": [5, 5, 5, 9]}]},
        {"id": "x", "image": "a.png", "objects": [{"category": "c", "box_xyxy": "wide"}]},
        ["x"],
    ],
)
def test_a_bad_line_is_named(tmp_path, row):
    good = {"id": "ok", "image": "a.png"}
    with pytest.raises(InputError, match=r"photos\.jsonl:2: "):
        photographs.read_photographs(listing(tmp_path, good, row))


def test_a_missing_or_empty_file_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        photographs.read_photographs(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="no photograph"):
        photographs.read_photographs(listing(tmp_path))


def test_a_photograph_without_room_is_an_input_error(tmp_path):
    photo = photographs.Photograph(id="tiny", path=tmp_path / picture(tmp_path, (90, 300)))
    with pytest.raises(InputError, match="'tiny' is smaller"):
        photographs.load_scene(photo)


def test_pixels_are_what_the_file_holds():
    photo = next(p for p in photographs.builtin_photographs() if p.id == "coffee")
    held = np.asarray(Image.open(photo.path).convert("RGB"))
    assert np.array_equal(photographs.load_scene(photo).picture, held)
