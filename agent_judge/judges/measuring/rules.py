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
from agent_judge.judges.measuring.colour_names import name_margin, wanted_colour
from agent_judge.judges.measuring.counting import count_things
from agent_judge.judges.measuring.finding import Finding, Unsure
from agent_judge.judges.measuring.ground import figure, same_outline, surroundings
from agent_judge.judges.measuring.lettering import same_letters
from agent_judge.judges.measuring.texture import agreement, detail, direction_gap, variation
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
    if not case.has_reference:
        return _no_reference()
    assert changes.laid.reference is not None
    core = changes.core
    if int(core.sum()) < TARGET.pattern_px:
        return Unsure(why="too small to tell one pattern from another")
    gap = direction_gap(changes.laid.edited, changes.laid.reference, core)
    told = f"the edges of the pattern run {gap:.0%} unlike the reference's"
    if gap > TARGET.other_pattern:
        return other_action(told)
    if gap > TARGET.same_pattern or changes.left > TARGET.left_doubt:
        return Unsure(why=told)
    if changes.spread > TARGET.spread:
        return done(f"{told}, and {changes.spread:.0%} more changed with it", kept=False)
    return done(told, kept=True)


def judge_removal(case: Case) -> Verdict:
    """Gone like the reference, or into the ground; nothing else may stand there."""
    changes = case.changes
    if not case.has_reference:
        return _removed_into_the_ground(changes)
    told = f"{changes.left:.0%} of the way to the reference is left"
    if changes.left < TARGET.left_little and changes.spread < TARGET.spread:
        return done(told, kept=True)
    if changes.share < TARGET.most_of_it:
        return Unsure(why=f"{told}; only {changes.share:.0%} of the target changed")
    if changes.left > TARGET.left_much or changes.spread > TARGET.stands_there:
        return other_action(f"{told}: something else stands in its place")
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
    if not case.has_reference:
        return _no_reference()
    assert changes.laid.reference is not None
    told = f"{changes.left:.0%} of the way to the reference is left"
    if changes.left < TARGET.left_little * 2 and changes.spread < TARGET.spread:
        whole = changes.wanted | changes.changed
        sharp = detail(changes.laid.edited, whole) / detail(changes.laid.reference, whole)
        if sharp < TARGET.smudged:
            return done(f"{told}, but it is a smudge", kept=False)
        if sharp < TARGET.sharp:
            return Unsure(why=f"{told}; whether it can be recognised is unclear")
        return done(told, kept=True)
    return Unsure(why=f"{told}: another thing, or another look of the same")


def judge_shape(case: Case) -> Verdict:
    """By outlines brought to one size; colour and size of the target are to be kept."""
    changes = case.changes
    if not case.has_reference:
        return _no_reference()
    laid = changes.laid
    assert laid.reference is not None
    ring = surroundings(changes.place, laid.ring)
    source, edited, reference = (
        figure(lab, changes.place, ring) for lab in (laid.source, laid.edited, laid.reference)
    )
    if min(source.clear, edited.clear, reference.clear) < 1 or not edited.mask.any():
        return Unsure(why="the outline does not stand out from its surroundings")
    alike = same_outline(edited.mask, reference.mask)
    told = f"the outline is {alike:.0%} the reference's"
    if alike < TARGET.other_outline:
        return other_action(told)
    if alike < TARGET.same_outline:
        return Unsure(why=told)
    part = shrunk(edited.mask & reference.mask)
    tone = _tones(laid.edited, part)[0]
    gaps = [
        float(np.linalg.norm(tone - _tones(lab, m)[0]))
        for lab, m in ((laid.source, shrunk(source.mask)), (laid.reference, part))
    ]
    if min(gaps) > TARGET.other_colour:
        return done(f"{told}, but its colour is another", kept=False)
    if min(gaps) > TARGET.one_colour:
        return Unsure(why=f"{told}; whether its colour was kept is unclear")
    return done(told, kept=True)


def judge_count(case: Case) -> Verdict:
    """By counting: the number must be the reference's, the things those of the source."""
    counted = count_things(case.changes)
    if counted is None:
        return Unsure(why="the things do not stand out clearly enough to be counted")
    if counted.reference is None:
        return _no_reference()
    if counted.reference == counted.source:
        return Unsure(why="the counts of source and reference cannot be told apart")
    present, altered = counted.edited.present, counted.edited.altered
    told = f"{counted.source} before, {present} now, {counted.reference} in the reference"
    if present != counted.reference:
        if present == counted.source and not altered:
            return Unsure(why=f"{told}, though something changed")
        return other_action(told)
    if altered > present / 2:
        return done(f"{told}, but they are other things", kept=False)
    if altered:
        return Unsure(why=f"{told}; {altered} of them look different")
    return done(told, kept=True)


def judge_text(case: Case) -> Verdict:
    """By the shapes of the letters; ink and size are free, the plate is to be kept."""
    changes = case.changes
    laid = changes.laid
    if laid.reference is None:
        return _no_reference()
    box = laid.boxes[0]
    right = same_letters(laid.edited, laid.reference, box)
    before = same_letters(laid.edited, laid.source, box)
    if right is None or before is None:
        return Unsure(why="there is no lettering to compare")
    told = f"the letters agree {right:.2f} with the reference's, {before:.2f} with the source's"
    if right < TARGET.other_letters:
        return other_action(told)
    if right < TARGET.same_letters:
        return Unsure(why=told)
    gap = float(
        np.linalg.norm(_tones(laid.edited, laid.target)[0] - _tones(laid.source, laid.target)[0])
    )
    if gap > TARGET.other_colour:
        return done(f"{told}, but what they stand on changed its colour", kept=False)
    return done(told, kept=True)


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


RULES: Mapping[str, Callable[[Case], Verdict]] = {
    "color": judge_colour,
    "material": judge_material,
    "shape": judge_shape,
    "ocr": judge_text,
    "count": judge_count,
    "replacement": judge_replacement,
    "removal": judge_removal,
    "other": judge_other,
}
