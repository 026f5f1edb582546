import pytest

from agent_judge.errors import InputError
from agent_judge.formats.kris import import_kris
from tests.formats.trees import DEFAULTS, lay, put, refusal, rows_of


@pytest.fixture
def bench(tmp_path):
    folder = tmp_path / "KRIS_Bench"
    put(
        folder / "color_change" / "annotation.json",
        {"1": {"ori_img": "1.jpg", "gt_img": "", "ins_en": "Make it red.", "explain_en": ""}},
    )
    put(
        folder / "temporal_prediction" / "annotation.json",
        {
            "10": {"ori_img": ["10-2.jpg", "10-3.JPG"], "gt_img": "10-1.jpg", "ins_en": "Frame 1."},
            "9": {"ori_img": ["9-1.jpg"], "gt_img": ["9-2.jpg"], "ins_en": "Frame 2."},
        },
    )
    lay(folder / "color_change", "1.jpg .DS_Store")
    return lay(folder / "temporal_prediction", "10-1.jpg 10-2.jpg 10-3.JPG 9-1.jpg 9-2.jpg").parent


def test_rows_take_the_first_of_several_sources_and_say_so(tmp_path, bench):
    outputs = lay(
        tmp_path / "results" / "gpt",
        "color_change/1.jpg temporal_prediction/9.png temporal_prediction/metrics.json",
    )
    found = import_kris(bench, outputs, options=DEFAULTS)
    rows = {row["id"]: row for row in rows_of(found, tmp_path)}
    assert list(rows) == ["color_change/1", "temporal_prediction/10", "temporal_prediction/9"]
    many = rows["temporal_prediction/10"]
    assert many["source"] == "KRIS_Bench/temporal_prediction/10-2.jpg"
    assert many["sources"] == ["10-2.jpg", "10-3.JPG"]
    assert many["reference"] == "KRIS_Bench/temporal_prediction/10-1.jpg"
    assert rows["temporal_prediction/9"]["edited"] == "results/gpt/temporal_prediction/9.png"
    assert rows["temporal_prediction/9"]["reference"].endswith("9-2.jpg")
    assert "sources" not in rows["temporal_prediction/9"]
    assert "reference" not in rows["color_change/1"]
    assert {row["editor"] for row in rows.values()} == {"gpt"}
    assert [row["type"] for row in rows.values()] == ["color", "other", "other"]
    assert "missing  1: temporal_prediction/10" in found.summary()
    assert "2 source pictures: '10-2.jpg' is taken" in found.summary()


@pytest.mark.parametrize("value", [[], [1], {"a": 1}, ["1.jpg", ""]])
def test_a_source_that_is_no_name_is_told(tmp_path, bench, value):
    put(bench / "color_change" / "annotation.json", {"1": {"ori_img": value, "ins_en": "x"}})
    outputs = lay(tmp_path / "gpt", "temporal_prediction/9.jpg")
    assert "source: expected" in refusal(import_kris(bench, outputs, options=DEFAULTS))


def test_a_folder_without_annotations_is_refused(tmp_path):
    lay(tmp_path, "a/1.jpg")
    with pytest.raises(InputError, match=r"expected CATEGORY/annotation.json"):
        import_kris(tmp_path, tmp_path, options=DEFAULTS)
