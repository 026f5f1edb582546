"""The modes as a table of data: (mode, subject) -> how pictures are prepared, and tools.

A preparation turns a decoded row into looks: what one conversation with the judge is about.
What a criterion is about, its subject, stands in its rubric. No other place asks which mode it is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent_judge.errors import BoxError
from agent_judge.oracle.crop import crop, crop_window
from agent_judge.oracle.mask import mask_box, paint_white
from agent_judge.records import Box, Criterion, EditType, Mode, Sample
from agent_judge.rubrics.protocol import protocol_of, rubric_of
from agent_judge.rubrics.rubric import Subject
from agent_judge.settings import OracleSettings, Settings
from agent_judge.tools.base import RGB, ToolPicture, View
from agent_judge.tools.difference import differences_of


@dataclass(frozen=True, kw_only=True)
class Row:
    """A sample with its pictures decoded and brought into the source's pixel frame."""

    sample: Sample
    source: RGB
    edited: RGB
    reference: RGB | None
    boxes: tuple[Box, ...]
    """Targets in pixels of the source, clipped; empty when the row has none."""

    @functools.cached_property
    def view(self) -> View:
        """The full pictures; one object, so that what is found in them is found once."""
        return View(source=self.source, edited=self.edited, reference=self.reference)


@dataclass(frozen=True, kw_only=True)
class Look:
    """What one conversation is about: the prepared pictures and the row's own text."""

    view: View
    task: Mapping[str, Any]
    """Goes to the judge as data between task tags."""
    closeups: tuple[ToolPicture, ...] = ()
    """Shown after the prepared pictures."""
    targets: tuple[Box, ...] = ()
    """The targets that this look judges, pixels of the source; empty for the whole row."""
    cropped: bool = False
    several_targets: bool = False
    """This target is one of several that are judged apart."""
    mask_margin_px: float | None = None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How a criterion is judged in one mode."""

    prepare: Callable[[Row, Criterion, OracleSettings], tuple[Look, ...]]
    tools: frozenset[str] = frozenset()
    """Names of the tools that the judge may call."""
    needs_boxes: bool = False


def whole(row: Row, criterion: Criterion, _: OracleSettings) -> tuple[Look, ...]:
    """The full pictures; given boxes stay unseen."""
    return (Look(view=row.view, task=task_of(row.sample, criterion)),)


def whole_with_targets(row: Row, criterion: Criterion, _: OracleSettings) -> tuple[Look, ...]:
    """The full pictures, and where the targets lie."""
    given = {"target_boxes": [{"box_px": list(box.xyxy)} for box in row.boxes]}
    return (Look(view=row.view, task={**task_of(row.sample, criterion), **given}),)


def edited_alone(row: Row, criterion: Criterion, _: OracleSettings) -> tuple[Look, ...]:
    """The edited picture by itself: neither the source nor what was asked for is shown."""
    view = View(source=row.source, edited=row.edited, shown=("edited",))
    return (Look(view=view, task={"criterion": criterion}),)


def unseen(row: Row, criterion: Criterion, _: OracleSettings) -> tuple[Look, ...]:
    """The words alone: what is asked before a measure is computed."""
    view = View(source=row.source, edited=row.edited, shown=())
    # All criteria of the protocol ask the same, word for word: the reply is paid for once.
    first = protocol_of([criterion]).criteria[0]
    return (Look(view=view, task=task_of(row.sample, first)),)


def candidate_regions(row: Row, criterion: Criterion, _: OracleSettings) -> tuple[Look, ...]:
    """The full pictures, and where they differ as measured.

    What was asked for is not told and no reference is shown: whoever knows what should have changed
    sees it. Given boxes stay unseen.
    """
    found = row.view.once(differences_of)
    task = {
        "criterion": criterion,
        "regions": [
            {"box_px": list(r.box_xyxy), "area_px": r.area_px, "edge_only": r.edge_only}
            for r in found.regions[:_MOST_REGIONS]
        ],
        "more_regions": found.omitted + max(0, len(found.regions) - _MOST_REGIONS),
        "remarks": list(found.remarks),
    }
    plain = row.view if row.reference is None else View(source=row.source, edited=row.edited)
    return (Look(view=plain, task=task),)


def candidate_regions_with_targets(
    row: Row, criterion: Criterion, oracle: OracleSettings
) -> tuple[Look, ...]:
    """The same; of each change it is then told whether it lies in a target."""
    return tuple(replace(x, targets=row.boxes) for x in candidate_regions(row, criterion, oracle))


def target_crops(row: Row, criterion: Criterion, oracle: OracleSettings) -> tuple[Look, ...]:
    """Per target the same window of every picture; one window around all for type count."""
    size_wh = (row.source.shape[1], row.source.shape[0])
    windows = target_windows(row.boxes, row.sample.type, size_wh, oracle)
    looks = []
    for boxes, window in windows:
        view = View(
            source=crop(row.source, window),
            edited=crop(row.edited, window),
            reference=None if row.reference is None else crop(row.reference, window),
        )
        inside = [
            [b.x1 - window.x1, b.y1 - window.y1, b.x2 - window.x1, b.y2 - window.y1] for b in boxes
        ]
        looks.append(
            Look(
                view=view,
                task={**task_of(row.sample, criterion), "targets_px": inside},
                targets=boxes,
                cropped=True,
                several_targets=len(windows) > 1,
            )
        )
    return tuple(looks)


def target_windows(
    boxes: tuple[Box, ...],
    edit_type: EditType | None,
    size_wh: tuple[int, int],
    oracle: OracleSettings,
) -> tuple[tuple[tuple[Box, ...], Box], ...]:
    """The crops of oracle IF: which targets each shows, and its window in the full picture."""
    groups = [boxes] if edit_type in _JUDGED_AS_A_SET else [(box,) for box in boxes]
    return tuple(
        (
            group,
            crop_window(
                functools.reduce(Box.union, group),
                size_wh,
                margin_share=oracle.crop_margin_share,
                margin_min_px=oracle.crop_margin_min_px,
            ),
        )
        for group in groups
    )


def masked(row: Row, criterion: Criterion, oracle: OracleSettings) -> tuple[Look, ...]:
    """The full pictures with every target painted white."""
    size_wh = (row.source.shape[1], row.source.shape[0])
    white = white_boxes(row.boxes, size_wh, oracle)
    painted = tuple(box for box, _ in white)
    view = View(
        source=paint_white(row.source, painted),
        edited=paint_white(row.edited, painted),
        reference=None if row.reference is None else paint_white(row.reference, painted),
        masked=painted,
    )
    look = Look(
        view=view,
        task={**task_of(row.sample, criterion), "white_px": [list(box.xyxy) for box in painted]},
        mask_margin_px=max(margin for _, margin in white),
    )
    return (look,)


def white_boxes(
    boxes: tuple[Box, ...], size_wh: tuple[int, int], oracle: OracleSettings
) -> tuple[tuple[Box, float], ...]:
    """What oracle VC paints white: each target's rectangle and the margin around it."""
    return tuple(
        mask_box(
            box, size_wh, margin_px=oracle.mask_margin_px, margin_share=oracle.mask_margin_share
        )
        for box in boxes
    )


