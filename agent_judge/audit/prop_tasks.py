"""Tasks whose target has to be drawn first: two targets, shape, count, text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agent_judge.audit import motifs, paint
from agent_judge.audit.bystanders import CLEAR_PX
from agent_judge.audit.colours import COLOURS, pick_colour, two_shades
from agent_judge.audit.motifs import Motif
from agent_judge.audit.paint import RGB
from agent_judge.audit.photographs import Scene
from agent_judge.audit.props import KINDS, Shares, make_prop, place, side_px
from agent_judge.audit.task import Outcome, Plant, Task
from agent_judge.records import Box

SHAPES: Mapping[str, int] = {"round": 0, "triangular": 3, "square": 4}
"""What a sign's shape is called, and how many corners it has."""
WORDS = ("OPEN", "SALE", "TAXI", "EXIT", "CAFE", "STOP", "ZOO", "TEA", "BUS", "HOTEL")
INKS = ((25, 30, 60), (120, 20, 25), (20, 80, 45))
PAPER = (238, 236, 225)
PLATE_ASPECT = 2.8
MIN_SIGN_PX = 14
MIN_PLATE_PX = 18
"""On a lower plate nobody can read a word."""
MIN_COUNTED_PX = 11
SLOTS = 6
"""Places in a row of things to count."""


def pair_task(scene: Scene, shares: Shares, rng: np.random.Generator) -> Task | None:
    """Both of two like things in another colour: the worst target decides (DLEBench A.3)."""
    each = (shares[0] / 2, shares[1] / 2)
    first = make_prop(scene.picture, each, (), rng)
    if first is None:
        return None
    side = (int(first.box.width), int(first.box.height))
    spot = place(first.source, side, [first.box.grow(side[0])], rng)
    if spot is None:
        return None
    colour, kind = first.name.split()
    boxes = (first.box, spot)
    ground = first.mask
    asked = pick_colour(first.source, ground, rng, not_named=[colour])
    other = pick_colour(first.source, ground, rng, not_named=[colour, asked])
    shade, reference_shade = two_shades(asked, rng)

    def drawn(*colours: paint.Colour) -> RGB:
        return _all_drawn(scene.picture, [KINDS[kind](c) for c in colours], boxes)

    old = COLOURS[colour][0]
    source = drawn(old, old)
    outcomes: dict[Plant, Outcome] = {
        "noop": Outcome(picture=source, why=f"both {kind}s are unchanged"),
        "half": Outcome(picture=drawn(shade, old), why=f"one {kind} is {asked}, one unchanged"),
        "wrong": Outcome(
            picture=drawn(shade, COLOURS[other][0]), why=f"one {kind} is {asked}, one {other}"
        ),
        "right": Outcome(picture=drawn(shade, shade), why=f"both {kind}s are {asked}"),
    }
    return Task(
        type="color",
        instruction=f"Make both {colour} {kind}s {asked}.",
        targets=(f"{colour} {kind}",) * 2,
        boxes=boxes,
        source=source,
        reference=drawn(reference_shade, reference_shade),
        outcomes=outcomes,
    )


