"""What people call a colour, and which colour an instruction asks for.

The names come from the XKCD colour survey (CC0): `colour_names.tsv` beside this file. A measured
colour is compared with the nearest swatch of the wanted name and with the nearest swatch of any
name that contradicts it, in CIE Lab.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

_TABLE = Path(__file__).with_suffix(".tsv")
_SPELT: Mapping[str, str] = {"gray": "grey", "golden": "gold", "silvery": "silver"}
_KIN: Mapping[str, frozenset[str]] = {
    name: frozenset(kin.split())
    for name, kin in {
        "red": "crimson maroon burgundy coral salmon",
        "orange": "coral peach salmon gold",
        "yellow": "gold lime cream beige tan khaki",
        "green": "lime olive khaki teal turquoise aqua",
        "blue": "navy indigo teal turquoise cyan aqua",
        "purple": "violet lavender lilac indigo magenta",
        "pink": "magenta salmon coral peach lilac",
        "brown": "tan khaki beige gold maroon olive",
        "grey": "silver white",
        "black": "navy grey",
        "white": "silver cream grey",
        "teal": "turquoise cyan aqua green blue",
        "turquoise": "teal cyan aqua green blue",
        "cyan": "turquoise aqua teal blue",
        "aqua": "turquoise cyan teal blue green",
        "beige": "tan cream khaki brown peach",
        "tan": "beige khaki brown gold",
        "maroon": "burgundy crimson red brown",
        "burgundy": "maroon crimson red purple",
        "crimson": "red maroon burgundy",
        "navy": "blue indigo black",
        "gold": "yellow tan orange khaki brown",
        "olive": "green khaki brown",
        "magenta": "pink purple violet",
        "lavender": "lilac violet purple",
        "violet": "purple indigo lavender magenta lilac",
        "lilac": "lavender violet purple pink",
        "silver": "grey white",
        "cream": "white beige yellow",
        "indigo": "blue purple violet navy",
        "lime": "green yellow",
        "salmon": "pink coral peach orange red",
        "coral": "salmon orange pink red",
        "peach": "salmon coral orange beige cream pink",
        "khaki": "tan beige olive green brown",
    }.items()
}
"""Names that do not contradict the wanted one."""
_WORD = re.compile(r"[a-z]+")
_TOWARD = frozenset({"to", "into", "in", "with"})
_SKIPPED = frozenset(
    [
        "a",
        "an",
        "the",
        "be",
        "become",
        "bright",
        "light",
        "dark",
        "deep",
        "pale",
        "vivid",
        "solid",
        "pure",
        "plain",
        "all",
        "completely",
        "entirely",
        "fully",
        "shade",
        "of",
        "colour",
        "color",
    ]
)
_PREDICATE_END = frozenset(
    {"", "colour", "color", "paint", "instead", "one", "and", "while", "but"}
)


@cache
def _swatches() -> Mapping[str, NDArray[np.float64]]:
    """Lab of every swatch by family."""
    rows = [
        line.split("\t")
        for line in _TABLE.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    families: dict[str, list[list[int]]] = {}
    for family, _, swatch in rows:
        families.setdefault(family, []).append([int(swatch[i : i + 2], 16) for i in (1, 3, 5)])
    return {family: _lab(np.array(rgb)) for family, rgb in families.items()}


def _lab(rgb: NDArray[np.int64]) -> NDArray[np.float64]:
    planes = (rgb[None].astype(np.float32)) / np.float32(255)
    return np.asarray(cv2.cvtColor(planes, cv2.COLOR_RGB2Lab)[0], np.float64)


def name_margin(lab: NDArray[np.float64], word: str) -> float:
    """How much nearer a colour lies to `word` than to any name that contradicts it.

    Args:
        lab: CIE Lab, shape (3,).
        word: a colour word that `wanted_colour` returns.

    Returns:
        Difference of two Lab distances: positive where the word fits best, negative where
        another name does.

    Example:
        >>> red = np.array([45.0, 65.0, 45.0])
        >>> name_margin(red, "red") > 10, name_margin(red, "green") < -10
        (True, True)
    """
    distance = {
        family: float(np.linalg.norm(swatches - lab, axis=1).min())
        for family, swatches in _swatches().items()
    }
    rivals = [d for family, d in distance.items() if family != word and family not in _KIN[word]]
    return min(rivals) - distance[word]


def wanted_colour(instruction: str) -> str | None:
    """The one colour that an instruction asks for; None when it names none, or is not clear.

    A colour word counts as asked for behind "to", "into", "in" or "with", or where its clause
    ends ("paint the car red"). In front of a noun it only describes ("the red car").

    Example:
        >>> wanted_colour("Turn the red car blue."), wanted_colour("Paint the red car")
        ('blue', None)
        >>> wanted_colour("change it from red to dark green"), wanted_colour("red or blue")
        ('green', None)
    """
    asked = set()
    for clause in re.split(r"[.,;:!?()]", instruction.lower()):
        words = _WORD.findall(clause)
        for index, word in enumerate(words):
            name = _SPELT.get(word, word)
            if name in _KIN and _is_asked_for(words, index):
                asked.add(name)
    return asked.pop() if len(asked) == 1 else None


def colour_of_new_thing(instruction: str) -> str | None:
    """The one colour of what is to come: "replace the red car with a blue bus" -> "blue".

    Example:
        >>> colour_of_new_thing("Replace the red car with a small blue bus.")
        'blue'
        >>> colour_of_new_thing("Replace the red car with a bus.")
    """
    words = _WORD.findall(instruction.lower())
    starts = [i for i, word in enumerate(words) if word in ("with", "by", "into")]
    named = {_SPELT.get(w, w) for w in words[starts[-1] :]} & _KIN.keys() if starts else set()
    return named.pop() if len(named) == 1 else None


def _is_asked_for(words: list[str], index: int) -> bool:
    before = [w for w in words[:index] if w not in _SKIPPED]
    after = words[index + 1] if index + 1 < len(words) else ""
    previous = before[-1] if before else ""
    if previous in ("from", "or", "and", "not") or after == "or":
        return previous == "and" and after == ""
    return (previous in _TOWARD or index > 0) and after in _PREDICATE_END
