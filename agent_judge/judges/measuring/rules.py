"""One rule for each type of instruction: from changes of the target to answers (DLEBench A.3).

A rule is only asked once the target did change. It answers from what it measures, or says that
pixels cannot tell. The text decides; the reference is one right result among many, so distance
from it alone is never a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent_judge.judges.measuring.align import Mask, Planes
from agent_judge.judges.measuring.changes import Changes, shrunk
from agent_judge.judges.measuring.colour_names import (
    colour_of_new_thing,
    name_margin,
    wanted_colour,
)
from agent_judge.judges.measuring.counting import count_things
from agent_judge.judges.measuring.finding import Finding, Unsure
from agent_judge.judges.measuring.ground import figure, same_outline, surroundings
from agent_judge.judges.measuring.lettering import same_letters
from agent_judge.judges.measuring.texture import (
    agreement,
    detail,
    direction_gap,
    edges_found,
    variation,
)
from agent_judge.judges.measuring.thresholds import TARGET

Verdict = Finding | Unsure


@dataclass(frozen=True, kw_only=True)
class Case:
    """One target with what was asked for it."""

    instruction: str
    changes: Changes

    @property
    def has_reference(self) -> bool:
        """Whether a reference was shown."""
        return self.changes.laid.reference is not None


def not_edited(why: str) -> Finding:
    """The target itself was not edited."""
    return Finding(answers={"target_edited": "no"}, why=why)


def other_action(why: str) -> Finding:
    """The target was edited, but not as told."""
    return Finding(answers={"target_edited": "yes", "action_right": "no"}, why=why)


def done(why: str, *, kept: bool) -> Finding:
    """The target was edited as told; `kept` tells whether the rest of it survived."""
    answers = {"target_edited": "yes", "action_right": "yes", "rest_kept": "yes" if kept else "no"}
    return Finding(answers=answers, why=why)


def judge_colour(case: Case) -> Verdict:
    """By the colour word, measured; by the reference's colour where there is no clear word."""
    changes = case.changes
    part = shrunk(changes.wanted & changes.changed)
    if int(part.sum()) < TARGET.least_px:
        return Unsure(why="too few pixels changed to name their colour")
    if case.has_reference and changes.share < TARGET.most_of_it:
        return Unsure(why=f"only {changes.share:.0%} of the wanted part changed")
    word = wanted_colour(case.instruction)
    right, told = _colour_right(changes, part, word)
    if right is None:
        return Unsure(why=told)
    if not right:
        return other_action(told)
    return _rest_of_coloured(changes, part, told)


def _colour_right(changes: Changes, part: Mask, word: str | None) -> tuple[bool | None, str]:
    shown = _tones(changes.laid.edited, part)
    told = "the changed part is Lab ({:.0f}, {:.0f}, {:.0f})".format(*shown[0])
    gap = np.inf
    if changes.laid.reference is not None:
        like = _tones(changes.laid.reference, part)
        gap = min(float(np.linalg.norm(a - b)) for a, b in zip(shown, like, strict=True))
    if word is None:
        if not np.isfinite(gap):
            return None, "the target changed, and the text names no one colour"
        if gap < TARGET.one_colour:
            return True, f"{told}, as in the reference"
        return (False if gap > TARGET.other_colour else None), f"{told}, unlike the reference"
    margin = max(name_margin(tone, word) for tone in shown)
    if margin > 0 or (gap < TARGET.one_colour and margin > -TARGET.one_colour):
        return True, f"{told}: {word}"
    if margin < -TARGET.name_doubt and gap > TARGET.one_colour:
        return False, f"{told}: not {word}"
    return None, f"{told}: whether that is {word} is a matter of taste"


def _tones(lab: Planes, part: Mask) -> list[NDArray[np.float64]]:
    """The median colour of a part, and that of its lighter half: shadows hold little colour."""
    values = lab[part].astype(np.float64)
    light = values[values[:, 0] >= np.median(values[:, 0])]
    return [np.median(values, axis=0), np.median(light, axis=0)]


def _rest_of_coloured(changes: Changes, part: Mask, told: str) -> Verdict:
    """A colour edit keeps shading and outline."""
    laid = changes.laid
    if laid.reference is not None and changes.spread > TARGET.spread:
        return done(f"{told}, and {changes.spread:.0%} more changed with it", kept=False)
    if variation(laid.source, part) < TARGET.detail_to_lose or int(part.sum()) < TARGET.detail_px:
        return done(told, kept=True)
    alike = agreement(laid.edited, laid.source, part)
    if laid.reference is not None:
        alike = max(alike, agreement(laid.edited, laid.reference, part))
    if alike > TARGET.shading_kept:
        return done(f"{told}, with its shading", kept=True)
    if alike < TARGET.shading_lost:
        return done(f"{told}, but shading and detail are lost", kept=False)
    return Unsure(why=f"{told}; how much of its detail survived is unclear")


