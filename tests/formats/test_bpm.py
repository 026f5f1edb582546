from agent_judge.formats.bpm import import_bpm
from tests.formats.trees import DEFAULTS, lay, put, refusal, rows_of

ENTRY = {
    "idx": 7,
    "instruction": "Remove the bear.",
    "source_image_path": "sample_test/real/7.jpg",
    "source_caption": "A bear on a bench.",
    "LLM": {"gemma_origin": "bear", "gemma_edited": "None"},
    "edited_image1": {"image_path": "sample_test/mgie/7.jpg", "user_size": 1},
    "edited_image2": {"image_path": "sample_test/ip2p/7.jpg", "method": "ip2p"},
}
PICTURES = "sample_test/real/7.jpg sample_test/mgie/7.jpg gt_test_images/1.jpg"


def test_each_edited_picture_is_a_row_of_one_item(tmp_path):
    table = put(tmp_path / "local_metadata.json", [ENTRY])
    data = lay(tmp_path, PICTURES)
    found = import_bpm(table, data, editors={"edited_image1": "mgie"}, options=DEFAULTS)
    one, two = rows_of(found, tmp_path)
    assert (one["id"], one["item"], one["editor"]) == ("7/edited_image1", "7", "mgie")
    assert (two["id"], two["item"], two["editor"]) == ("7/edited_image2", "7", "ip2p")
    assert one["source"] == two["source"] == "sample_test/real/7.jpg"
    assert one["edited"] == "sample_test/mgie/7.jpg"
    assert one["targets"] == ["bear"]
    assert one["bpm"] == {"user_size": 1}
    assert one["source_caption"] == "A bear on a bench."
    assert "edited_image1" not in two
    assert "missing  1: 7/edited_image2" in found.summary()
    assert "odd      0" in found.summary()


def test_edits_of_the_whole_picture_have_no_targets(tmp_path):
    entry = {**ENTRY, "LLM": {"gemma_origin": "all"}}
    table = put(tmp_path / "t.json", [entry])
    found = import_bpm(table, lay(tmp_path, PICTURES), editors={}, options=DEFAULTS)
    rows = rows_of(found, tmp_path)
    assert "targets" not in rows[0]
    assert [row["editor"] for row in rows] == ["edited_image1", "ip2p"]


def test_what_has_no_edited_picture_is_told(tmp_path):
    data = lay(tmp_path, PICTURES)
    for entry, told in (
        ({"idx": 1, "instruction": "x", "source_image_path": "a.jpg"}, "expected a key edited_"),
        ({**ENTRY, "edited_image1": {"score": 1}}, "edited_image1: expected an image_path"),
    ):
        found = import_bpm(put(tmp_path / "t.json", [entry]), data, editors={}, options=DEFAULTS)
        assert told in refusal(found)
