"""Pixel cross-checks after a verdict: flags that point a reader to rows worth a second look.

They never override a verdict. The set is closed; docs/records.md lists it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent_judge.records import Box, Record
from agent_judge.tools.difference import Difference

UNRELATED_FRACTION = 0.6
"""Above this share of pixels with another colour the pictures do not show one scene."""
COLLAPSE_FRACTION = 0.02
"""Below this share nobody would call the scene another one."""
_BEST = 4  # of the two DLEBench ladders
TOUCH_PX = 4.0
"""A region this close to a target belongs to it."""


@dataclass(frozen=True)
class CrossCheck:
    """What the pixels of a row say, whatever the criterion."""

    difference: Difference
    """Where edited and source differ, full pictures."""

    def flags(self, record: Record) -> set[str]:
        """The flags of a scored record.

        Args:
            record: of this row; its `target_boxes` tell where the target lies, given or judged.
        """
        flags = set()
        if self.difference.absolute_fraction > UNRELATED_FRACTION:
            flags.add("unrelated_pair")
        if record.level is None:
            return flags
        boxes = [Box(*numbers) for numbers in record.target_boxes]
        check = {"IF": self._if_flags, "VC": self._vc_flags}.get(record.criterion)
        return flags if check is None else flags | check(record.level, boxes)

    def _if_flags(self, level: float, boxes: Sequence[Box]) -> set[str]:
        if not boxes:
            return set()
        inside, _ = self._split(boxes)
        if level > 1 and not any(inside.values()):
            return {"claims_edit_but_target_unchanged"}
        if level == 1 and inside["clear"]:
            return {"claims_no_edit_but_target_changed"}
        return set()

    def _vc_flags(self, level: float, boxes: Sequence[Box]) -> set[str]:
        if level == 1 and self.difference.absolute_fraction < COLLAPSE_FRACTION:
            return {"claims_collapse_but_little_changed"}
        if not boxes:
            return set()
        _, outside = self._split(boxes)
        if level == _BEST and outside["clear"]:
            return {"claims_consistency_but_changed_outside"}
        if 1 < level < _BEST and not any(outside.values()):
            return {"claims_anomaly_but_unchanged_outside"}
        return set()

    def _split(self, boxes: Sequence[Box]) -> tuple[dict[str, int], dict[str, int]]:
        """Regions that touch a target and those that do not: how many clear ones, how many thin."""
        inside, outside = {"clear": 0, "thin": 0}, {"clear": 0, "thin": 0}
        grown = [box.grow(TOUCH_PX) for box in boxes]
        for region in self.difference.regions:
            where = inside if any(box.iou(region.box) > 0 for box in grown) else outside
            where["thin" if region.edge_only else "clear"] += 1
        return inside, outside
