"""Tasks whose target has to be drawn first: two targets, shape, count, text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
PLATE_ASPECT = 2.8
MIN_SIGN_PX = 14
MIN_PLATE_PX = 18
"""On a lower plate nobody can read a word."""
MIN_COUNTED_PX = 11


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
    """Another number of things in a row. Over-edited: the number is right, the things are not.

    Fewer: one box around each thing. More: one box around the row with its free place.
    """
    n, slots = int(rng.integers(3, 6)), 6
    side = side_px(scene.picture, (shares[0] / n, shares[1] / n), rng)
    step = side + max(3, side // 3)
    row = place(scene.picture, (step * slots - (step - side), side), (), rng)
    if side < MIN_COUNTED_PX or row is None:
        return None
    places = [
        Box(row.x1 + step * i, row.y1, row.x1 + step * i + side, row.y2) for i in range(slots)
    ]
    kind = str(rng.choice(list(KINDS)))
    ground = paint.box_mask(row, scene.size_wh)
    colour = pick_colour(scene.picture, ground, rng)
    over = pick_colour(scene.picture, ground, rng, not_named=[colour])
    more = bool(rng.random() < 0.35)
    asked = n + 1 if more else int(rng.integers(1, n))
    possible = range(1, slots + 1) if more else range(1, n)
    wrong = int(rng.choice([k for k in possible if k not in (n, asked)]))

    def drawn(which: Sequence[int], rgb: paint.Colour) -> RGB:
        return _all_drawn(
            scene.picture, [KINDS[kind](rgb)] * len(which), [places[i] for i in which]
        )

    def chosen(k: int) -> Sequence[int]:
        return range(k) if k > n else sorted(rng.permutation(n)[:k].tolist())

    rgb, name = COLOURS[colour][0], f"{colour} {kind}s"
    source = drawn(range(n), rgb)
    keep = chosen(asked)
    outcomes: dict[Plant, Outcome] = {
        "noop": Outcome(picture=source, why=f"there are still {n} {name}"),
        "wrong": Outcome(
            picture=drawn(chosen(wrong), rgb), why=f"there are {wrong} {name}, not {asked}"
        ),
        "over": Outcome(
            picture=drawn(keep, COLOURS[over][0]),
            why=f"there are exactly {asked}, but they turned {over}",
        ),
        "right": Outcome(picture=drawn(keep, rgb), why=f"there are exactly {asked} {name}"),
    }
    boxes = (row,) if more else tuple(places[:n])
    left = "is" if asked == 1 else "are"
    how = f"so that there are {asked}" if more else f"until exactly {asked} {left} left"
    return Task(
        type="count",
        instruction=f"{'Add to' if more else 'Remove some of'} the {n} {name} {how}.",
        targets=(name,),
        boxes=boxes,
        source=source,
        reference=drawn(chosen(asked), COLOURS[colour][1]),
        outcomes=outcomes,
    )


def ocr_task(scene: Scene, shares: Shares, rng: np.random.Generator) -> Task | None:
    """Another word on a plate. Over-edited: the word is right, but the plate changed colour."""
    width = side_px(scene.picture, (shares[0] * PLATE_ASPECT, shares[1] * PLATE_ASPECT), rng)
    height = round(width / PLATE_ASPECT)
    box = place(scene.picture, (width, height), (), rng)
    if height < MIN_PLATE_PX or box is None:
        return None
    old, asked, other = (str(word) for word in rng.permutation(WORDS)[:3])
    inks = [INKS[i] for i in rng.permutation(len(INKS))]
    paper, strange = (238, 236, 225), COLOURS[str(rng.choice(["yellow", "orange", "green"]))][1]

    def plate(word: str) -> Motif:
        return motifs.plate(word, inks[0], paper, fullness=0.85)

    source = motifs.draw(scene.picture, plate(old), box)
    over = motifs.plate(asked, inks[0], strange, fullness=0.85)
    outcomes: dict[Plant, Outcome] = {
        "noop": Outcome(picture=source, why=f"the plate still reads {old}"),
        "wrong": Outcome(
            picture=motifs.draw(source, plate(other), box),
            why=f"the plate reads {other}, not {asked}",
        ),
        "over": Outcome(
            picture=motifs.draw(source, over, box),
            why=f"the plate reads {asked}, but it lost its own colour",
        ),
        "right": Outcome(
            picture=motifs.draw(source, plate(asked), box), why=f"the plate reads {asked}"
        ),
    }
    spot = place(source, (width, height), [box.grow(CLEAR_PX + height)], rng)
    if spot is not None:
        outcomes["elsewhere"] = Outcome(
            picture=motifs.draw(source, plate(asked), spot),
            why=f"the plate still reads {old}; another plate came elsewhere",
            touched=motifs.motif_mask(plate(asked), spot, scene.size_wh),
        )
    reference = motifs.plate(asked, inks[1], paper, fullness=0.72)
    return Task(
        type="ocr",
        instruction=f"Change the text on the plate from {old} to {asked}.",
        targets=(f"plate that reads {old}",),
        boxes=(box,),
        source=source,
        reference=motifs.draw(source, reference, box),
        outcomes=outcomes,
    )


def _all_drawn(picture: RGB, things: Sequence[Motif], boxes: Sequence[Box]) -> RGB:
    for thing, box in zip(things, boxes, strict=True):
        picture = motifs.draw(picture, thing, box)
    return picture
