import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

from agent_judge.errors import PictureError
from agent_judge.formats.masks import boxes_of_mask, mask_of_file, mask_of_values
from tests.pictures import backdrop


def drawn(size_wh, *boxes):
    mask = np.zeros(size_wh[::-1], bool)
    for x1, y1, x2, y2 in boxes:
        mask[y1:y2, x1:x2] = True
    return mask


@pytest.mark.parametrize(
    ("boxes", "expected"),
    [
        ([], []),
        ([(0, 0, 200, 100)], [(0, 0, 200, 100)]),
        ([(10, 20, 11, 21)], [(10, 20, 11, 21)]),
        ([(150, 60, 200, 100), (0, 0, 20, 10)], [(150, 60, 200, 100), (0, 0, 20, 10)]),
        ([(10, 10, 60, 60), (100, 90, 102, 92)], [(10, 10, 60, 60)]),
        ([(10, 10, 60, 60), (63, 20, 90, 50)], [(10, 10, 90, 60)]),
        ([(10, 10, 60, 60), (70, 20, 90, 50)], [(10, 10, 60, 60), (70, 20, 90, 50)]),
        ([(0, 0, 9, 100), (12, 0, 24, 100), (27, 0, 36, 100)], [(0, 0, 36, 100)]),
    ],
    ids=["nothing", "full", "one_pixel", "two_parts", "speck", "near", "apart", "chain"],
)
def test_each_part_of_a_mask_has_a_box(boxes, expected):
    found = boxes_of_mask(drawn((200, 100), *boxes))
    pixels = [(x1 * 200, y1 * 100, x2 * 200, y2 * 100) for x1, y1, x2, y2 in found]
    assert pixels == [pytest.approx(box) for box in expected]


def test_parts_far_apart_are_those_that_scipy_finds():
    rng = np.random.default_rng(3)
    cells = rng.permutation(25)[:7]
    boxes = [
        (x * 40 + 5, y * 40 + 5, x * 40 + 20, y * 40 + 25)
        for x, y in (divmod(int(cell), 5) for cell in cells)
    ]
    mask = drawn((200, 200), *boxes)
    labels, _ = ndimage.label(mask)
    slices = ndimage.find_objects(labels)
    theirs = {(s[1].start, s[0].start, s[1].stop, s[0].stop) for s in slices}
    assert {tuple(round(v * 200) for v in box) for box in boxes_of_mask(mask)} == theirs


@pytest.mark.parametrize(
    "values", [[[0, 1], [0, 0]], [[0, 255], [12, 0]], [[[0], [1]], [[0], [0]]]]
)
def test_grids_of_numbers_are_masks(values):
    assert mask_of_values(values).tolist() == [[False, True], [False, False]]


@pytest.mark.parametrize("values", [[[0, 1], [0]], "text", [], [1, 2], [["a"]], {"a": 1}])
def test_what_is_no_grid_is_refused(values):
    with pytest.raises(ValueError, match="the mask"):
        mask_of_values(values)


TARGET = drawn((60, 40), (10, 5, 30, 25))


@pytest.fixture
def saved(tmp_path):
    def save(pixels):
        path = tmp_path / "mask.png"
        Image.fromarray(pixels).save(path)
        return path

    return save


def with_alpha():
    photograph = backdrop((60, 40))
    photograph[0, 0] = 255
    alpha = np.where(TARGET, 0, 255).astype(np.uint8)
    return np.dstack([np.where(TARGET[..., None], 0, photograph), alpha]).astype(np.uint8)


@pytest.mark.parametrize(
    "pixels",
    [
        TARGET.astype(np.uint8) * 255,
        TARGET.astype(np.uint8),
        np.where(TARGET[..., None], 255, backdrop((60, 40))).astype(np.uint8),
        with_alpha(),
    ],
    ids=["black and white", "zeros and ones", "white on the picture", "transparent"],
)
def test_the_marked_part_of_a_picture_is_the_mask(saved, pixels):
    assert np.array_equal(mask_of_file(saved(pixels)), TARGET)


def test_an_opaque_alpha_channel_marks_nothing(saved):
    grey = TARGET.astype(np.uint8) * 255
    assert np.array_equal(mask_of_file(saved(np.dstack([grey] * 3 + [grey * 0 + 255]))), TARGET)


def test_a_mask_of_nothing_and_a_file_of_nothing_are_told(saved, tmp_path):
    with pytest.raises(ValueError, match="nothing is marked"):
        mask_of_file(saved(np.zeros((4, 4), np.uint8)))
    (tmp_path / "x.png").write_bytes(b"no picture")
    with pytest.raises(PictureError):
        mask_of_file(tmp_path / "x.png")
