"""Instruction Following from what changed inside the target (DLEBench A.2, A.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agent_judge.judges.colour_names import name_margin, wanted_colour
from agent_judge.judges.exhibits import Exhibits
from agent_judge.judges.finding import Finding, Unsure
from agent_judge.judges.laid_over import LaidOver, distance, lay_crops_over
from agent_judge.judges.seen import distinct, look, read_seen
from agent_judge.judges.thresholds import SCENE
from agent_judge.oracle.crop import crop, crop_window
from agent_judge.records import Box
from agent_judge.rubrics.ladder import load_ladder
from agent_judge.tools.base import RGB


def judge_targets(exhibits: Exhibits) -> Finding | Unsure:
    """Was the target edited as told? In crops given as targets, or where the reference changed."""
    source, edited = exhibits.picture("source"), exhibits.picture("edited")
    reference = exhibits.picture("reference") if "reference" in exhibits.urls else None
    if exhibits.targets is not None:
        return judge_target(exhibits, source, edited, reference, exhibits.targets)
    if reference is None:
        return _without_a_place(exhibits, source, edited)
    found = look(source, reference).regions
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
    change = distance(laid.edited, laid.source)
    place = laid.target if laid.reference is None else _wanted_place(laid)
    if int(place.sum()) < 6:
        return Unsure(why="the reference shows no change at the target")
    limit = max(6.0, laid.noise)
    share = float((change > limit)[place].mean())
    wanted = wanted_colour(exhibits.instruction)
    if share < 0.12:
        why = f"{share:.0%} of the target's place changed: no more than noise"
        return Finding(answers={"target_edited": "no"}, why=why)
    if wanted is not None and exhibits.task.get("type") in (None, "color"):
        return _judge_colour(laid, place & (change > limit), wanted)
    if laid.reference is None:
        return Unsure(why="the target changed; without a reference, pixels cannot tell into what")
    rest = distance(laid.edited, laid.reference)
    away = float(
        rest[place].mean() / max(1e-3, distance(laid.reference, laid.source)[place].mean())
    )
    if away < 0.5:
        return Finding(
            answers={"target_edited": "yes", "action_right": "yes", "rest_kept": "yes"},
            why=f"the target changed as the reference did; {away:.0%} of the way is left",
        )
    return Unsure(why="the target changed, but not clearly the reference's way")


def _wanted_place(laid: LaidOver) -> np.ndarray:
    assert laid.reference is not None
    return distance(laid.reference, laid.source) > 6.0


def _judge_colour(laid: LaidOver, changed: np.ndarray, wanted: str) -> Finding | Unsure:
    colour = np.median(laid.edited[changed], axis=0).astype(np.float64)
    margin = name_margin(colour, wanted)
    told = f"the changed part is Lab ({colour[0]:.0f}, {colour[1]:.0f}, {colour[2]:.0f})"
    if margin > 0:
        return Finding(
            answers={"target_edited": "yes", "action_right": "yes", "rest_kept": "yes"},
            why=f"{told}: {wanted}",
        )
    if margin < -8:
        return Finding(
            answers={"target_edited": "yes", "action_right": "no"}, why=f"{told}: not {wanted}"
        )
    return Unsure(why=f"{told}: {wanted} or not is a matter of taste")
