"""Rows that are probably wrong are warned of; right ones are not."""

from pathlib import Path

import numpy as np
import pytest
from numpy.polynomial import polynomial

from agent_judge.deep import FLAT_LEVELS, TextChecks, picture_warnings, unevenness
from agent_judge.plan import Row
from agent_judge.records import Box, Sample
from tests.pictures import backdrop, encoded, scene

SCENE = scene()
TARGET = SCENE.boxes[0]


def sample(instruction="Make the mug red.", **values):
    paths = {"source": Path("a.png"), "edited": Path("b.png")}
    return Sample(**{"id": "1", "instruction": instruction, **paths, **values})


def row(source=SCENE.pixels, edited=None, reference=None, boxes=(TARGET,), **values):
    changed = source.copy()
    changed[20:40, 30:60] = 255
    return Row(
        sample=sample(**values),
        source=source,
        edited=changed if edited is None else edited,
        reference=reference,
        boxes=tuple(boxes),
    )


def warned(about):
    return " | ".join(picture_warnings(about))


def touched(pixels, box):
    x1, y1, x2, y2 = map(int, box.xyxy)
    changed = pixels.copy()
    changed[y1:y2, x1:x2] = (20, 200, 90)
    return changed


def wall(noise=6.0, slope=40.0, seed=0):
    """A blank wall: a shade that runs across it, and grain."""
    rng = np.random.default_rng(seed)
    shade = 120 + slope * np.linspace(0, 1, 320)[None, :, None] + np.zeros((240, 1, 3))
    return (shade + rng.normal(0, noise, (240, 320, 3))).clip(0, 255).astype(np.uint8)


def test_a_right_row_gives_nothing():
    assert warned(row(reference=touched(SCENE.pixels, TARGET))) == ""


@pytest.mark.parametrize("noise", [0.0, 6.0, 10.0])
def test_a_mug_on_a_blank_wall_is_a_suspect_box(noise):
    found = warned(row(wall(noise), boxes=[Box(100, 80, 130, 110)]))
    assert "box 1 lies on a flat place of the source" in found
    assert "was it drawn on another picture or size?" in found


@pytest.mark.parametrize(
    "instruction", ["Add a mug on the wall.", "put a mug there", "Draw a mug on the wall"]
)
def test_what_is_to_be_added_needs_nothing_where_it_goes(instruction):
    assert warned(row(wall(), boxes=[Box(100, 80, 130, 110)], instruction=instruction)) == ""


def test_a_box_that_fits_a_flat_object_is_no_suspect():
    pixels = wall(noise=0.0, slope=0.0)
    pixels[80:110, 100:130] = (200, 40, 40)
    assert warned(row(pixels, boxes=[Box(100, 80, 130, 110)])) == ""


def test_only_the_flat_box_of_several_is_named():
    pixels = wall()
    pixels[20:40, 20:40] = (200, 40, 40)
    found = warned(row(pixels, boxes=[Box(20, 20, 40, 40), Box(200, 100, 230, 130)]))
    assert "box 2 lies on" in found
    assert "box 1 lies on" not in found


@pytest.mark.parametrize("seed", range(6))
def test_objects_in_pictures_are_never_flat(seed):
    drawn = scene(seed=seed, side_px=16)
    assert min(unevenness(drawn.pixels, box) for box in drawn.boxes) > 2 * FLAT_LEVELS


def test_a_plane_of_any_slope_is_even_as_a_fit_of_numpy_tells():
    y, x = np.mgrid[0:60, 0:80]
    design = polynomial.polyvander2d(x.ravel() / 80, y.ravel() / 60, [1, 1])[:, :3]
    plane = (design @ np.array([40.0, 60.0, 90.0])).reshape(60, 80)
    pixels = np.repeat(plane[..., None], 3, axis=2).round().astype(np.uint8)
    assert unevenness(pixels, Box(10, 10, 50, 40)) < 1


def test_a_box_as_large_as_the_picture_and_one_at_its_edge_are_measured():
    assert unevenness(backdrop((900, 700)), Box(0, 0, 900, 700)) > 0
    assert unevenness(SCENE.pixels, Box(319, 239, 320, 240)) >= 0


def test_large_boxes_are_told_by_what_they_cover_together():
    half = [Box(0, 0, 80, 120), Box(0, 0, 80, 120)]
    assert "the boxes cover 12.5% of the picture" in warned(row(boxes=half))
    assert "cover" not in warned(row(boxes=[Box(0, 0, 80, 95)]))


def test_a_reference_without_a_change_is_told():
    for reference in (SCENE.pixels, np.asarray(jpeg(SCENE.pixels))):
        assert "the reference shows no change" in warned(row(reference=reference))


def test_a_reference_in_the_place_of_the_output_is_told():
    right = touched(SCENE.pixels, TARGET)
    assert "equals the reference" in warned(row(edited=right, reference=right))


def jpeg(pixels):
    from agent_judge.images import decode_image

    return decode_image(encoded(pixels, "JPEG", quality=90)).pixels


def texts(*samples):
    checks = TextChecks()
    return [checks.warnings(line, about) for line, about in enumerate(samples, start=1)]


@pytest.mark.parametrize(
    ("instruction", "told"),
    [
        ("...", "says nothing"),
        ("null", "says nothing"),
        ("N/A", "says nothing"),
        ("Make it red. Make it red.", "the same twice"),
        ("make the cup red  Make the cup RED", "the same twice"),
        ("Make it red. Make it blue.", None),
        ("knock knock", None),
        ("Change the text to 'null'.", None),
        ("把杯子变成红色", None),
    ],
)
def test_empty_and_doubled_instructions_are_told(instruction, told):
    (found,) = texts(sample(instruction))
    assert (told in found[0]) if told else (found == [])


def test_rows_that_ask_the_same_are_told_with_the_first_line():
    found = texts(sample(), sample(id="2", instruction="make the  mug red."), sample("Other."))
    assert found[0] == []
    assert found[1] == [
        "asks the same of the same source as line 1: drop one, or tell editing models apart with "
        "`editor`"
    ]
    assert found[2] == ["has the edited picture of line 1: is `edited` the right file?"]


def test_rows_of_several_editing_models_are_no_doubles():
    one, two = sample(editor="x"), sample(id="2", editor="y", edited=Path("c.png"))
    assert texts(one, two) == [[], []]


@pytest.mark.parametrize(
    ("column", "meant"),
    [
        ("bbox", "boxes"),
        ("boxs", "boxes"),
        ("Boxes", "boxes"),
        ("bbox-format", "box_format"),
        ("refrence", "reference"),
        ("model", "editor"),
        ("edit type", "type"),
    ],
)
def test_columns_that_look_like_ours_are_told_once(column, meant):
    first, second = texts(
        sample(metadata={column: 1}),
        sample("Another.", edited=Path("c.png"), metadata={column: 2}),
    )
    assert first == [f"the column {column!r} is not read: rename it if it holds {meant!r}"]
    assert second == []


def test_a_mask_column_names_the_way_to_boxes():
    ((found,),) = texts(sample(metadata={"mask": "m.png"}))
    assert "import boxes-masks" in found


@pytest.mark.parametrize(
    "values",
    [
        {"metadata": {"bbox": 1, "mask": 2}, "boxes": ((1, 1, 9, 9),)},
        {
            "metadata": {
                "sources": ["a"],
                "licence": "CC0",
                "score": 3,
                "turns": 2,
                "language": "en",
            }
        },
    ],
)
def test_other_columns_are_nobodys_business(values):
    assert texts(sample(**values)) == [[]]