def judge_material(case: Case) -> Verdict:
    """By which way the pattern runs; tones and scale are free."""
    changes = case.changes
    laid = changes.laid
    if laid.reference is None:
        return _no_reference()
    core = changes.core
    if int(core.sum()) < TARGET.pattern_px:
        return Unsure(why="too small to tell one pattern from another")
    gap = direction_gap(laid.edited, laid.reference, core)
    told = f"the edges of the pattern run {gap:.0%} unlike the reference's"
    if gap > TARGET.other_pattern:
        return other_action(told)
    richness = detail(laid.edited, core) / max(detail(laid.reference, core), 1e-3)
    if gap > TARGET.same_pattern or not TARGET.poorest < richness < 1 / TARGET.poorest:
        return Unsure(why=f"{told}, with {richness:.0%} of its detail")
    if changes.spread > TARGET.spread:
        return done(f"{told}, and {changes.spread:.0%} more changed with it", kept=False)
    return done(told, kept=True)


def judge_removal(case: Case) -> Verdict:
    """Gone like the reference, or into the ground; nothing else may stand there."""
    changes = case.changes
    if not case.has_reference:
        return _removed_into_the_ground(changes)
    told = f"where it was, the picture is {changes.look_apart:.0f} Lab from the reference"
    if changes.share < TARGET.most_of_it:
        return Unsure(why=f"only {changes.share:.0%} of the target changed")
    if changes.look_apart < TARGET.same_fill:
        return done(told, kept=True)
    if changes.look_apart > TARGET.stands_there:
        return other_action(f"{told}: something else stands there")
    return Unsure(why=told)


def _removed_into_the_ground(changes: Changes) -> Verdict:
    laid = changes.laid
    ring = surroundings(changes.place, laid.ring)
    before, after = (figure(lab, laid.target, ring) for lab in (laid.source, laid.edited))
    if before.clear > TARGET.stands_out and after.contrast < TARGET.gone * before.contrast:
        return done("what stood out from its surroundings no longer does", kept=True)
    return Unsure(why="the target changed; without a reference, pixels cannot tell into what")


def judge_replacement(case: Case) -> Verdict:
    """The new thing against the reference's; its colour by the text."""
    changes = case.changes
    laid = changes.laid
    if laid.reference is None:
        return _no_reference()
    told = f"{changes.left:.0%} of the way to the reference is left"
    whole = changes.wanted | changes.changed
    found = edges_found(laid.edited, laid.reference, whole)
    near = changes.left < TARGET.same_thing and changes.spread < TARGET.spread
    if near and found > TARGET.recognised:
        return done(told, kept=True)
    flat = detail(laid.edited, whole) < TARGET.smudged * detail(laid.reference, whole)
    if found < TARGET.unrecognised and (near or (flat and changes.left < TARGET.other_thing)):
        return done(f"{told}, but it is a smudge: {found:.0%} of its edges are there", kept=False)
    if _other_colour_than_told(case):
        return other_action(f"{told}, and its colour is not the one that the text names")
    return Unsure(why=f"{told}: another thing, or another look of the same")


def _other_colour_than_told(case: Case) -> bool:
    """Whether the new thing's colour contradicts the text, where the reference's does not."""
    laid = case.changes.laid
    word = colour_of_new_thing(case.instruction)
    if word is None or laid.reference is None:
        return False
    ring = surroundings(case.changes.place, laid.ring)
    both = [figure(lab, case.changes.place, ring).mask for lab in (laid.edited, laid.reference)]
    part = shrunk(both[0] & both[1])
    if int(part.sum()) < TARGET.least_px:
        return False
    shown, like = (_tones(lab, part) for lab in (laid.edited, laid.reference))
    contradicts = max(name_margin(tone, word) for tone in shown) < -TARGET.name_doubt
    agrees = max(name_margin(tone, word) for tone in like) > 0
    return (
        contradicts and agrees and _nearest(laid.edited, laid.reference, part) > TARGET.other_colour
    )


def _nearest(first: Planes, second: Planes, part: Mask) -> float:
    """Lab distance of two parts' colours: of their medians or of their lighter halves."""
    pairs = zip(_tones(first, part), _tones(second, part), strict=True)
    return min(float(np.linalg.norm(a - b)) for a, b in pairs)


