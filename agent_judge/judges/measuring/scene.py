"""Visual Consistency from what differs outside the targets (DLEBench A.2, A.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agent_judge.judges.measuring.exhibits import Exhibits
from agent_judge.judges.measuring.finding import Finding, Unsure
from agent_judge.judges.measuring.laid_over import distance, lay_crops_over
from agent_judge.judges.measuring.seen import Region, Seen, distinct, gap, look, read_seen
from agent_judge.judges.measuring.thresholds import SCENE
from agent_judge.judges.measuring.whole import compare_whole
from agent_judge.records import Box, covered_area
from agent_judge.tools.base import RGB, whereabouts

_COUNTED = ("none", "one", "several")


@dataclass(frozen=True, kw_only=True)
class _Pair:
    source: RGB
    edited: RGB

    @property
    def size_wh(self) -> tuple[int, int]:
        return self.source.shape[1], self.source.shape[0]


def judge_scene(exhibits: Exhibits) -> Finding | Unsure:
    """Was everything else kept? Outside the white, or outside what the reference changed."""
    pair = _Pair(source=exhibits.picture("source"), edited=exhibits.picture("edited"))
    white = exhibits.white or ()
    data = exhibits.last("difference")
    seen = look(pair.source, pair.edited, white) if data is None else read_seen(data, pair.size_wh)
    fallen = _fallen(pair, white, seen)
    if fallen is not None:
        return fallen
    targets = _targets(exhibits, white)
    if targets is None and not seen.nothing:
        return Unsure(why="without a reference or boxes, pixels cannot tell target and rest apart")
    allowed = [t.grow(SCENE.target_margin_share * max(t.width, t.height)) for t in targets or ()]
    outside = [r for r in seen.regions if not any(_belongs(r.box, a) for a in allowed)]
    share = covered_area(targets or ()) / (pair.size_wh[0] * pair.size_wh[1])
    if exhibits.white is None and share > SCENE.large_share and len(outside) < len(seen.regions):
        return Unsure(why=f"damage would pass for the edit of a target of {share:.0%}: no boxes")
    return _counted(pair, outside, seen, white)


def _fallen(pair: _Pair, white: Sequence[Box], seen: Seen) -> Finding | Unsure | None:
    """Another place, light or style; None when the scene was kept."""
    whole = compare_whole(pair.source, pair.edited, white)
    told = (
        f"{seen.absolute_fraction:.0%} of the picture is another colour, the typical change is "
        f"{whole.typical:.1f} Lab, outlines agree by {whole.outlines:.2f}"
    )
    lost = whole.outlines < SCENE.outlines_lost and whole.typical > SCENE.typical_flat
    if (
        lost
        or whole.typical > SCENE.typical_other
        or seen.absolute_fraction > SCENE.collapse_fraction
    ):
        return Finding(answers={"scene_kept": "no"}, why=told)
    if whole.typical > SCENE.typical_same:
        return Unsure(why=f"{told}: re-rendered a lot or restyled a little")
    return None


def _targets(exhibits: Exhibits, white: tuple[Box, ...]) -> list[Box] | None:
    """Where change may be the target's: what the reference changed too; None when unknown."""
    if not exhibits.has_reference:
        return None if exhibits.white is None else []
    wanted = look(exhibits.picture("source"), exhibits.picture("reference"), white).boxes
    if not wanted and exhibits.white is None:
        return None
    return distinct(wanted, gap_share=SCENE.gap_share, gap_px=SCENE.gap_px)


def _belongs(region: Box, target: Box) -> bool:
    """Whether a region's centre lies in the target's place, and it is not much larger."""
    x, y = (region.x1 + region.x2) / 2, (region.y1 + region.y2) / 2
    inside = target.x1 <= x <= target.x2 and target.y1 <= y <= target.y2
    return inside and region.area <= 2 * target.area


def _counted(
    pair: _Pair, regions: Sequence[Region], seen: Seen, white: Sequence[Box]
) -> Finding | Unsure:
    """How many distinct things changed: surely, and at most."""
    if seen.moved_share > SCENE.moved_share:
        why = f"the whole scene moved by {seen.moved_share:.1%} of its diagonal"
        return _finding(2, (), why, pair.size_wh)
    surely, perhaps = _visible(pair, regions, white)
    things = distinct(surely, gap_share=SCENE.gap_share, gap_px=SCENE.gap_px)
    at_most = distinct([*surely, *perhaps], gap_share=SCENE.gap_share, gap_px=SCENE.gap_px)
    if min(len(things), 2) != min(len(at_most), 2):
        return Unsure(why=f"{len(things)} thing(s) changed outside the target, or {len(at_most)}")
    places = "; ".join(whereabouts(box, pair.size_wh) for box in things[:4])
    why = (
        f"{len(things)} distinct change(s) outside the target: {places}"
        if things
        else "nothing outside the target differs by more than re-rendering noise"
    )
    return _finding(len(things), things, why, pair.size_wh)


def _finding(count: int, things: Sequence[Box], why: str, size_wh: tuple[int, int]) -> Finding:
    return Finding(
        answers={"scene_kept": "yes", "anomalies": _COUNTED[min(count, 2)]},
        why=why,
        anomalies=tuple((f"changed, {whereabouts(box, size_wh)}", box) for box in things),
    )


def _visible(
    pair: _Pair, regions: Sequence[Region], white: Sequence[Box]
) -> tuple[list[Box], list[Box]]:
    """The regions that everybody sees as an anomaly, and those that some might."""
    surely: list[Box] = []
    perhaps: list[Box] = []
    least = max(SCENE.area_px, SCENE.area_share * pair.size_wh[0] * pair.size_wh[1])
    for region in regions[: SCENE.checked]:
        apart = _apart(pair, region)
        evident = apart > SCENE.seen_surely and region.area_px > least
        if evident and not _is_halo(region.box, white) and not _is_mark(region, pair.size_wh):
            surely.append(region.box)
        elif apart > SCENE.seen_least:
            perhaps.append(region.box)
    return surely, perhaps


def _is_halo(region: Box, white: Sequence[Box]) -> bool:
    """Whether a region lies right at a target: its shadow, or what it hid, as likely as damage."""
    reach = [SCENE.halo_share * max(box.width, box.height) for box in white]
    return any(gap(region, box) <= r for box, r in zip(white, reach, strict=True))


def _is_mark(region: Region, size_wh: tuple[int, int]) -> bool:
    """Whether a small region fills a corner of the picture, as the mark of a model does."""
    box, near = region.box, SCENE.corner_px
    across = box.x1 <= near or box.x2 >= size_wh[0] - near
    down = box.y1 <= near or box.y2 >= size_wh[1] - near
    return across and down and box.area < SCENE.mark_share * size_wh[0] * size_wh[1]


def _apart(pair: _Pair, region: Region) -> float:
    """Lab distance of a region's changed part, its surroundings laid over each other."""
    box = region.box
    window = box.grow(max(24.0, 0.5 * max(box.width, box.height))).outward().clip(pair.size_wh)
    assert window is not None
    x1, y1, x2, y2 = map(int, window.xyxy)
    within = Box(box.x1 - x1, box.y1 - y1, box.x2 - x1, box.y2 - y1)
    laid = lay_crops_over(pair.source[y1:y2, x1:x2], pair.edited[y1:y2, x1:x2], None, (within,))
    values = np.sort(distance(laid.edited, laid.source)[laid.target])
    changed = max(4, round(len(values) * min(1.0, region.area_px / box.area)))
    return float(np.median(values[-changed:]))
