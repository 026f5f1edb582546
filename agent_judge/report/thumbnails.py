"""The thumbnails of a report's rows."""

from __future__ import annotations

import functools

from agent_judge.errors import PictureError
from agent_judge.images import decode_image
from agent_judge.intake import Intake
from agent_judge.records import Box
from agent_judge.report.rows import ReportRow
from agent_judge.thumbnail import make_thumbnail


def thumbnail_of(row: ReportRow, intake: Intake | None) -> bytes | None:
    """The row's thumbnail; None when there is nothing to show.

    Args:
        row: the row.
        intake: its pictures, decoded; None where they cannot be judged.
    """
    if intake is None:
        return _source_alone(row)
    pictures = intake.row
    judged = [Box(*box) for record in row.records for box in record.target_boxes]
    boxes = pictures.boxes or judged
    around = functools.reduce(Box.union, boxes) if boxes else None
    return make_thumbnail(pictures.source, pictures.edited, around)


def _source_alone(row: ReportRow) -> bytes | None:
    try:
        return make_thumbnail(decode_image(row.files["source"]).pixels, None, None)
    except PictureError:
        return None
