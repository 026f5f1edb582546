"""Instruction Following of one target from what changed inside it (DLEBench A.2, A.3)."""

from __future__ import annotations

from collections.abc import Sequence

from agent_judge.judges.measuring.case import Case, not_edited
from agent_judge.judges.measuring.changes import Changes
from agent_judge.judges.measuring.exhibits import Exhibits
from agent_judge.judges.measuring.finding import Finding, Unsure
from agent_judge.judges.measuring.instruction import kind_of
from agent_judge.judges.measuring.laid_over import lay_crops_over
from agent_judge.judges.measuring.rules import BY_STRUCTURE, RULES
from agent_judge.judges.measuring.thresholds import TARGET
from agent_judge.records import Box
from agent_judge.tools.base import RGB

FREE_PLACE = frozenset({"count", "other"})
"""Types whose right result may lie at another place than the reference's."""


def judge_target(
    exhibits: Exhibits, crops: tuple[RGB, RGB, RGB | None], targets: Sequence[Box]
) -> Finding | Unsure:
    """Was the target edited as told?

    Args:
        exhibits: the task.
        crops: the same window of source, edited picture and reference (None without one).
        targets: around the target or the set of targets, pixels of the crops.
    """
    source, edited, reference = crops
    laid = lay_crops_over(source, edited, reference, targets)
    if laid.noise > TARGET.too_noisy:
        return Unsure(why="the surroundings changed as much as a target could")
    changes = Changes(laid=laid)
    kind = kind_of(exhibits.task)
    if int(changes.wanted.sum()) < TARGET.least_px:
        return Unsure(why="the reference shows no change at the target")
    if kind not in FREE_PLACE and changes.extent < TARGET.no_extent:
        return _noise_only(changes)
    boxed = exhibits.targets is not None
    case = Case(instruction=exhibits.instruction, changes=changes, boxed=boxed)
    by_structure = BY_STRUCTURE[kind](case) if kind in BY_STRUCTURE else None
    return by_structure or _untouched(changes, kind) or RULES[kind](case)


def _untouched(changes: Changes, kind: str) -> Finding | Unsure | None:
    """Whether the target was edited at all; None when it was."""
    if changes.laid.reference is None:
        return _noise_only(changes) if changes.extent < TARGET.no_extent else None
    if kind in FREE_PLACE and changes.spread > TARGET.elsewhere:
        return None
    told = f"the target changed by {changes.done:.0%} of what the reference did"
    least = TARGET.not_done_at_all if kind in BY_STRUCTURE else TARGET.not_done
    if changes.done < least:
        if changes.done > TARGET.not_done_at_all and changes.share > TARGET.most_of_it:
            return Unsure(why=f"{told}, but nearly all of it")
        if kind in FREE_PLACE and changes.spread > TARGET.spread:
            return Unsure(why=f"{told}, and something came beside that")
        return not_edited(f"{told}: no more than noise")
    if changes.done < TARGET.half_done:
        return Unsure(why=told)
    return None


def _noise_only(changes: Changes) -> Finding:
    return not_edited(f"{changes.extent:.0%} of the target changed: no more than noise")