_JUDGED_AS_A_SET = frozenset({"count"})
"""Types that are a property of all targets together."""

_MOST_REGIONS = 20
"""Regions listed for whoever names changes; more are only counted."""
_TOOLS = frozenset({"grounding", "zoom_in", "difference", "enhance"})
_WITHOUT_SOURCE = _TOOLS - {"difference"}

PLANS: Mapping[tuple[Mode, Subject], Plan] = {
    ("tool", "target"): Plan(prepare=whole, tools=_TOOLS),
    ("tool", "surroundings"): Plan(prepare=whole, tools=_TOOLS),
    ("tool", "pair"): Plan(prepare=whole, tools=_TOOLS),
    ("tool", "edited"): Plan(prepare=edited_alone, tools=_WITHOUT_SOURCE),
    ("tool", "changes"): Plan(prepare=candidate_regions, tools=_TOOLS),
    ("tool", "regions"): Plan(prepare=unseen),
    ("oracle", "target"): Plan(prepare=target_crops, needs_boxes=True),
    ("oracle", "surroundings"): Plan(prepare=masked, tools=_TOOLS, needs_boxes=True),
    ("oracle", "pair"): Plan(prepare=whole_with_targets, tools=_TOOLS, needs_boxes=True),
    ("oracle", "edited"): Plan(prepare=edited_alone, tools=_WITHOUT_SOURCE),
    ("oracle", "changes"): Plan(
        prepare=candidate_regions_with_targets, tools=_TOOLS, needs_boxes=True
    ),
    ("oracle", "regions"): Plan(prepare=unseen, needs_boxes=True),
    ("direct", "target"): Plan(prepare=whole),
    ("direct", "surroundings"): Plan(prepare=whole),
    ("direct", "pair"): Plan(prepare=whole),
    ("direct", "edited"): Plan(prepare=edited_alone),
    ("direct", "changes"): Plan(prepare=candidate_regions),
    ("direct", "regions"): Plan(prepare=unseen),
}


def plan_of(mode: Mode, criterion: Criterion) -> Plan:
    """How a criterion is judged in a mode."""
    return PLANS[mode, rubric_of(criterion).subject]


def mode_of(sample: Sample, settings: Settings) -> Mode:
    """The mode in which a row is judged: `auto` is oracle for rows with boxes, else tool."""
    if settings.mode == "auto":
        return "oracle" if sample.boxes is not None else "tool"
    return settings.mode


def looks_of(
    row: Row, mode: Mode, criterion: Criterion, oracle: OracleSettings
) -> tuple[Look, ...]:
    """The looks of one criterion.

    Raises:
        BoxError: the plan needs boxes and the row has none.
    """
    plan = plan_of(mode, criterion)
    if plan.needs_boxes and not row.boxes:
        raise BoxError(f"mode {mode} needs target boxes: give `boxes` or use --mode tool")
    return plan.prepare(row, criterion, oracle)


def task_of(sample: Sample, criterion: Criterion) -> dict[str, Any]:
    """What the row itself tells, as the judge gets it."""
    texts = {
        "instruction": sample.instruction,
        "type": sample.type,
        "targets": list(sample.targets) or None,
        "source_caption": sample.source_caption,
        "wanted_caption": sample.edited_caption,
    }
    return {"criterion": criterion, **{k: v for k, v in texts.items() if v is not None}}