def judge_shape(case: Case) -> Verdict | None:
    """By outlines brought to one size; colour and size of the target are to be kept."""
    laid, place = case.changes.laid, case.changes.place
    if laid.reference is None:
        return _no_reference()
    ring = surroundings(place, laid.ring)
    source, edited, reference = (
        figure(lab, place, ring) for lab in (laid.source, laid.edited, laid.reference)
    )
    if min(source.clear, edited.clear, reference.clear) < 1 or not edited.mask.any():
        return None
    alike = same_outline(edited.mask, reference.mask)
    before = same_outline(edited.mask, source.mask)
    told = f"the outline is {alike:.0%} the reference's, {before:.0%} the source's"
    if same_outline(source.mask, reference.mask) > TARGET.other_outline:
        return None
    if alike < TARGET.other_outline:
        if before > TARGET.same_outline:
            return not_edited(told)
        return other_action(told) if before < TARGET.other_outline else None
    if alike < TARGET.same_outline:
        return Unsure(why=told)
    part = shrunk(edited.mask & reference.mask)
    tone = _tones(laid.edited, part)[0]
    others = ((laid.source, shrunk(source.mask)), (laid.reference, part))
    gap = min(float(np.linalg.norm(tone - _tones(lab, mask)[0])) for lab, mask in others)
    return _with_colour(told, gap)


def _with_colour(told: str, gap: float) -> Verdict:
    """The right action, by whether the target kept its colour."""
    if gap > TARGET.other_colour:
        return done(f"{told}, but its colour is another", kept=False)
    if gap > TARGET.one_colour:
        return Unsure(why=f"{told}; whether its colour was kept is unclear")
    return done(told, kept=True)


def judge_count(case: Case) -> Verdict | None:
    """By counting: the number must be the reference's, the things those of the source."""
    counted = count_things(case.changes)
    if counted is None:
        return None
    if counted.reference is None:
        return _no_reference()
    present, altered = counted.edited.present, counted.edited.altered
    told = f"{counted.source} before, {present} now, {counted.reference} in the reference"
    if counted.reference == counted.source:
        return Unsure(why=f"{told}: the reference cannot be told from the source by counting")
    if present == counted.source:
        return Unsure(why=f"{told}, though they look different") if altered else not_edited(told)
    if present != counted.reference:
        return other_action(told)
    if altered > present / 2:
        return done(f"{told}, but they are other things", kept=False)
    if altered:
        return Unsure(why=f"{told}; {altered} of them look different")
    return done(told, kept=True)


def judge_text(case: Case) -> Verdict | None:
    """By the shapes of the letters; ink and size are free, the plate is to be kept."""
    laid = case.changes.laid
    if laid.reference is None:
        return _no_reference()
    box = laid.boxes[0]
    right = same_letters(laid.edited, laid.reference, box)
    before = same_letters(laid.edited, laid.source, box)
    if right is None or before is None:
        return None
    told = f"the letters agree {right:.2f} with the reference's, {before:.2f} with the source's"
    if max(right, before) < TARGET.other_letters:
        return other_action(told)
    if before > TARGET.same_letters and right < TARGET.other_letters:
        return not_edited(told)
    if right < TARGET.same_letters or before > right - TARGET.clearly_more:
        return Unsure(why=told)
    plates = (_tones(lab, laid.target)[0] for lab in (laid.edited, laid.source))
    return _with_colour(told, float(np.linalg.norm(np.subtract(*plates))))


def judge_other(case: Case) -> Verdict:
    """Whatever was asked: only what comes very near the reference is known to be right."""
    if not case.has_reference:
        return _no_reference()
    changes = case.changes
    told = f"{changes.left:.0%} of the way to the reference is left"
    if changes.left < TARGET.left_little and changes.spread < TARGET.spread:
        return done(told, kept=True)
    return Unsure(why=f"{told}: another action, or another look of the same")


def _no_reference() -> Unsure:
    return Unsure(why="the target changed; without a reference, pixels cannot tell into what")


BY_STRUCTURE: Mapping[str, Callable[[Case], Verdict | None]] = {
    "shape": judge_shape,
    "ocr": judge_text,
    "count": judge_count,
}
"""Types whose structure itself tells whether anything was done: these rules come first. None where
the structure is not clear."""
RULES: Mapping[str, Callable[[Case], Verdict]] = {
    "color": judge_colour,
    "material": judge_material,
    "shape": judge_other,
    "ocr": judge_other,
    "count": judge_other,
    "replacement": judge_replacement,
    "removal": judge_removal,
    "other": judge_other,
}
