"""What an editing model may hit instead of the target."""

from __future__ import annotations

import numpy as np

from agent_judge.audit.paint import Mask
from agent_judge.audit.photographs import Scene
from agent_judge.audit.props import Target, make_prop, place
from agent_judge.audit.task import Outcome

CLEAR_PX = 12
"""What happens elsewhere keeps at least this far from the targets' boxes."""


def with_bystander(target: Target, rng: np.random.Generator) -> tuple[Target, Target | None]:
    """The target with a second prop in its picture, and that prop (None when there is no room)."""
    share = target.box.area / target.source[..., 0].size
    shares = (max(share * 0.7, 0.001), max(share * 1.3, 0.002))
    avoid = [target.box.grow(CLEAR_PX + target.box.width)]
    bystander = make_prop(target.source, shares, avoid, rng, other_than=target.name)
    if bystander is None:
        return target, None
    bare = target.bare
    if bare is not None:
        bare = np.where(bystander.mask[..., None], bystander.source, bare)
    return Target(source=bystander.source, bare=bare, mask=target.mask, name=target.name), bystander


def without_bystander(target: Target, bystander: Target) -> Outcome:
    """The picture in which the bystander is gone instead of the target."""
    assert bystander.bare is not None  # a prop's background is known
    why = f"the {target.name} is unchanged; the {bystander.name} is gone instead"
    return Outcome(picture=bystander.bare, why=why, touched=bystander.mask)


def other_region(target: Target, scene: Scene, rng: np.random.Generator) -> Mask | None:
    """Something else to edit by mistake: another object of like size, or a like shape elsewhere."""
    clear = target.box.grow(CLEAR_PX)
    like = [
        thing.mask
        for thing in scene.things
        if thing.mask is not None
        and thing.box.iou(clear) == 0
        and 0.3 < thing.box.area / target.box.area < 3
    ]
    if like:
        return like[int(rng.integers(len(like)))]
    box = target.box
    spot = place(target.source, (int(box.width), int(box.height)), [clear], rng)
    if spot is None:
        return None
    return np.roll(target.mask, (int(spot.y1 - box.y1), int(spot.x1 - box.x1)), axis=(0, 1))
