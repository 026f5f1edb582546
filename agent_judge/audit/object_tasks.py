"""Tasks that any object can be the target of: colour, material, removal, replacement.

prop_tasks.py has those that need a prop.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from agent_judge.audit import motifs, paint
from agent_judge.audit.bystanders import (
    CLEAR_PX,
    other_region,
    with_bystander,
    without_bystander,
)
from agent_judge.audit.colours import COLOURS, colour_name, pick_colour, two_shades
from agent_judge.audit.paint import RGB, Colour, Mask
from agent_judge.audit.photographs import Scene
from agent_judge.audit.props import (
    KINDS,
    Shares,
    Target,
    a_,
    erase,
    find_target,
    is_erasable,
    is_solid,
    place,
    replacement,
    square,
)
from agent_judge.audit.task import Outcome, Plant, Task
from agent_judge.records import EditType

MIN_OVER_PX = 22
"""On smaller targets a person could not tell whether texture and outline survived."""
MIN_DETAIL = 12.0
"""Lab distance from which everybody sees that detail is lost."""
MIN_SMUDGE_PX = 32
"""On smaller targets a smudge fades to nothing under noise, and nothing is a removal."""
MIN_PATTERN_PX = 32
"""On smaller targets a pattern is no pattern."""


def color_task(scene: Scene, shares: Shares, rng: np.random.Generator) -> Task | None:
    """Another colour. Over-edited: a flat shape of that colour, so that all detail is lost."""
    target = find_target(scene, shares, rng, is_solid)
    if target is None:
        return None
    asked = pick_colour(target.source, target.mask, rng)
    other = pick_colour(target.source, target.mask, rng, not_named=[asked])
    shade, reference_shade = two_shades(asked, rng)

    def colored(mask: Mask, colour: Colour) -> RGB:
        return paint.recolor(target.source, mask, colour, lightness_pull=0.85)

    right, wrong = colored(target.mask, shade), colored(target.mask, COLOURS[other][0])
    if (colour_name(right, target.mask), colour_name(wrong, target.mask)) != (asked, other):
        return None
    outcomes: dict[Plant, Outcome] = {
        "noop": _unchanged(target),
        "right": Outcome(picture=right, why=f"the {target.name} is {asked} and kept its shading"),
        "wrong": Outcome(picture=wrong, why=f"the {target.name} is {other}, not {asked}"),
    }
    over = _flat(target, right, shade) if target.is_at_least(MIN_OVER_PX) else None
    if over is not None:
        why = f"{asked}, but the {target.name} became a flat shape without detail"
        outcomes["over"] = Outcome(picture=over, why=why)
    region = other_region(target, scene, rng)
    if region is not None:
        why = f"the {target.name} is unchanged; something else became {asked}"
        outcomes["elsewhere"] = Outcome(picture=colored(region, shade), why=why, touched=region)
    return _task(
        target, "color", f"Make the {target.name} {asked}.",
        reference=colored(target.mask, reference_shade), outcomes=outcomes,
    )  # fmt: skip


def material_task(scene: Scene, shares: Shares, rng: np.random.Generator) -> Task | None:
    """A pattern on the target. Over-edited: the pattern fills the box, so the shape is lost."""
    target = find_target(scene, shares, rng, is_solid, min_side_px=MIN_PATTERN_PX)
    if target is None:
        return None
    asked, other = (str(name) for name in rng.permutation(list(motifs.PATTERNS))[:2])
    cell_px = max(4.5, min(target.box.width, target.box.height) / 7)
    tones: tuple[Colour, Colour] = ((20, 20, 24), (242, 240, 232))
    tiles = motifs.PATTERNS[asked](target.size_wh, cell_px, *tones)

    def covered(mask: Mask, pattern: RGB) -> RGB:
        return paint.cover(target.source, mask, pattern)

    coarser = motifs.PATTERNS[asked](target.size_wh, cell_px * 1.25, (45, 42, 50), (225, 228, 235))
    wrong = motifs.PATTERNS[other](target.size_wh, cell_px, *tones)
    box = paint.box_mask(target.box, target.size_wh)
    outcomes: dict[Plant, Outcome] = {
        "noop": _unchanged(target),
        "right": Outcome(picture=covered(target.mask, tiles), why=f"the {target.name} is {asked}"),
        "wrong": Outcome(
            picture=covered(target.mask, wrong), why=f"the {target.name} is {other}, not {asked}"
        ),
        "over": Outcome(
            picture=paint.blend(target.source, tiles.astype(np.float32), box),
            why=f"{asked}, but the {target.name} became a flat rectangle and lost its shape",
        ),
    }
    region = other_region(target, scene, rng)
    if region is not None:
        why = f"the {target.name} is unchanged; something else became {asked}"
        picture = covered(region, tiles)
        outcomes["elsewhere"] = Outcome(picture=picture, why=why, touched=region)
    return _task(
        target, "material", f"Give the {target.name} a black-and-white {asked} surface.",
        reference=covered(target.mask, coarser), outcomes=outcomes,
    )  # fmt: skip


def removal_task(scene: Scene, shares: Shares, rng: np.random.Generator) -> Task | None:
    """Take the target away. There is no over-editing a removal (DLEBench A.3)."""
    target = find_target(scene, shares, rng, is_erasable)
    if target is None:
        return None
    target, bystander = with_bystander(target, rng)
    gone, reference = erase(target, rng)
    name, motif = replacement(target, rng, not_like="" if bystander is None else bystander.name)
    swapped = motifs.draw(gone, motif, square(target.box))
    outcomes: dict[Plant, Outcome] = {
        "noop": _unchanged(target),
        "right": Outcome(picture=gone, why=f"the {target.name} is gone"),
        "wrong": Outcome(picture=swapped, why=f"{a_(name)} took the place of the {target.name}"),
    }
    if bystander is not None:
        outcomes["elsewhere"] = without_bystander(target, bystander)
    return _task(
        target, "removal", f"Remove the {target.name}.", reference=reference, outcomes=outcomes
    )


def replacement_task(scene: Scene, shares: Shares, rng: np.random.Generator) -> Task | None:
    """Another thing in the target's place. Over-edited: a smudge that nobody can name."""
    target = find_target(scene, shares, rng, is_erasable)
    if target is None:
        return None
    gone, reference_gone = erase(target, rng)
    asked, motif = replacement(target, rng)
    other, wrong_motif = replacement(target, rng, not_like=asked)
    box = square(target.box)
    colour, kind = asked.split()
    reference_motif = KINDS[kind](COLOURS[colour][1])
    right = motifs.draw(gone, motif, box)
    outcomes: dict[Plant, Outcome] = {
        "noop": _unchanged(target),
        "right": Outcome(picture=right, why=f"{a_(asked)} took the place of the {target.name}"),
        "wrong": Outcome(
            picture=motifs.draw(gone, wrong_motif, box),
            why=f"{a_(other)} came instead of {a_(asked)}",
        ),
    }
    if target.is_at_least(MIN_SMUDGE_PX):
        heart = square(box, shrink_px=int(0.25 * box.width))
        smudge = paint.smudge(gone, motifs.draw(gone, motif, heart), box, 0.25 * heart.width)
        why = f"a smudge took the place of the {target.name}; it cannot be told for {a_(asked)}"
        outcomes["over"] = Outcome(picture=smudge, why=why)
    size_wh = (int(box.width), int(box.height))
    spot = place(target.source, size_wh, [target.box.grow(CLEAR_PX + box.width)], rng)
    if spot is not None:
        picture = motifs.draw(target.source, motif, spot)
        touched = motifs.motif_mask(motif, spot, target.size_wh)
        why = f"the {target.name} is unchanged; {a_(asked)} came elsewhere"
        outcomes["elsewhere"] = Outcome(picture=picture, why=why, touched=touched)
    return _task(
        target, "replacement", f"Replace the {target.name} with {a_(asked)}.",
        reference=motifs.draw(reference_gone, reference_motif, square(target.box, shrink_px=1)),
        outcomes=outcomes,
    )  # fmt: skip


def _flat(target: Target, right: RGB, colour: Colour) -> RGB | None:
    """The target as a flat silhouette, or as a flat disc where it had no detail to lose."""
    silhouette = paint.flatten(target.source, target.mask, colour)
    if paint.visible_change(right, silhouette, target.mask, texture=True) > MIN_DETAIL:
        return silhouette
    if target.bare is None:
        return None
    return paint.flatten(target.bare, paint.ellipse_mask(target.box, target.size_wh), colour)


def _unchanged(target: Target) -> Outcome:
    return Outcome(picture=target.source, why=f"the {target.name} is unchanged")


def _task(
    target: Target,
    kind: EditType,
    instruction: str,
    *,
    reference: RGB,
    outcomes: Mapping[Plant, Outcome],
) -> Task:
    return Task(
        type=kind,
        instruction=instruction,
        targets=(target.name,),
        boxes=(target.box,),
        source=target.source,
        reference=reference,
        outcomes=outcomes,
    )
