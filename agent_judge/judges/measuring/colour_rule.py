"""Colour edits: by the colour word of the text, measured in what changed."""

from __future__ import annotations

import numpy as np

from agent_judge.judges.measuring.align import Mask
from agent_judge.judges.measuring.case import Case, Verdict, done, not_edited, other_action
from agent_judge.judges.measuring.changes import Changes, shrunk
from agent_judge.judges.measuring.colour_names import name_margin, wanted_colour
from agent_judge.judges.measuring.finding import Unsure
from agent_judge.judges.measuring.texture import agreement, variation
from agent_judge.judges.measuring.thresholds import TARGET
from agent_judge.judges.measuring.tones import nearest_tones, tones_of


def judge_colour(case: Case) -> Verdict:
    """By the colour word, measured; by the reference's colour where there is no clear word."""
    changes = case.changes
    part = shrunk(changes.wanted & changes.changed)
    if int(part.sum()) < TARGET.least_px:
        return Unsure(why="too few pixels changed to name their colour")
    if changes.share < (TARGET.most_of_it if case.has_reference else TARGET.some_of_it):
        return Unsure(why=f"only {changes.share:.0%} of the wanted part changed")
    kept = nearest_tones(changes.laid.edited, changes.laid.source, part)
    if kept < TARGET.one_tone:
        return not_edited(f"the target has its old colour, {kept:.0f} Lab apart")
    word = wanted_colour(case.instruction)
    right, told = _colour_right(changes, part, word)
    if right is None:
        return Unsure(why=told)
    if not right:
        return other_action(told)
    return _rest_of_coloured(changes, part, told)


def _colour_right(changes: Changes, part: Mask, word: str | None) -> tuple[bool | None, str]:
    """Whether the changed part has the wanted colour, None where that is open; and why."""
    laid = changes.laid
    shown = tones_of(laid.edited, part)
    told = "the changed part is Lab ({:.0f}, {:.0f}, {:.0f})".format(*shown[0])
    gap = np.inf if laid.reference is None else nearest_tones(laid.edited, laid.reference, part)
    if word is None:
        alike = gap < TARGET.one_colour
        return (
            (True, f"{told}, as in the reference")
            if alike
            else (None, f"{told}; the text names no one colour")
        )
    margin = max(name_margin(tone, word) for tone in shown)
    if margin > 0 or (gap < TARGET.one_colour and margin > -TARGET.one_colour):
        return True, f"{told}: {word}"
    if margin < -TARGET.name_doubt and gap > TARGET.one_colour:
        return False, f"{told}: not {word}"
    return None, f"{told}: whether that is {word} is a matter of taste"


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
