"""The pictures that a judge was given, as windows and rectangles over the row's own pictures."""

from __future__ import annotations

from typing import Any, cast

from agent_judge.plan import masked, plan_of, target_crops, target_windows, white_boxes
from agent_judge.records import Box, EditType, Record
from agent_judge.settings import OracleSettings


def prepared_of(
    record: Record, size_wh: tuple[int, int], oracle: OracleSettings
) -> dict[str, Any] | None:
    """How the row's pictures were prepared for the judge.

    Args:
        record: of a row whose boxes could be used.
        size_wh: of the source.
        oracle: the run's own settings.

    Returns:
        `{"crops": [window, ...]}`, one a conversation, or `{"white": [rectangle, ...]}`, in pixels
        of the source; None when the judge got the whole pictures.
    """
    boxes = tuple(Box(*box) for box in record.target_boxes)
    prepare = plan_of(record.mode, record.criterion).prepare
    if not boxes:
        return None
    if prepare is target_crops:
        windows = target_windows(boxes, cast("EditType | None", record.type), size_wh, oracle)
        return {"crops": [window.xyxy for _, window in windows]}
    if prepare is masked:
        return {"white": [box.xyxy for box, _ in white_boxes(boxes, size_wh, oracle)]}
    return None
