import json
import runpy
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import skimage

from agent_judge.images import load_image
from agent_judge.manifest import check_manifest, read_manifest
from agent_judge.records import Box
from agent_judge.runner import evaluate_many
from agent_judge.settings import Settings

DATA = Path(__file__).parents[1] / "eval_data"
DEMO = DATA / "demo"
FREE = {"astronaut.png", "camera.png", "chelsea.png", "coffee.png", "rocket.jpg"}


@pytest.fixture(scope="module")
def samples():
    return list(read_manifest(DEMO / "manifest.jsonl"))


@pytest.fixture(scope="module")
def remade(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    runpy.run_path(str(DATA / "make_demo.py"))["main"](folder)
    return folder


def test_the_manifest_has_no_fault():
    assert check_manifest(DEMO / "manifest.jsonl") == 12


def test_every_level_of_both_criteria_is_planted(samples):
    for criterion in ("IF", "VC"):
        levels = {label[criterion] for s in samples for label in s.labels}
        assert levels == {1, 2, 3, 4}
    assert all(label["by"] == "planted" and label["why"] for s in samples for label in s.labels)


def test_types_targets_and_references_are_mixed(samples):
    types = Counter(s.type for s in samples)
    assert set(types) == {"color", "removal", "replacement", "count", "ocr"}
    assert {len(s.boxes) for s in samples} >= {1, 2, 4}
    assert sum(s.reference is not None for s in samples) == 10


def test_targets_cover_between_a_twentieth_and_two_per_cent(samples):
    for sample in samples:
        height, width = load_image(sample.source).shape[:2]
        share = sum(Box(*box).area for box in sample.boxes) / (width * height)
        assert 0.0005 <= share <= 0.02, sample.id


def test_sources_are_free_photographs_of_scikit_image_byte_for_byte(samples):
    assert {s.source.name for s in samples} == FREE
    shipped = Path(skimage.__file__).parent / "data"
    readme = (DEMO / "README.md").read_text("utf-8")
    for name in FREE:
        assert (DEMO / name).read_bytes() == (shipped / name).read_bytes()
        assert f"| {name} |" in readme


def test_the_readme_lists_every_row_with_its_levels(samples):
    readme = (DEMO / "README.md").read_text("utf-8")
    table = [line.split("|")[1:-1] for line in readme.splitlines() if line.startswith("|")]
    listed = {
        cells[0].strip(): [c.strip() for c in cells[3:5]] for cells in table if len(cells) > 4
    }
    for sample in samples:
        (label,) = sample.labels
        assert listed[sample.id] == [str(label["IF"]), str(label["VC"])]


def test_the_set_is_small_and_holds_nothing_unused(samples):
    files = {path for path in DEMO.iterdir() if path.suffix in (".png", ".jpg")}
    assert files == {p for s in samples for p in (s.source, s.edited, s.reference) if p}
    assert sum(path.stat().st_size for path in DEMO.iterdir()) < 5_000_000


@pytest.mark.slow
def test_the_recipe_makes_the_committed_set(remade):
    committed = (DEMO / "manifest.jsonl").read_text("utf-8")
    assert (remade / "manifest.jsonl").read_text("utf-8") == committed
    for row in map(json.loads, committed.splitlines()):
        for key in ("source", "edited", "reference"):
            if key in row:
                ours, theirs = load_image(DEMO / row[key]), load_image(remade / row[key])
                # Another JPEG library may round differently.
                assert np.abs(ours.astype(int) - theirs).mean() < 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "least"), [("oracle", 20), ("tool", 16)])
async def test_every_level_that_the_embedded_judge_gives_is_the_planted_one(samples, mode, least):
    planted = {(s.id, c): s.labels[0][c] for s in samples for c in ("IF", "VC")}
    settings = Settings.model_validate({"mode": mode})
    records = [record async for record in evaluate_many(samples, settings)]
    scored = {(r.id, r.criterion): r.level for r in records if r.level is not None}
    assert len(records) == len(planted)
    assert len(scored) >= least
    assert scored == {key: planted[key] for key in scored}
