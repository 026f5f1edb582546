"""Material, shape, number and text: by patterns, outlines, counts and letters."""

from __future__ import annotations

import numpy as np

from agent_judge.judges.measuring.case import (
    Case,
    Verdict,
    done,
    no_reference,
    not_edited,
    other_action,
)
from agent_judge.judges.measuring.changes import shrunk
from agent_judge.judges.measuring.counting import count_things
from agent_judge.judges.measuring.finding import Unsure
from agent_judge.judges.measuring.ground import figure, fine_figure, same_outline, surroundings
from agent_judge.judges.measuring.instruction import wanted_number, wanted_text
from agent_judge.judges.measuring.lettering import same_letters
from agent_judge.judges.measuring.reading import canonical, is_other, read_line
from agent_judge.judges.measuring.texture import detail, direction_gap
from agent_judge.judges.measuring.thresholds import TARGET
from agent_judge.judges.measuring.tones import tones_of


def judge_material(case: Case) -> Verdict:
    """By which way the pattern runs; tones and scale are free."""
    changes = case.changes
    laid = changes.laid
    if laid.reference is None:
        return no_reference()
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


def judge_shape(case: Case) -> Verdict | None:
    """By outlines brought to one size; colour and size of the target are to be kept."""
    laid, place = case.changes.laid, case.changes.place
    if laid.reference is None:
        return None
    ring = surroundings(place, laid.ring)
    planes = (laid.source, laid.edited, laid.reference)
    source, edited, reference = (fine_figure(lab, place, ring) for lab in planes)
    if min(f.clear for f in (source, edited, reference)) < TARGET.clear_outline:
        return None
    alike = same_outline(edited.mask, reference.mask)
    before = same_outline(edited.mask, source.mask)
    told = f"the outline is {alike:.0%} the reference's, {before:.0%} the source's"
    if same_outline(source.mask, reference.mask) > TARGET.other_outline:
        return None
    if alike < TARGET.other_outline:
        if before > TARGET.same_outline:
            return not_edited(told)
        return other_action(told) if before < TARGET.other_outline else Unsure(why=told)
    if alike < TARGET.same_outline:
        return Unsure(why=told)
    parts = [shrunk(figure(lab, place, ring).mask) for lab in planes]
    tones = [tones_of(lab, part)[0] for lab, part in zip(planes, parts, strict=True)]
    gap = min(float(np.linalg.norm(tones[1] - other)) for other in (tones[0], tones[2]))
    return _with_colour(told, gap)


def _with_colour(told: str, gap: float) -> Verdict:
    """The right action, by whether the target kept its colour."""
    if gap > TARGET.other_colour:
        return done(f"{told}, but its colour is another", kept=False)
    if gap > TARGET.one_colour:
        return Unsure(why=f"{told}; whether its colour was kept is unclear")
    return done(told, kept=True)


def judge_count(case: Case) -> Verdict | None:
    """By counting: the number must be the text's or the reference's, the things the source's."""
    counted = count_things(case.changes) if case.boxed else None
    if counted is None:
        return None
    asked = wanted_number(case.instruction)
    wanted = counted.reference if asked is None else asked
    if wanted is None:
        return None
    present, altered = counted.edited.present, counted.edited.altered
    told = f"{counted.source} before, {present} now, {wanted} asked for"
    if counted.reference not in (None, wanted):
        return Unsure(why=f"{told}, {counted.reference} in the reference: one count must be wrong")
    if wanted == counted.source:
        return Unsure(why=f"{told}: nothing to be told by counting")
    if present == counted.source:
        return Unsure(why=f"{told}, though they look different") if altered else not_edited(told)
    if present != wanted:
        return other_action(told)
    if altered > present / 2:
        return done(f"{told}, but they are other things", kept=False)
    if altered:
        return Unsure(why=f"{told}; {altered} of them look different")
    return done(told, kept=True)


def judge_text(case: Case) -> Verdict | None:
    """By reading it; by the shapes of the letters where it cannot be read.

    Ink and size are free, the plate is to be kept.
    """
    return _by_reading(case) or _by_letters(case)


def _by_reading(case: Case) -> Verdict | None:
    laid = case.changes.laid
    box = laid.boxes[0]
    shown = read_line(laid.edited, box)
    if shown is None:
        return None
    wanted = wanted_text(case.instruction)
    if wanted is None and laid.reference is not None:
        wanted = read_line(laid.reference, box)
    before = read_line(laid.source, box)
    if wanted is None or (before is not None and not is_other(before, wanted)):
        return None
    told = f"it reads {shown!r}"
    if canonical(shown) == canonical(wanted):
        return _plate_kept(case, told)
    if before is not None and canonical(shown) == canonical(before):
        return not_edited(f"{told}, as before")
    if is_other(shown, wanted) and (before is None or is_other(shown, before)):
        return other_action(f"{told}, not {wanted!r}")
    return None


def _by_letters(case: Case) -> Verdict | None:
    laid = case.changes.laid
    if laid.reference is None or not case.boxed:
        return None
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
    return _plate_kept(case, told)


def _plate_kept(case: Case, told: str) -> Verdict:
    laid = case.changes.laid
    plates = (tones_of(lab, laid.target)[0] for lab in (laid.edited, laid.source))
    return _with_colour(told, float(np.linalg.norm(np.subtract(*plates))))
