"""A sample's files, brought into one frame and one space of colours."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from agent_judge.images import load_image
from agent_judge.intake import take_in
from agent_judge.records import Sample
from tests.pictures import backdrop

ROCKET = Path(__file__).parents[1] / "eval_data" / "demo" / "rocket.jpg"


@pytest.fixture
def wide():
    """An ICC profile that is wider than sRGB: Adobe RGB."""
    with Image.open(ROCKET) as image:
        return image.info["icc_profile"]


def taken(folder: Path, source: bytes | None, edited: bytes | None, *, pixels, other):
    for name, profile, shown in (("source", source, pixels), ("edited", edited, other)):
        Image.fromarray(shown).save(folder / f"{name}.png", icc_profile=profile)
    sample = Sample(
        id="a", instruction="x", source=folder / "source.png", edited=folder / "edited.png"
    )
    return take_in(sample)


def test_an_edit_that_lost_the_sources_profile_is_read_in_it(tmp_path, wide):
    pixels = backdrop((80, 60), 5)
    edited = pixels.copy()
    edited[10:20, 30:45] = (200, 30, 30)
    found = taken(tmp_path, wide, None, pixels=pixels, other=edited)
    same = (found.row.source == found.row.edited).all(axis=2)
    assert not same[10:20, 30:45].any()
    assert same.sum() == same.size - 150
    assert (found.row.source != pixels).any()
    assert any(n.startswith("edited: names no colour profile") for n in found.notes)


def test_an_edit_that_was_converted_to_srgb_stays_as_it_is(tmp_path, wide):
    pixels = backdrop((80, 60), 5)
    Image.fromarray(pixels).save(tmp_path / "a.png", icc_profile=wide)
    converted = load_image(tmp_path / "a.png")
    found = taken(tmp_path, wide, None, pixels=pixels, other=converted)
    np.testing.assert_array_equal(found.row.edited, converted)
    np.testing.assert_array_equal(found.row.source, converted)


def test_a_source_without_a_profile_lends_none(tmp_path, wide):
    pixels = backdrop((80, 60), 5)
    found = taken(tmp_path, None, wide, pixels=pixels, other=pixels)
    np.testing.assert_array_equal(found.row.source, pixels)
    np.testing.assert_array_equal(found.row.edited, load_image(tmp_path / "edited.png"))
    assert (found.row.edited != pixels).any()
