import numpy as np
import pytest

from agent_judge.errors import ToolError
from agent_judge.metrics.directional import cosine, directional_similarity, edit_window
from agent_judge.records import Box


class ColourSpace:
    """An encoder whose space one can see: a picture is its mean colour, a text names colours."""

    name = "colour space"
    AXES = ("red", "green", "blue")

    def pictures(self, pictures):
        return self._unit([p.reshape(-1, 3).mean(axis=0) for p in pictures])

    def texts(self, texts):
        return self._unit([[text.split().count(axis) for axis in self.AXES] for text in texts])

    def _unit(self, vectors):
        rows = np.array(vectors, np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


GREY, RED, GREEN = (100, 100, 100), (255, 0, 0), (0, 255, 0)
BOX = Box(10, 10, 20, 20)


def picture(colour, background=GREY):
    pixels = np.full((40, 60, 3), background, np.uint8)
    pixels[10:20, 10:20] = colour
    return pixels


def similarity(before, after, source_text, edited_text, boxes=(BOX,)):
    return directional_similarity(
        picture(before),
        picture(after),
        boxes=boxes,
        source_text=source_text,
        edited_text=edited_text,
        encoder=ColourSpace(),
    )


def test_a_step_along_the_words_is_near_one_and_the_opposite_near_minus_one():
    told = similarity(RED, GREEN, "red", "green")
    assert told == pytest.approx(1)
    assert similarity(GREEN, RED, "red", "green") == pytest.approx(-1)


def test_a_step_across_the_words_lies_between():
    value = similarity(RED, (0, 0, 255), "red", "green")
    assert value is not None
    assert 0.4 < value < 0.6


def test_addition_steps_towards_its_text_and_removal_away_from_it():
    """By hand from the mean colours of the crop, which grows 2.5 px to whole pixels."""
    space = ColourSpace()
    crop = picture(GREY)[7:23, 7:23], picture(RED)[7:23, 7:23]
    step = np.subtract(*space.pictures(crop[::-1]))
    towards_red = step[0] / np.linalg.norm(step)
    assert similarity(GREY, RED, None, "red") == pytest.approx(towards_red, abs=1e-6)
    assert similarity(RED, GREY, "red", None) == pytest.approx(towards_red, abs=1e-6)
    assert similarity(RED, GREY, None, "red") == pytest.approx(-towards_red, abs=1e-6)


def test_only_the_crop_around_the_boxes_is_looked_at():
    edited = picture(GREEN)
    edited[30:, 40:] = (0, 0, 255)
    value = directional_similarity(
        picture(RED),
        edited,
        boxes=[BOX],
        source_text="red",
        edited_text="green",
        encoder=ColourSpace(),
    )
    assert value == similarity(RED, GREEN, "red", "green")


@pytest.mark.parametrize(
    ("before", "after", "source_text", "edited_text"),
    [
        pytest.param(RED, RED, "red", "green", id="same crops"),
        pytest.param(GREY, GREY, None, "red", id="nothing added"),
    ],
)
def test_a_step_without_length_has_no_angle(before, after, source_text, edited_text):
    assert similarity(before, after, source_text, edited_text) is None


def test_texts_that_are_one_to_the_network_are_no_picture_that_did_not_change():
    """0 is the level of a picture without a step; words that lead nowhere give none."""
    with pytest.raises(ToolError, match="one text: 'a red cup' / 'the red cup'"):
        similarity(RED, GREEN, "a red cup", "the red cup")


@pytest.mark.parametrize("broken", ["pictures", "texts"])
def test_a_network_that_gives_no_numbers_gives_no_level(broken):
    class Broken(ColourSpace):
        pass

    setattr(Broken, broken, lambda self, given: np.full((len(given), 3), np.nan, np.float32))
    with pytest.raises(ToolError, match="no numbers"):
        directional_similarity(
            picture(RED),
            picture(GREEN),
            boxes=(BOX,),
            source_text="red",
            edited_text="green",
            encoder=Broken(),
        )


def test_crops_that_differ_but_are_the_same_to_the_network_have_no_angle():
    darker = directional_similarity(
        np.full((8, 8, 3), 200, np.uint8),
        np.full((8, 8, 3), 100, np.uint8),
        boxes=(),
        source_text="red",
        edited_text="green",
        encoder=ColourSpace(),
    )
    assert darker is None


@pytest.mark.parametrize(
    ("boxes", "texts", "told"),
    [((BOX,), (None, None), "got neither"), ((Box(90, 90, 99, 99),), ("red", "green"), "no box")],
)
def test_what_has_no_direction_or_no_place_is_refused(boxes, texts, told):
    with pytest.raises(ValueError, match=told):
        similarity(RED, GREEN, texts[0], texts[1], boxes)


@pytest.mark.parametrize(
    ("boxes", "window"),
    [
        ([Box(40, 40, 60, 50)], (35, 37, 65, 53)),
        ([Box(40, 40, 50, 50), Box(52, 48, 60, 60)], (35, 35, 65, 65)),
        ([Box(0, 0, 20, 20)], (0, 0, 25, 25)),
        ([Box(90, 70, 100, 80)], (87, 67, 100, 80)),
        ([], (0, 0, 100, 80)),
    ],
)
def test_window_is_one_and_a_half_times_the_union_clipped(boxes, window):
    assert edit_window(boxes, (100, 80)) == Box(*window)


def test_cosine_never_leaves_its_range():
    rng = np.random.default_rng(0)
    for _ in range(200):
        vector = rng.normal(size=16).astype(np.float32)
        for factor, expected in ((3, 1), (-1, -1)):
            value = cosine(vector, factor * vector)
            assert value == pytest.approx(expected)
            assert value is not None
            assert abs(value) <= 1
    assert cosine(np.array([np.nan, 1]), np.array([1, 1])) is None
