import numpy as np
import pytest

from agent_judge.errors import ToolError
from agent_judge.tools.detector import (
    UNKNOWN,
    caption_of,
    detector_scale,
    detector_size_wh,
    phrase_of_tokens,
    read_outputs,
)


def word_offsets(caption):
    """One token a word, as a tokenizer that knows every word would do it."""
    offsets, at = [(0, 0)], 0
    for word in caption.text.split():
        offsets.append((at, at + len(word)))
        at += len(word) + 1
    return [*offsets, (0, 0)]


@pytest.mark.parametrize(
    ("phrases", "text"),
    [
        pytest.param(["red cup"], "red cup .", id="no final dot"),
        pytest.param(["Red CUP."], "red cup .", id="upper case and a dot"),
        pytest.param(["japanese_fruit"], "japanese fruit .", id="underscore"),
        pytest.param(["a cup. on it?", "box"], "a cup on it . box .", id="signs inside"),
        pytest.param(["T-shirt", "man's hat"], "t-shirt . man's hat .", id="kept signs"),
        pytest.param(["  big   box "], "big box .", id="spaces"),
        pytest.param(
            ["rote Schüssel", "红色杯子"], "rote schüssel . 红色杯子 .", id="other letters"
        ),
        pytest.param(
            ["pin\u0303ata", "man\u2019s hat"], "piñata . man's hat .", id="typed another way"
        ),
        pytest.param(
            ["[SEP] 3.5 mm jack", "cup\uff0e"], "sep 3 5 mm jack . cup .", id="no separators"
        ),
    ],
)
def test_caption_is_normalised_and_its_spans_are_the_phrases(phrases, text):
    caption = caption_of(phrases)
    assert caption.text == text
    assert [caption.text[a:b] for a, b in caption.spans] == text[:-2].split(" . ")


@pytest.mark.parametrize("phrase", ["", " . ", "?!", "___"])
def test_phrase_without_a_word_is_refused(phrase):
    with pytest.raises(ToolError, match="must name something"):
        caption_of(["cup", phrase])


def test_every_token_belongs_to_its_phrase_or_to_none():
    caption = caption_of(["container", "container number"])
    owners = phrase_of_tokens(caption, word_offsets(caption))
    assert owners.tolist() == [-1, 0, -1, 1, 1, -1, -1]


PHRASES = ["red cup", "container", "container number", "japanese_fruit"]


@pytest.mark.parametrize(
    ("words", "phrase", "score"),
    [
        pytest.param({"red": 0.5, "cup": 0.7}, "red cup", 0.7, id="both words"),
        pytest.param({"cup": 0.6}, "red cup", 0.6, id="one word, not a part of the phrase"),
        pytest.param({"container": 0.8, "container2": 0.7}, "container", 0.8, id="the short one"),
        pytest.param(
            {"container": 0.5, "container2": 0.6, "number": 0.7},
            "container number",
            0.7,
            id="the long one",
        ),
        pytest.param({"fruit": 0.9}, "japanese_fruit", 0.9, id="as it was written"),
        pytest.param({".": 0.9, "cup": 0.1}, UNKNOWN, 0.9, id="a sign only"),
        pytest.param(
            {"japanese": 0.2, "fruit": 0.2, "number": 0.32},
            "container number",
            0.32,
            id="one clear word, though another phrase is less unlike on average",
        ),
        pytest.param({"cup": 0.29}, None, None, id="below the threshold"),
    ],
)
def test_box_is_mapped_to_one_requested_phrase_t14(words, phrase, score):
    caption = caption_of(PHRASES)
    offsets = word_offsets(caption)
    names = [caption.text[a:b] for a, b in offsets]
    names[names.index("container", names.index("container") + 1)] = "container2"
    scores = np.full((1, len(names)), 0.02)
    for word, value in words.items():
        scores[0, names.index(word)] = value
    found = read_outputs(
        scores,
        np.array([[0.5, 0.5, 0.1, 0.1]]),
        phrase_of_tokens(caption, offsets),
        PHRASES,
        (9, 9),
    )
    assert [(c.phrase, c.score) for c in found] == ([(phrase, score)] if phrase else [])


@pytest.mark.parametrize(
    ("numbers", "box"),
    [
        pytest.param(
            [0.6, 0.53, 0.027, 0.026], (300.288, 198.528, 314.112, 208.512), id="T17: centre, size"
        ),
        pytest.param([0.0, 0.0, 0.5, 0.5], (0, 0, 128, 96), id="clipped at the corner"),
        pytest.param([0.5, 0.5, 3.0, 3.0], (0, 0, 512, 384), id="larger than the picture"),
        pytest.param([1.5, 0.5, 0.1, 0.1], None, id="outside"),
        pytest.param([0.5, 0.5, 0.0, 0.1], None, id="no width"),
        pytest.param([0.5, float("nan"), 0.1, 0.1], None, id="not a number"),
    ],
)
def test_box_comes_out_as_pixel_corners_inside_the_picture(numbers, box):
    found = read_outputs(np.array([[0.9]]), np.array([numbers]), np.array([0]), ["cup"], (512, 384))
    assert [c.box.xyxy for c in found] == ([pytest.approx(box)] if box else [])


def test_scores_that_are_no_numbers_give_no_box():
    nan = np.array([[np.nan, np.nan]])
    assert (
        read_outputs(nan, np.array([[0.5, 0.5, 0.1, 0.1]]), np.array([0, 0]), ["x"], (9, 9)) == ()
    )


@pytest.mark.parametrize(
    ("size_wh", "seen_wh"),
    [
        ((640, 480), (1066, 800)),
        ((480, 640), (800, 1066)),
        ((1920, 1080), (1333, 750)),
        ((6000, 4000), (1200, 800)),
        ((1, 1), (800, 800)),
        ((5000, 3), (1666, 1)),
    ],
)
def test_detector_looks_at_800_by_at_most_1333(size_wh, seen_wh):
    assert detector_size_wh(size_wh) == seen_wh


def test_scale_of_a_24_px_target_in_24_megapixels_is_said_t11():
    assert 24 * detector_scale((6000, 4000)) == pytest.approx(4.8)
