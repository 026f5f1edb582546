import numpy as np
import pytest
from PIL import Image

from agent_judge.images import load_image
from agent_judge.metrics.masks import box_mask, write_mask
from agent_judge.records import Box


@pytest.mark.parametrize(
    ("boxes", "marked"),
    [
        ([], set()),
        ([Box(1, 0, 3, 1)], {(1, 0), (2, 0)}),
        ([Box(1.2, 0.9, 2.1, 1.1)], {(1, 0), (2, 0), (1, 1), (2, 1)}),
        ([Box(0, 0, 2, 1), Box(1, 0, 3, 1)], {(0, 0), (1, 0), (2, 0)}),
        ([Box(3, 2, 90, 90)], {(3, 2)}),
        ([Box(-5, -5, 0.5, 0.5)], {(0, 0)}),
        ([Box(10, 10, 20, 20)], set()),
    ],
)
def test_mask_is_the_union_of_boxes_in_whole_pixels(boxes, marked):
    mask = box_mask(boxes, (4, 3))
    assert mask.dtype == np.bool_
    assert mask.shape == (3, 4)
    assert {(int(x), int(y)) for y, x in np.argwhere(mask)} == marked


def test_written_mask_is_a_grey_png_of_black_and_white(tmp_path):
    mask = box_mask([Box(3, 1, 7, 5)], (20, 10))
    path = tmp_path / "masks" / "a.png"
    write_mask(mask, path)
    with Image.open(path) as image:
        assert (image.format, image.mode) == ("PNG", "L")
        assert np.array_equal(np.asarray(image), np.where(mask, 255, 0))
    assert np.array_equal(load_image(path)[..., 0] > 127, mask)
    assert [p.name for p in path.parent.iterdir()] == ["a.png"]


def test_mask_takes_the_place_of_an_older_one_with_the_same_bytes(tmp_path):
    path = tmp_path / "a.png"
    mask = box_mask([Box(3, 1, 7, 5)], (20, 10))
    write_mask(~mask, path)
    write_mask(mask, path)
    first = path.read_bytes()
    write_mask(mask, path)
    assert path.read_bytes() == first


def test_mask_that_cannot_be_written_leaves_nothing(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OSError, match="file"):
        write_mask(box_mask([], (2, 2)), tmp_path / "file" / "a.png")
