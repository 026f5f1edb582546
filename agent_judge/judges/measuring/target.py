"""Instruction Following from what changed inside the target (DLEBench A.2, A.3)."""

from __future__ import annotations

from collections.abc import Sequence

from agent_judge.judges.measuring.changes import Changes
from agent_judge.judges.measuring.exhibits import Exhibits
from agent_judge.judges.measuring.finding import Finding, Unsure
from agent_judge.judges.measuring.laid_over import lay_crops_over
from agent_judge.judges.measuring.rules import BY_STRUCTURE, RULES, Case, not_edited
from agent_judge.judges.measuring.seen import distinct, look, read_seen
from agent_judge.judges.measuring.thresholds import SCENE, TARGET
from agent_judge.oracle.crop import crop, crop_window
from agent_judge.records import Box
from agent_judge.rubrics.ladder import load_ladder
from agent_judge.tools.base import RGB

FREE_PLACE = frozenset({"count", "other"})
"""Types whose right result may lie at another place than the reference's."""


def judge_targets(exhibits: Exhibits) -> Finding | Unsure:
    """Was the target edited as told? In crops given as targets, or where the reference changed."""
    source, edited = exhibits.picture("source"), exhibits.picture("edited")
    reference = exhibits.picture("reference") if "reference" in exhibits.urls else None
    if exhibits.targets is not None:
        return judge_target(exhibits, source, edited, reference, exhibits.targets)
    if reference is None:
        return _without_a_place(exhibits, source, edited)
    found = look(source, reference).boxes
    places = distinct(found, gap_share=SCENE.gap_share, gap_px=SCENE.gap_px)
    if not places:
        return Unsure(why="the reference does not differ from the source: no target to be found")
    findings = [_judge_place(exhibits, source, edited, reference, place) for place in places]
    return _worst(findings)


def _without_a_place(exhibits: Exhibits, source: RGB, edited: RGB) -> Finding | Unsure:
    data = exhibits.last("difference")
    size_wh = (source.shape[1], source.shape[0])
    seen = look(source, edited) if data is None else read_seen(data, size_wh)
    if seen.nothing:
        why = "nothing in the picture differs by more than re-rendering noise"
        return Finding(answers={"target_edited": "no"}, why=why)
    return Unsure(why="without a reference or boxes, pixels cannot tell where the target is")


def _judge_place(
    exhibits: Exhibits, source: RGB, edited: RGB, reference: RGB, place: Box
) -> Finding | Unsure:
    size_wh = (source.shape[1], source.shape[0])
    window = crop_window(place, size_wh, margin_share=0.5, margin_min_px=32)
    inside = Box(
        place.x1 - window.x1, place.y1 - window.y1, place.x2 - window.x1, place.y2 - window.y1
    )
    crops = (crop(source, window), crop(edited, window), crop(reference, window))
    finding = judge_target(exhibits, *crops, (inside,))
    if isinstance(finding, Unsure):
        return finding
    return Finding(answers=finding.answers, why=finding.why, target_box=place)


def _worst(findings: Sequence[Finding | Unsure]) -> Finding | Unsure:
    """The worst target decides; level 1 even where another target is not known."""
    ladder = load_ladder("IF")
    known = [f for f in findings if isinstance(f, Finding)]
    unknown = [f for f in findings if isinstance(f, Unsure)]
    worst = min(known, key=lambda f: ladder.walk(f.answers) or 0, default=None)
    if worst is not None and (not unknown or ladder.walk(worst.answers) == 1):
        return worst
    return unknown[0]


def judge_target(
    exhibits: Exhibits, source: RGB, edited: RGB, reference: RGB | None, targets: tuple[Box, ...]
) -> Finding | Unsure:
    """One target in its crops."""
    laid = lay_crops_over(source, edited, reference, targets)
    if laid.noise > TARGET.too_noisy:
        return Unsure(why="the surroundings changed as much as a target could")
    changes = Changes(laid=laid)
    kind = str(exhibits.task.get("type") or "other")
    if int(changes.wanted.sum()) < TARGET.least_px:
        return Unsure(why="the reference shows no change at the target")
    case = Case(instruction=exhibits.instruction, changes=changes)
    by_structure = BY_STRUCTURE[kind](case) if kind in BY_STRUCTURE else None
    return by_structure or _untouched(changes, kind) or RULES[kind](case)


def _untouched(changes: Changes, kind: str) -> Finding | Unsure | None:
    """Whether the target was edited at all; None when it was."""
    if changes.laid.reference is None:
        extent = float(changes.changed.sum() / max(1, changes.laid.target.sum()))
        if extent < TARGET.no_extent:
            return not_edited(f"{extent:.0%} of the target changed: no more than noise")
        return None
    if kind in FREE_PLACE and changes.spread > TARGET.elsewhere:
        return None
    told = f"the target changed by {changes.done:.0%} of what the reference did"
    if changes.done < TARGET.not_done:
        return not_edited(f"{told}: no more than noise")
    if changes.done < TARGET.half_done:
        return Unsure(why=told)
    return None