def shape_task(scene: Scene, shares: Shares, rng: np.random.Generator) -> Task | None:
    """A sign in another shape. Over-edited: the shape is right, but the colour changed too."""
    side = side_px(scene.picture, shares, rng)
    box = place(scene.picture, (side, side), (), rng)
    if side < MIN_SIGN_PX or box is None:
        return None
    is_, asked, other = (str(shape) for shape in rng.permutation(list(SHAPES)))
    ground = paint.box_mask(box, scene.size_wh)
    colour = pick_colour(scene.picture, ground, rng)
    over = pick_colour(scene.picture, ground, rng, not_named=[colour])
    rgb = COLOURS[colour][0]
    spot = place(scene.picture, (side, side), [box.grow(CLEAR_PX + side)], rng)

    def drawn(shape: str, rgb: paint.Colour, at: Box, on: RGB = scene.picture) -> RGB:
        return motifs.draw(on, motifs.sign(SHAPES[shape], rgb), at)

    source = drawn(is_, rgb, box)
    name = f"{is_} {colour} sign"
    outcomes: dict[Plant, Outcome] = {
        "noop": Outcome(picture=source, why=f"the {name} is unchanged"),
        "wrong": Outcome(picture=drawn(other, rgb, box), why=f"the sign is {other}, not {asked}"),
        "over": Outcome(
            picture=drawn(asked, COLOURS[over][0], box),
            why=f"the sign is {asked}, but it also turned {over}",
        ),
        "right": Outcome(picture=drawn(asked, rgb, box), why=f"the sign is {asked}"),
    }
    if spot is not None:
        touched = motifs.motif_mask(motifs.sign(SHAPES[asked], rgb), spot, scene.size_wh)
        why = f"the {name} is unchanged; a {asked} one came elsewhere"
        picture = drawn(asked, rgb, spot, source)
        outcomes["elsewhere"] = Outcome(picture=picture, why=why, touched=touched)
    return Task(
        type="shape",
        instruction=f"Make the {name} {asked}.",
        targets=(name,),
        boxes=(box,),
        source=source,
        reference=drawn(asked, COLOURS[colour][1], box.grow(-max(1, side // 16)).outward()),
        outcomes=outcomes,
    )


def count_task(scene: Scene, shares: Shares, rng: np.random.Generator) -> Task | None:
    """Another number of things in a row. Over-edited: the number is right, their colour is not.

    Fewer: one box around each thing. More: one box around the row with its free places.
    """
    n = int(rng.integers(3, SLOTS))
    row = _free_row(scene, (shares[0] / n, shares[1] / n), rng)
    if row is None:
        return None
    more = bool(rng.random() < 0.35)
    asked = n + 1 if more else int(rng.integers(1, n))
    possible = range(1, SLOTS + 1) if more else range(1, n)
    wrong = int(rng.choice([k for k in possible if k not in (n, asked)]))
    kind = KINDS[row.kind]
    motif, strange = kind(COLOURS[row.colour][0]), kind(COLOURS[row.other_colour][0])
    keep, name = _chosen(asked, n, rng), f"{row.colour} {row.kind}s"
    outcomes: dict[Plant, Outcome] = {
        "noop": Outcome(picture=row.drawn(range(n), motif), why=f"there are still {n} {name}"),
        "wrong": Outcome(
            picture=row.drawn(_chosen(wrong, n, rng), motif),
            why=f"the number of {name} is {wrong}, not {asked}",
        ),
        "over": Outcome(
            picture=row.drawn(keep, strange),
            why=f"the number is right, {asked}, but they turned {row.other_colour}",
        ),
        "right": Outcome(
            picture=row.drawn(keep, motif), why=f"the number of {name} is {asked}, as asked"
        ),
    }
    left = "is" if asked == 1 else "are"
    how = f"so that there are {asked}" if more else f"until exactly {asked} {left} left"
    return Task(
        type="count",
        instruction=f"{'Add to' if more else 'Remove some of'} the {n} {name} {how}.",
        targets=(name,),
        boxes=(row.places[0].union(row.places[-1]),) if more else row.places[:n],
        source=outcomes["noop"].picture,
        reference=row.drawn(_chosen(asked, n, rng), kind(COLOURS[row.colour][1])),
        outcomes=outcomes,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Row:
    """Places in a row on a picture, and what stands in them."""

    picture: RGB
    places: tuple[Box, ...]
    kind: str
    colour: str
    other_colour: str

    def drawn(self, which: Sequence[int], motif: Motif) -> RGB:
        """The picture with a motif in some of the places."""
        return _all_drawn(self.picture, [motif] * len(which), [self.places[i] for i in which])


def _free_row(scene: Scene, each: Shares, rng: np.random.Generator) -> _Row | None:
    side = side_px(scene.picture, each, rng)
    step = side + max(3, side // 3)
    room = place(scene.picture, (step * (SLOTS - 1) + side, side), (), rng)
    if side < MIN_COUNTED_PX or room is None:
        return None
    ground = paint.box_mask(room, scene.size_wh)
    colour = pick_colour(scene.picture, ground, rng)
    lefts = [room.x1 + step * i for i in range(SLOTS)]
    return _Row(
        picture=scene.picture,
        places=tuple(Box(left, room.y1, left + side, room.y2) for left in lefts),
        kind=str(rng.choice(list(KINDS))),
        colour=colour,
        other_colour=pick_colour(scene.picture, ground, rng, not_named=[colour]),
    )


def _chosen(k: int, n: int, rng: np.random.Generator) -> Sequence[int]:
    """The places of `k` things where there were `n`: some of those, or all and the next free."""
    return range(k) if k > n else sorted(rng.permutation(n)[:k].tolist())


def ocr_task(scene: Scene, shares: Shares, rng: np.random.Generator) -> Task | None:
    """Another word on a plate. Over-edited: the word is right, but the plate changed colour."""
    width = side_px(scene.picture, (shares[0] * PLATE_ASPECT, shares[1] * PLATE_ASPECT), rng)
    size_wh = (width, round(width / PLATE_ASPECT))
    box = place(scene.picture, size_wh, (), rng)
    if size_wh[1] < MIN_PLATE_PX or box is None:
        return None
    old, asked, other = (str(word) for word in rng.permutation(WORDS)[:3])
    ink, other_ink = (INKS[i] for i in rng.permutation(len(INKS))[:2])
    strange = COLOURS[str(rng.choice(["yellow", "orange", "green"]))][1]

    def plate(word: str, paper: paint.Colour = PAPER) -> Motif:
        return motifs.plate(word, ink, paper, fullness=0.85)

    def drawn(motif: Motif, at: Box = box) -> RGB:
        return motifs.draw(source, motif, at)

    source = motifs.draw(scene.picture, plate(old), box)
    outcomes: dict[Plant, Outcome] = {
        "noop": Outcome(picture=source, why=f"the plate still reads {old}"),
        "wrong": Outcome(picture=drawn(plate(other)), why=f"it reads {other}, not {asked}"),
        "over": Outcome(
            picture=drawn(plate(asked, strange)),
            why=f"the plate reads {asked}, but it lost its own colour",
        ),
        "right": Outcome(picture=drawn(plate(asked)), why=f"the plate reads {asked}"),
    }
    spot = place(source, size_wh, [box.grow(CLEAR_PX + size_wh[1])], rng)
    if spot is not None:
        outcomes["elsewhere"] = Outcome(
            picture=drawn(plate(asked), spot),
            why=f"the plate still reads {old}; another plate came elsewhere",
            touched=paint.box_mask(spot, scene.size_wh),
        )
    return Task(
        type="ocr",
        instruction=f"Change the text on the plate from {old} to {asked}.",
        targets=(f"plate that reads {old}",),
        boxes=(box,),
        source=source,
        reference=drawn(motifs.plate(asked, other_ink, PAPER, fullness=0.72)),
        outcomes=outcomes,
    )


def _all_drawn(picture: RGB, things: Sequence[Motif], boxes: Sequence[Box]) -> RGB:
    for thing, box in zip(things, boxes, strict=True):
        picture = motifs.draw(picture, thing, box)
    return picture
