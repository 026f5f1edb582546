"""The look at one named change: where it lies in the full pictures, and close-ups of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agent_judge.judges.changes_reply import Change
from agent_judge.oracle.crop import crop_window
from agent_judge.oracle.outline import outlined
from agent_judge.plan import Look, Row, task_of
from agent_judge.records import Criterion
from agent_judge.settings import OracleSettings
from agent_judge.tools.base import ToolPicture, View
from agent_judge.tools.zoom_in import zoom


def about_change(
    row: Row,
    criterion: Criterion,
    change: Change,
    oracle: OracleSettings,
    *,
    inside_target: bool | None = None,
) -> Look:
    """Both full pictures with the place framed, and the same window of both, plain.

    Args:
        row: the pictures; its reference is not shown: the text decides.
        criterion: that of the task.
        change: what the look is about.
        oracle: margins of the window, those of target crops.
        inside_target: told to the judge; None to leave it out.
    """
    return Look(
        view=View(source=outlined(row.source, change.box), edited=outlined(row.edited, change.box)),
        task=change_task(row, criterion, change, inside_target=inside_target),
        closeups=tuple(_closeups(row, change, oracle)),
    )


def change_task(
    row: Row, criterion: Criterion, change: Change, *, inside_target: bool | None = None
) -> Mapping[str, Any]:
    """What is told of one change, besides what the row itself tells."""
    box_px = [round(v, 1) for v in change.box.xyxy]
    told = {"command": change.command, "element": change.element, "box_px": box_px}
    given = {} if inside_target is None else {"inside_target": inside_target}
    return {**task_of(row.sample, criterion), "difference": told, **given}


def _closeups(row: Row, change: Change, oracle: OracleSettings) -> Iterator[ToolPicture]:
    window = crop_window(
        change.box,
        row.view.size_wh,
        margin_share=oracle.crop_margin_share,
        margin_min_px=oracle.crop_margin_min_px,
    )
    for name, pixels in (("source", row.source), ("edited", row.edited)):
        shown = zoom(pixels, window.xyxy, margin_px=0)
        box = [int(v) for v in shown.window.xyxy]
        label = f"Close-up of the {name} picture, pixels {box}, shown x{shown.scale:.3g}:"
        yield ToolPicture(label=label, pixels=shown.pixels)
