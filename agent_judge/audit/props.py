"""Targets: objects of a photograph, or props drawn into it where it has none of the wanted size.

A prop's background is known, so that a removal has a perfect answer beside the painted one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from agent_judge.audit import motifs, paint
from agent_judge.audit.colours import COLOURS, pick_colour
from agent_judge.audit.motifs import Motif
from agent_judge.audit.paint import RGB, Colour, Mask
from agent_judge.audit.photographs import Scene, Thing
from agent_judge.records import Box

KINDS: Mapping[str, Callable[[Colour], Motif]] = {
    "ball": motifs.ball,
    "cube": motifs.cube,
    "star": motifs.star,
}
"""Solid things that a prop or a replacement can be."""
Shares = tuple[float, float]
"""Smallest and largest share of the picture that a target's box may cover, 0 to 1."""
ANY_SIZE: Shares = (0.0005, 0.1)
"""Shares of the picture that a target may cover at all."""
MAX_ERASED_SHARE = 0.01
"""Larger objects cannot be painted out of a photograph so that a person calls it clean."""
CALM = 14.0
"""Spread of Lab around an object up to which a fill has nothing to guess."""
BORDER_PX = 10
"""What is planted keeps this far from the border."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Target:
    """What an instruction is about, in the picture that is to be edited."""

    source: RGB
    bare: RGB | None
    """The same picture without the target; None when nobody knows what lies behind it."""
    mask: Mask
    name: str

    @property
    def box(self) -> Box:
        """The target's box, pixels of `source`."""
        return paint.mask_box(self.mask)

    @property
    def size_wh(self) -> tuple[int, int]:
        """Width and height of `source`."""
        return self.source.shape[1], self.source.shape[0]

    def is_at_least(self, side_px: int) -> bool:
        """Whether the box's shorter side has that many pixels."""
        return min(self.box.width, self.box.height) >= side_px


def find_target(
    scene: Scene,
    shares: Shares,
    rng: np.random.Generator,
    suits: Callable[[Thing, Scene], bool],
    *,
    min_side_px: int = 10,
) -> Target | None:
    """An object of the scene, or a prop of the wanted size where it has none.

    Args:
        scene: the photograph.
        shares: wanted size.
        rng: chooses among several.
        suits: which objects can take the edit.
        min_side_px: smallest side of the target's box.
    """
    # Objects are rarer than sizes: half the time any size will do.
    low, high = ANY_SIZE if rng.random() < 0.5 else shares
    fit = [
        thing
        for thing in scene.things
        if thing.name is not None
        and low <= thing.box.area / scene.picture[..., 0].size <= high
        and min(thing.box.width, thing.box.height) >= min_side_px
        and suits(thing, scene)
    ]
    if fit and rng.random() < 0.85:
        return _as_target(scene, fit[int(rng.integers(len(fit)))])
    return make_prop(scene.picture, shares, (), rng, min_side_px=min_side_px)


def is_solid(thing: Thing, scene: Scene) -> bool:
    """Whether the object's outline is known and fills most of its box."""
    return thing.mask is not None and fullness(thing.mask) > 0.45


def is_erasable(thing: Thing, scene: Scene) -> bool:
    """Whether a fill would look clean: a small, compact object on calm ground."""
    width, height = thing.box.width, thing.box.height
    mask = thing.mask if thing.mask is not None else paint.box_mask(thing.box, scene.size_wh)
    return (
        thing.box.area <= MAX_ERASED_SHARE * scene.picture[..., 0].size
        and max(width, height) < 2.5 * min(width, height)
        and is_calm(scene.picture, mask)
    )


def fullness(mask: Mask) -> float:
    """Share of its box that a mask fills, 0 to 1."""
    return float(mask.sum() / paint.mask_box(mask).area)


def _as_target(scene: Scene, thing: Thing) -> Target:
    mask = thing.mask if thing.mask is not None else paint.box_mask(thing.box, scene.size_wh)
    return Target(source=scene.picture, bare=None, mask=mask, name=str(thing.name))


