import json
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from agent_judge.audit import plant
from agent_judge.audit.photographs import Photograph, builtin_photographs
from agent_judge.audit.plant import BY, INSTEAD, SCHEDULE, VC_LEVEL, plant_exam
from agent_judge.audit.task import IF_LEVEL
from agent_judge.errors import InputError
from agent_judge.images import load_image
from agent_judge.manifest import check_manifest, read_manifest
from agent_judge.records import Box

SMALL = tuple(p for p in builtin_photographs() if p.id in ("coffee", "chelsea"))


@pytest.fixture(scope="module")
def exam(tmp_path_factory):
    return plant_exam(tmp_path_factory.mktemp("exam"), n_rows=10, seed=3, photographs=SMALL)


def rows(manifest):
    return [json.loads(line) for line in manifest.read_text("utf-8").splitlines()]


def test_an_exam_is_an_ordinary_manifest(exam):
    assert check_manifest(exam) == 10
    for sample in read_manifest(exam):
        assert sample.reference is not None
        assert sample.boxes
        assert {"photograph", "size_bin", "plant", "rest", "degradation"} <= set(sample.metadata)


def test_the_levels_follow_from_what_was_planted(exam):
    for row in rows(exam):
        (label,) = row["labels"]
        assert label["by"] == BY
        assert label["IF"] == IF_LEVEL[row["plant"]]
        apart = row["plant"] == "elsewhere" and row["rest"] in ("clean", "one")
        assert label["VC"] == VC_LEVEL[row["rest"]] - apart


def test_a_clean_undegraded_picture_differs_at_its_targets_only(exam):
    checked = 0
    for row in rows(exam):
        if row["rest"] != "clean" or row["degradation"] != "none" or row["plant"] == "elsewhere":
            continue
        source, edited = (load_image(exam.parent / row[key]) for key in ("source", "edited"))
        changed = (source != edited).any(2)
        for box in row["boxes"]:
            x1, y1, x2, y2 = (int(v) for v in Box(*box).grow(2).xyxy)
            changed[max(y1, 0) : y2, max(x1, 0) : x2] = False
        assert not changed.any()
        checked += 1
    assert checked


def test_the_same_seed_gives_the_same_bytes_and_another_one_another_exam(exam, tmp_path):
    again = plant_exam(tmp_path / "again", n_rows=2, seed=3, photographs=SMALL)
    other = plant_exam(tmp_path / "other", n_rows=2, seed=4, photographs=SMALL)
    assert rows(again) == rows(exam)[:2]
    for row in rows(again):
        for key in ("source", "edited", "reference"):
            twin = (exam.parent / row[key]).read_bytes()
            assert (again.parent / row[key]).read_bytes() == twin
    assert rows(other) != rows(again)


def test_the_schedule_brings_every_level_of_both_criteria_about_as_often():
    levels = Counter(IF_LEVEL[plant] for plant, _ in SCHEDULE)
    assert min(levels.values()) * 2 >= max(levels.values())
    rests = Counter(VC_LEVEL[rest] - (plant == "elsewhere") for plant, rest in SCHEDULE)
    assert set(rests) == {1, 2, 3, 4}
    assert min(rests.values()) * 3 >= max(rests.values())


def test_whatever_is_missing_has_something_instead_that_every_task_has():
    always = {"noop", "right", "wrong"}
    assert all(plant in always or always & set(other) for plant, other in INSTEAD.items())


def test_no_rows_is_no_exam(tmp_path):
    with pytest.raises(InputError, match="at least one row"):
        plant_exam(tmp_path, n_rows=0, seed=0)


def test_a_scene_with_nowhere_else_to_go_is_never_replaced(tmp_path):
    Image.fromarray(np.full((210, 210, 3), 128, np.uint8)).save(tmp_path / "plain.png")
    photo = Photograph(id="plain", path=tmp_path / "plain.png")
    manifest = plant_exam(tmp_path / "out", n_rows=10, seed=0, photographs=[photo])
    assert "other scene" not in {row["rest"] for row in rows(manifest)}


def test_photographs_that_take_no_edit_end_in_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(plant, "BUILDERS", (lambda scene, shares, rng: None,))
    with pytest.raises(InputError, match="no room"):
        plant_exam(tmp_path, n_rows=1, seed=0, photographs=SMALL)


@pytest.mark.slow
def test_a_larger_exam_holds_every_plant_type_size_and_degradation(tmp_path):
    manifest = plant_exam(tmp_path, n_rows=120, seed=0)
    keys = ("plant", "rest", "degradation", "type", "size_bin")
    seen: dict[str, set[str]] = {key: set() for key in keys}
    for row in rows(manifest):
        for key, values in seen.items():
            values.add(row[key])
    assert seen["plant"] == set(IF_LEVEL)
    assert seen["rest"] == set(VC_LEVEL)
    assert {key: len(values) for key, values in seen.items()} == {
        "plant": 6, "rest": 5, "degradation": 7, "type": 7, "size_bin": 3,
    }  # fmt: skip
