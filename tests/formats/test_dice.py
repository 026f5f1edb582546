import pytest

from agent_judge.formats.dice import import_dice
from tests.formats.trees import DEFAULTS, lay, put, refusal, rows_of


def found(operation="EDIT", element="red, round vase", bbox=(0.25, 0, 0.5, 1), **values):
    return {
        "original_path": "original.jpg",
        "edited_path": "edited/1.jpg",
        "complete_difference": f"{operation}: {element}",
        "operation": operation,
        "bbox": list(bbox),
        "gt_prompt": "Change the vase to yellow",
        "confidence": 0.8,
        **values,
    }


@pytest.fixture
def imported(tmp_path):
    images = lay(tmp_path, "original.jpg edited/1.jpg edited/2.jpg")

    def run(*entries):
        return import_dice(put(tmp_path / "differences.json", entries), images, options=DEFAULTS)

    return run


def test_differences_of_a_pair_are_joined_wherever_they_stand(imported, tmp_path):
    other = found("ADD", "cat", edited_path="edited/2.jpg")
    rows = rows_of(imported(found(), other, found("REMOVE", "book")), tmp_path)
    assert [(row["id"], row["edited"]) for row in rows] == [
        ("edited/1", "edited/1.jpg"),
        ("edited/2", "edited/2.jpg"),
    ]
    first, second = rows[0]["differences"]
    assert first == {
        "command": "EDIT",
        "element": "red, round vase",
        "picture": "edited",
        "box": [0.25, 0, 0.5, 1],
        "box_format": "xyxy_norm",
        "confidence": 0.8,
    }
    assert (second["command"], second["picture"]) == ("REMOVE", "source")
    assert "boxes" not in rows[0]


@pytest.mark.parametrize(
    ("text", "element", "box"),
    [
        ("EDIT: red, round vase, [0.25, 0, 0.5, 1]", "red, round vase", [0.25, 0, 0.5, 1]),
        ("ADD: dog, (0, 0, 1, 1)", "dog", [0, 0, 1, 1]),
        ("remove: the cup, BOUNDING_BOX: [0.1, .2, 3e-1, 1]", "the cup", [0.1, 0.2, 0.3, 1]),
        ("ADD: a sign (with text), [0.5, 0.5, 1, 1]", "a sign (with text)", [0.5, 0.5, 1, 1]),
        ("ADD: dog", "dog", None),
    ],
)
def test_a_difference_may_be_text_with_its_box(imported, tmp_path, text, element, box):
    entry = found(complete_difference=text)
    del entry["bbox"], entry["operation"]
    (row,) = rows_of(imported(entry), tmp_path)
    (difference,) = row["differences"]
    assert (difference["element"], difference.get("box")) == (element, box)


@pytest.mark.parametrize(
    ("bbox", "kind"),
    [((0, 0, 1, 1), "xyxy_norm"), ((0, 0.5, 1, 1.0), "xyxy_norm"), ((10, 20, 30, 41), "xyxy")],
)
def test_whole_numbers_are_coordinates_too(imported, tmp_path, bbox, kind):
    (row,) = rows_of(imported(found(bbox=bbox)), tmp_path)
    assert row["differences"][0]["box"] == list(bbox)
    assert row["differences"][0]["box_format"] == kind


@pytest.mark.parametrize("mark", [1, True, "YES", "Reason: no doubt.\nAnswer: YES"])
def test_only_coherent_differences_are_targets(imported, tmp_path, mark):
    entries = found(gt=mark), found("ADD", "cat", (0, 0, 1, 1), gt="Answer: NO")
    (row,) = rows_of(imported(*entries), tmp_path)
    assert row["boxes"] == [[0.25, 0, 0.5, 1]]
    assert row["box_format"] == "xyxy_norm"
    assert row["targets"] == ["red, round vase"]


def test_one_pair_with_two_instructions_is_two_rows(imported, tmp_path):
    rows = rows_of(imported(found(), found(gt_prompt="Remove the vase")), tmp_path)
    assert len({row["id"] for row in rows}) == 2
    assert {row["edited"] for row in rows} == {"edited/1.jpg"}


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"bbox": [0.1, 0.2, 0.3]}, "box: expected four numbers"),
        ({"bbox": [0.1, 0.2, 0.3, "1"]}, "box: expected four numbers"),
        ({"operation": "MOVE"}, "command: expected ADD, REMOVE or EDIT, got 'MOVE'"),
        ({"original_path": "../x.jpg"}, "leads out of"),
        ({"gt_prompt": ""}, "instruction: expected a key gt_prompt or prompt"),
    ],
)
def test_what_is_no_difference_is_told(imported, values, told):
    assert told in refusal(imported(found(**values)))
