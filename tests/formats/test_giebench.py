import numpy as np
import pytest

from agent_judge.formats.giebench import import_giebench
from tests.formats.trees import DEFAULTS, lay, put, refusal, rows_of


def entry(mask=((56, 28), (112, 84)), **values):
    grid = np.zeros((224, 224), int)
    (x1, y1), (x2, y2) = mask
    grid[y1:y2, x1:x2] = 1
    return {
        "edit_instruction": "Remove the bird from the image.",
        "edit_type": "Remove Object",
        "image": "/animals/bird.jpg",
        "object_mask": grid.tolist(),
        "evaluation_question": "Was it removed?",
        **values,
    }


@pytest.fixture
def imported(tmp_path):
    before = lay(tmp_path / "images", "animals/bird.jpg")
    after = lay(tmp_path / "outputs", "0.png")

    def run(*entries):
        return import_giebench(put(tmp_path / "gie.json", entries), before, after, options=DEFAULTS)

    return run


def test_masks_of_224_become_shares_of_the_picture(imported, tmp_path):
    (row,) = rows_of(imported(entry(edited_image_path="outputs/0.png")), tmp_path)
    assert row["boxes"] == [[0.25, 0.125, 0.5, 0.375]]
    assert row["box_format"] == "xyxy_norm"
    assert row["source"] == "images/animals/bird.jpg"
    assert row["edited"] == "outputs/0.png"
    assert (row["type"], row["benchmark_type"]) == ("removal", "Remove Object")
    assert row["evaluation_question"] == "Was it removed?"
    assert not {"object_mask", "edited_image_path"} & row.keys()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("animals/2.png", "outputs/animals/2.png"),
        ("results/mine/animals/2.png", "outputs/animals/2.png"),
        ("../mine/0.png", "outputs/0.png"),
        ("/data/run\\0.png", "outputs/0.png"),
        ("elsewhere/9.png", "outputs/9.png"),
    ],
)
@pytest.mark.slow
def test_an_output_is_found_at_the_end_of_its_path(imported, tmp_path, path, expected):
    lay(tmp_path / "outputs", "animals/2.png")
    found = imported(entry(edited_image_path=path), entry(edited_image_path="0.png"))
    assert rows_of(found, tmp_path)[0]["edited"] == expected


def test_ids_come_from_the_content_and_not_from_the_order(imported, tmp_path):
    first = entry(edited_image_path="0.png")
    second = entry(edit_instruction="Add a hat.", edited_image_path=None)
    ids = [row["id"] for row in rows_of(imported(first, second), tmp_path)]
    assert [row["id"] for row in rows_of(imported(second, first), tmp_path)] == ids[::-1]
    assert ids[0].startswith("bird-")
    assert ids[0] != ids[1]


def test_entries_that_are_the_same_stay_apart(imported, tmp_path):
    found = imported(entry(edited_image_path="0.png"), entry(edited_image_path="1.png"))
    one, two = (row["id"] for row in rows_of(found, tmp_path))
    assert two == f"{one}-2"


def test_an_entry_without_an_output_stays(imported, tmp_path):
    found = imported(entry(edited_image_path="0.png"), entry(edit_instruction="Add a hat."))
    rows = rows_of(found, tmp_path)
    assert rows[1]["edited"] == f"outputs/{rows[1]['id']}.png"
    assert "missing  1: " in found.summary()


def test_an_empty_mask_gives_no_boxes_and_is_told(imported, tmp_path):
    found = imported(entry(mask=((0, 0), (0, 0)), edited_image_path="0.png"))
    (row,) = rows_of(found, tmp_path)
    assert not {"boxes", "box_format"} & row.keys()
    assert "its mask is empty" in found.summary()


@pytest.mark.parametrize("mask", [[[0, 1], [1]], "x", [[None]]])
def test_a_mask_that_is_none_is_told(imported, mask):
    assert "the mask" in refusal(imported(entry(object_mask=mask, edited_image_path="0.png")))
