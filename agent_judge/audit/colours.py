"""Colours that nobody confuses, by name: which one a thing has, which one to ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from agent_judge.audit import paint
from agent_judge.audit.paint import RGB, Colour, Mask

COLOURS: Mapping[str, tuple[Colour, Colour, Colour]] = {
    "red": ((205, 30, 35), (225, 60, 50), (165, 20, 35)),
    "orange": ((240, 125, 25), (250, 150, 40), (225, 105, 10)),
    "yellow": ((245, 215, 40), (235, 200, 20), (250, 230, 90)),
    "green": ((40, 150, 60), (70, 180, 80), (25, 115, 50)),
    "blue": ((40, 90, 205), (70, 130, 230), (25, 60, 160)),
    "purple": ((125, 50, 165), (150, 80, 190), (95, 35, 130)),
    "white": ((240, 240, 238), (226, 228, 230), (250, 248, 240)),
    "black": ((25, 25, 28), (40, 40, 42), (15, 15, 15)),
}
"""Each in three shades: one for the right edit, another for the reference."""
APART = 45.0
"""Lab distance from which two colours are two colours to everybody."""


def pick_colour(
    picture: RGB, mask: Mask, rng: np.random.Generator, *, not_named: Sequence[str] = ()
) -> str:
    """The name of a colour far from what the mask holds, from its surroundings and those named."""
    inside, around = paint.lab(picture)[mask].mean(0), paint.lab_around(picture, mask).mean(0)
    taken = [inside, around, *(_lab(COLOURS[name][0]) for name in not_named if name in COLOURS)]
    apart = {
        name: min(float(np.linalg.norm(_lab(shades[0]) - other)) for other in taken)
        for name, shades in COLOURS.items()
    }
    clear = [name for name, distance in apart.items() if distance > APART]
    return str(rng.choice(clear)) if clear else max(apart, key=lambda name: apart[name])


def colour_name(picture: RGB, mask: Mask) -> str:
    """The name that the mean colour of the masked part is nearest to."""
    inside = paint.lab(picture)[mask].mean(0)
    return min(
        COLOURS, key=lambda n: min(np.linalg.norm(_lab(shade) - inside) for shade in COLOURS[n])
    )


def two_shades(name: str, rng: np.random.Generator) -> tuple[Colour, Colour]:
    """Two different shades of a colour: for the right edit and for the reference."""
    first, second = rng.permutation(3)[:2]
    return COLOURS[name][first], COLOURS[name][second]


def _lab(colour: Colour) -> paint.Floats:
    return np.asarray(paint.lab(np.array([[colour]], np.uint8))[0, 0], np.float32)
