"""Removal, replacement and whatever else: by what stands in the target's place."""

from __future__ import annotations

from agent_judge.judges.measuring.case import Case, Verdict, done, no_reference, other_action
from agent_judge.judges.measuring.changes import Changes, shrunk
from agent_judge.judges.measuring.colour_names import colour_of_new_thing, name_margin
from agent_judge.judges.measuring.finding import Unsure
from agent_judge.judges.measuring.ground import figure, surroundings
from agent_judge.judges.measuring.texture import edges, edges_found
from agent_judge.judges.measuring.thresholds import TARGET
from agent_judge.judges.measuring.tones import nearest_tones, tones_of


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
        if _is_remnant(changes):
            return Unsure(why=f"{told}: much of that is the target itself")
        return other_action(f"{told}: something else stands there")
    return Unsure(why=told)


def _is_remnant(changes: Changes) -> bool:
    """Whether what stands there is to a good part what stood there before."""
    odd = changes.wanted & (changes.from_reference > TARGET.stands_there)
    return bool(odd.any()) and float(changes.changed[odd].mean()) < TARGET.most_of_it


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
        return no_reference()
    told = f"{changes.left:.0%} of the way to the reference is left"
    whole = changes.wanted | changes.changed
    found = edges_found(laid.edited, laid.reference, whole)
    near = changes.left < TARGET.same_thing and changes.spread < TARGET.spread
    if near and found > TARGET.recognised:
        return done(told, kept=True)
    flat = edges(laid.edited, whole) < TARGET.smudged * edges(laid.reference, whole)
    unnamed = TARGET.against < found < TARGET.unrecognised
    if unnamed and (near or (flat and changes.left < TARGET.other_thing)):
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
    shown, like = (tones_of(lab, part) for lab in (laid.edited, laid.reference))
    if max(name_margin(tone, word) for tone in like) < 0:
        return False
    apart = nearest_tones(laid.edited, laid.reference, part)
    contradicts = max(name_margin(tone, word) for tone in shown) < -TARGET.name_doubt
    return contradicts and apart > TARGET.other_colour


def judge_other(case: Case) -> Verdict:
    """Whatever was asked: only what comes very near the reference is known to be right."""
    if not case.has_reference:
        return no_reference()
    changes = case.changes
    told = f"{changes.left:.0%} of the way to the reference is left"
    if changes.left < TARGET.left_little and changes.spread < TARGET.spread:
        return done(told, kept=True)
    return Unsure(why=f"{told}: another action, or another look of the same")
