"""Where the targets are on full pictures: where the reference differs from the source."""

from __future__ import annotations

from collections.abc import Sequence

from agent_judge.judges.measuring.case import not_edited
from agent_judge.judges.measuring.exhibits import Exhibits
from agent_judge.judges.measuring.finding import Finding, Unsure
from agent_judge.judges.measuring.instruction import kind_of
from agent_judge.judges.measuring.seen import Seen, distinct, look, read_seen
from agent_judge.judges.measuring.target import judge_target
from agent_judge.judges.measuring.thresholds import SCENE
from agent_judge.oracle.crop import crop, crop_window
from agent_judge.records import Box, PictureName
from agent_judge.rubrics.protocol import load_ladder

MOST_ZOOMED = 4
"""More places than this are not shown one by one."""


def judge_targets(exhibits: Exhibits) -> Finding | Unsure:
    """Were the targets edited as told? Those of the crops, or those that the reference shows."""
    if exhibits.targets is not None:
        reference = exhibits.picture("reference") if exhibits.has_reference else None
        crops = (exhibits.picture("source"), exhibits.picture("edited"), reference)
        return judge_target(exhibits, crops, exhibits.targets)
    if not exhibits.has_reference:
        return _without_a_place(_seen(exhibits))
    places = zoomed_places(exhibits) or find_places(exhibits)
    if not places:
        return Unsure(why="the reference does not differ from the source: no target to be found")
    if kind_of(exhibits.task) == "count":
        return _judge_set(exhibits, places)
    return _worst([_judge_place(exhibits, (place,)) for place in places])


def find_places(exhibits: Exhibits) -> list[Box]:
    """Where the reference differs from the source, fragments of one thing joined."""
    found = look(exhibits.picture("source"), exhibits.picture("reference")).boxes
    return distinct(found, gap_share=SCENE.gap_share, gap_px=SCENE.gap_px)


def zoomed_places(exhibits: Exhibits) -> list[Box]:
    """The places that this judge asked to see: all of them, or none."""
    asked = [a.data for a in exhibits.answers if a.tool == "zoom_in"]
    return [Box(*map(float, a["asked_box_px"])) for a in asked if a["picture"] == "source"]


def _seen(exhibits: Exhibits) -> Seen:
    data = exhibits.last("difference")
    source = exhibits.picture("source")
    if data is None:
        return look(source, exhibits.picture("edited"))
    return read_seen(data, (source.shape[1], source.shape[0]))


def _without_a_place(seen: Seen) -> Finding | Unsure:
    if seen.nothing:
        return not_edited("nothing in the picture differs by more than re-rendering noise")
    return Unsure(why="without a reference or boxes, pixels cannot tell where the target is")


def _judge_place(exhibits: Exhibits, places: Sequence[Box]) -> Finding | Unsure:
    """The target at one place, or the set at several, in crops around them."""
    names: tuple[PictureName, ...] = ("source", "edited", "reference")
    pictures = [exhibits.picture(name) for name in names]
    size_wh = (pictures[0].shape[1], pictures[0].shape[0])
    window = crop_window(_around(places), size_wh, margin_share=0.5, margin_min_px=32)
    source, edited, reference = (crop(pixels, window) for pixels in pictures)
    # The reference's change ends where the target's own outline may go on.
    grown = [p.grow(max(2.0, SCENE.edge_share * min(p.width, p.height))) for p in places]
    within = [
        Box(b.x1 - window.x1, b.y1 - window.y1, b.x2 - window.x1, b.y2 - window.y1) for b in grown
    ]
    finding = judge_target(exhibits, (source, edited, reference), within)
    if isinstance(finding, Unsure):
        return finding
    return Finding(answers=finding.answers, why=finding.why, target_box=_around(places))


def _judge_set(exhibits: Exhibits, places: Sequence[Box]) -> Finding | Unsure:
    """A set whose things are not known one by one: untouched, or changed just as the reference."""
    around = _around(places)
    near = around.grow(0.5 * max(around.width, around.height))
    if not any(region.iou(near) > 0 for region in _seen(exhibits).boxes):
        return not_edited("nothing in or around the set differs by more than re-rendering noise")
    finding = _judge_place(exhibits, places)
    alike = isinstance(finding, Finding) and finding.answers.get("rest_kept") == "yes"
    if alike:
        return finding
    return Unsure(why="without boxes, pixels cannot tell which things belong to the set")


def _around(places: Sequence[Box]) -> Box:
    whole = places[0]
    for place in places[1:]:
        whole = whole.union(place)
    return whole


def _worst(findings: Sequence[Finding | Unsure]) -> Finding | Unsure:
    """The worst target decides; level 1 even where another target is not known."""
    ladder = load_ladder("IF")
    known = [f for f in findings if isinstance(f, Finding)]
    unknown = [f for f in findings if isinstance(f, Unsure)]
    worst = min(known, key=lambda f: ladder.walk(f.answers) or 0, default=None)
    if worst is not None and (not unknown or ladder.walk(worst.answers) == 1):
        return worst
    return unknown[0]
