"""Small scenes to plant in, drawn from a seed."""

from __future__ import annotations

import numpy as np

from agent_judge.audit import paint
from agent_judge.audit.photographs import Scene, Thing
from agent_judge.records import Box
from tests.pictures import backdrop

THINGS = (
    ("grey mug", Box(40, 60, 76, 96), (150, 150, 155)),
    ("tan box", Box(220, 140, 262, 176), (205, 180, 140)),
)


def small_scene(seed: int = 0, size_wh: tuple[int, int] = (360, 260)) -> Scene:
    """A cloudy backdrop with two shaded, outlined things on it."""
    picture = backdrop(size_wh, seed)
    things = []
    for name, box, colour in THINGS:
        mask = paint.ellipse_mask(box, size_wh)
        ramp = np.linspace(0.75, 1.2, size_wh[0])[None, :, None] * np.array(colour)
        shaded = np.broadcast_to(ramp, picture.shape)
        picture = paint.blend(picture, shaded, mask)
        things.append(Thing(name=name, box=box, mask=mask))
    return Scene(id=f"small{seed}", picture=picture, things=tuple(things))
