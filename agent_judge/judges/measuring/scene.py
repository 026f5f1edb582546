"""Visual Consistency from what differs outside the targets (DLEBench A.2, A.3)."""

from __future__ import annotations

from agent_judge.judges.measuring.exhibits import Exhibits
from agent_judge.judges.measuring.finding import Finding, Unsure
from agent_judge.judges.measuring.seen import Seen, distinct, look, read_seen
from agent_judge.judges.measuring.thresholds import SCENE
from agent_judge.records import Box
from agent_judge.tools.base import whereabouts

_COUNTED = ("none", "one", "several")


def judge_scene(exhibits: Exhibits) -> Finding | Unsure:
    """Was everything else kept? Outside the white, or outside what the reference changed."""
    source = exhibits.picture("source")
    size_wh = (source.shape[1], source.shape[0])
    data = exhibits.last("difference")
    white = exhibits.white or ()
    seen = (
        look(source, exhibits.picture("edited"), white)
        if data is None
        else read_seen(data, size_wh)
    )
    if seen.absolute_fraction >= SCENE.collapse_fraction:
        why = f"{seen.absolute_fraction:.0%} of the picture is another colour: another scene"
        return Finding(answers={"scene_kept": "no"}, why=why)
    allowed = _allowed(exhibits, white)
    if allowed is None and not seen.nothing:
        return Unsure(why="without a reference or boxes, pixels cannot tell target and rest apart")
    outside = [r for r in seen.regions if not any(_belongs(r, a) for a in allowed or ())]
    things = distinct(outside, gap_share=SCENE.gap_share, gap_px=SCENE.gap_px)
    return _counted(things, seen, size_wh)


def _allowed(exhibits: Exhibits, white: tuple[Box, ...]) -> list[Box] | None:
    """Where change is the target's: what the reference changed too; None when unknown."""
    if "reference" not in exhibits.urls:
        return None if exhibits.white is None else []
    wanted = look(exhibits.picture("source"), exhibits.picture("reference"), white).regions
    if not wanted and exhibits.white is None:
        return None
    parts = distinct(wanted, gap_share=SCENE.gap_share, gap_px=SCENE.gap_px)
    return [b.grow(SCENE.target_margin_share * max(b.width, b.height)) for b in parts]


def _belongs(region: Box, target: Box) -> bool:
    """Whether a region's centre lies in the target's place, and it is not much larger."""
    x, y = (region.x1 + region.x2) / 2, (region.y1 + region.y2) / 2
    inside = target.x1 <= x <= target.x2 and target.y1 <= y <= target.y2
    return inside and region.area <= 2 * target.area


def _counted(things: list[Box], seen: Seen, size_wh: tuple[int, int]) -> Finding:
    moved = seen.moved_share > SCENE.moved_share
    count = max(len(things), 2 if moved else 0)
    if moved:
        why = f"the whole scene moved by {seen.moved_share:.1%} of its diagonal"
    elif things:
        places = "; ".join(whereabouts(box, size_wh) for box in things[:4])
        why = f"{len(things)} distinct change(s) outside the target: {places}"
    else:
        why = "nothing outside the target differs by more than re-rendering noise"
    return Finding(
        answers={"scene_kept": "yes", "anomalies": _COUNTED[min(count, 2)]},
        why=why,
        anomalies=tuple((f"changed, {whereabouts(box, size_wh)}", box) for box in things),
    )