def make_prop(
    picture: RGB,
    shares: Shares,
    avoid: Sequence[Box],
    rng: np.random.Generator,
    *,
    min_side_px: int = 10,
    other_than: str = "",
) -> Target | None:
    """A ball, cube or star of a colour that stands out, drawn at a calm place of the picture.

    Args:
        picture: where it is drawn.
        shares: wanted size.
        avoid: boxes that it keeps clear of.
        rng: chooses kind, colour and place.
        min_side_px: smallest side; None comes back where `shares` do not allow it.
        other_than: name of a prop whose kind and colour it must not share.
    """
    side = side_px(picture, shares, rng)
    if side < min_side_px:
        return None
    box = place(picture, (side, side), avoid, rng)
    if box is None:
        return None
    kind = str(rng.choice([name for name in KINDS if name not in other_than]))
    ground = paint.box_mask(box, (picture.shape[1], picture.shape[0]))
    colour = pick_colour(picture, ground, rng, not_named=other_than.split())
    motif = KINDS[kind](COLOURS[colour][0])
    mask = motifs.motif_mask(motif, box, (picture.shape[1], picture.shape[0]))
    drawn = motifs.draw(picture, motif, box)
    return Target(source=drawn, bare=picture, mask=mask, name=f"{colour} {kind}")


def side_px(picture: RGB, shares: Shares, rng: np.random.Generator) -> int:
    """A side, in pixels, whose square covers a share of the picture between the two given."""
    share = np.exp(rng.uniform(np.log(shares[0]), np.log(shares[1])))
    return round(float((share * picture[..., 0].size) ** 0.5))


def place(
    picture: RGB, size_wh: tuple[int, int], avoid: Sequence[Box], rng: np.random.Generator
) -> Box | None:
    """A calm place for something of `size_wh`, clear of `avoid`; None when there is no room."""
    height, width = picture.shape[:2]
    room = (width - size_wh[0] - 2 * BORDER_PX, height - size_wh[1] - 2 * BORDER_PX)
    if min(room) <= 0:
        return None
    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    found: list[tuple[float, Box]] = []
    for _ in range(60):
        x, y = (int(rng.integers(BORDER_PX, BORDER_PX + space)) for space in room)
        box = Box(x, y, x + size_wh[0], y + size_wh[1])
        if any(box.iou(other) > 0 for other in avoid):
            continue
        found.append((float(grey[y : y + size_wh[1], x : x + size_wh[0]].std()), box))
        if len(found) == 12:
            break
    return min(found, key=lambda item: item[0])[1] if found else None


def erase(target: Target, rng: np.random.Generator) -> tuple[RGB, RGB]:
    """The picture without the target, twice: two different, equally right fills."""
    hole = cv2.dilate(target.mask.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    reach = int(max(target.box.width, target.box.height))
    offsets = rng.permutation([(reach + 9, 0), (-reach - 9, 0), (0, reach + 9), (0, -reach - 9)])
    first = paint.fill(target.source, hole, tuple(offsets[0]))
    if target.bare is None:
        return first, paint.fill(target.source, hole, tuple(offsets[1]))
    if not is_calm(target.source, target.mask):
        first = paint.smear(target.bare, hole, 1.5)
    return (target.bare, first) if rng.random() < 0.5 else (first, target.bare)


def is_calm(picture: RGB, mask: Mask) -> bool:
    """Whether a fill of the masked part has nothing to guess."""
    return float(np.sqrt(paint.lab_around(picture, mask).var(0).sum())) < CALM


def replacement(
    target: Target, rng: np.random.Generator, *, not_like: str = ""
) -> tuple[str, Motif]:
    """A thing of another kind and colour than the target and than `not_like`, with its name."""
    taken = f"{target.name} {not_like}".split()
    kind = str(rng.choice([kind for kind in KINDS if kind not in taken]))
    colour = pick_colour(target.source, target.mask, rng, not_named=taken)
    return f"{colour} {kind}", KINDS[kind](COLOURS[colour][0])


def square(box: Box, *, shrink_px: int = 0) -> Box:
    """The largest centred square of a box, in whole pixels."""
    side = int(min(box.width, box.height)) - 2 * shrink_px
    x, y = int((box.x1 + box.x2 - side) / 2), int((box.y1 + box.y2 - side) / 2)
    return Box(x, y, x + side, y + side)


def a_(name: str) -> str:
    """A name with its article.

    Example:
        >>> a_("orange cube"), a_("red ball")
        ('an orange cube', 'a red ball')
    """
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
