"""Colour words against colours that another library names or converts."""

import numpy as np
import pytest
from PIL import ImageColor
from skimage.color import rgb2lab

from agent_judge.judges.measuring.colour_names import (
    colour_of_new_thing,
    name_margin,
    wanted_colour,
)

CSS = {
    "red": ["red", "firebrick", "darkred"],
    "orange": ["orange", "darkorange"],
    "yellow": ["yellow", "#e8d020"],
    "green": ["green", "forestgreen", "limegreen", "darkgreen"],
    "blue": ["blue", "royalblue", "dodgerblue", "mediumblue"],
    "purple": ["purple", "rebeccapurple", "darkorchid"],
    "pink": ["pink", "hotpink", "lightpink"],
    "brown": ["saddlebrown", "sienna"],
    "grey": ["grey", "darkgrey", "dimgrey"],
    "black": ["black", "#151515"],
    "white": ["white", "snow"],
    "teal": ["teal"],
    "gold": ["gold"],
    "navy": ["navy"],
    "indigo": ["indigo"],
    "crimson": ["crimson"],
    "maroon": ["maroon"],
    "coral": ["coral"],
    "magenta": ["magenta"],
    "turquoise": ["turquoise"],
    "tan": ["tan"],
    "olive": ["olive"],
}
SWATCHES = [(word, name) for word, names in CSS.items() for name in names]
UNLIKE = [
    ("green", "red"),
    ("red", "green"),
    ("blue", "yellow"),
    ("yellow", "purple"),
    ("white", "black"),
    ("black", "white"),
    ("pink", "green"),
    ("orange", "blue"),
    ("brown", "cyan"),
    ("purple", "lime"),
]
WORDINGS = [
    ("Make the car red.", "red"),
    ("Turn the red car blue.", "blue"),
    ("Change the colour of the sign from white to dark green", "green"),
    ("change it to gray", "grey"),
    ("Paint the fence in bright yellow", "yellow"),
    ("Replace the roof with a golden one", "gold"),
    ("make the mug purple, please", "purple"),
    ("Recolor the ball to the colour orange", "orange"),
    ("Paint the red car", None),
    ("make it red or blue", None),
    ("Make the left one red and the right one blue", None),
    ("Make the shirt not green", None),
    ("remove the bird", None),
    ("", None),
]


def lab_of(name):
    rgb = np.array([[ImageColor.getrgb(name)]], np.uint8)
    return rgb2lab(rgb)[0, 0]


@pytest.mark.parametrize(("word", "css"), SWATCHES)
def test_a_colour_of_the_web_fits_its_own_word_best(word, css):
    assert name_margin(lab_of(css), word) > 0


@pytest.mark.parametrize(("css", "word"), UNLIKE)
def test_another_colour_contradicts_the_word(css, word):
    assert name_margin(lab_of(css), word) < -10


def test_navy_is_a_blue_and_blue_no_contradiction_of_navy():
    assert name_margin(lab_of("navy"), "blue") > 0
    assert name_margin(lab_of("navy"), "navy") > 0


@pytest.mark.parametrize(("instruction", "word"), WORDINGS)
def test_the_wanted_colour_is_read_from_the_wording(instruction, word):
    assert wanted_colour(instruction) == word


@pytest.mark.parametrize(
    ("instruction", "word"),
    [
        ("Replace the red car with a small blue bus.", "blue"),
        ("Replace the red car with a bus.", None),
        ("Swap the cup for a red or a green ball with a red or green lid", None),
        ("Turn the cat into a grey dog", "grey"),
        ("Remove the red car", None),
    ],
)
def test_the_colour_of_a_new_thing_is_read_behind_with_by_or_into(instruction, word):
    assert colour_of_new_thing(instruction) == word
