"""What a task is: an instruction, its source, one right result, and outcomes of known level."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from agent_judge.audit import paint
from agent_judge.audit.paint import RGB, Mask
from agent_judge.audit.photographs import Scene
from agent_judge.audit.props import Shares
from agent_judge.records import Box, EditType

Plant = Literal["noop", "half", "elsewhere", "wrong", "over", "right"]
"""What became of the target: nothing, one of two targets done, the right edit on something else,
another action, the right action with the target's identity lost, the right edit."""
IF_LEVEL: Mapping[Plant, int] = {
    "noop": 1, "half": 1, "elsewhere": 1, "wrong": 2, "over": 3, "right": 4,
}  # fmt: skip
VISIBLE = 14.0
"""Lab distance (paint.visible_change) from which everybody sees that something changed."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """An edited picture before anything else goes wrong in it."""

    picture: RGB
    why: str
    """What happened to the target, in words."""
    touched: Mask | None = None
    """What changed apart from the target: one anomaly."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """An instruction with its source, one right result and the outcomes that can be planted."""

    type: EditType
    instruction: str
    targets: tuple[str, ...]
    boxes: tuple[Box, ...]
    source: RGB
    reference: RGB
    outcomes: Mapping[Plant, Outcome]

    def is_clear(self) -> bool:
        """Whether everybody would see each outcome for what it is meant to be."""
        size_wh = (self.source.shape[1], self.source.shape[0])
        inside = np.logical_or.reduce([paint.box_mask(box, size_wh) for box in self.boxes])
        for plant, outcome in self.outcomes.items():
            if plant == "noop":
                continue
            changed = np.any(outcome.picture != self.source, axis=2) & inside
            where = changed if outcome.touched is None else outcome.touched
            if not where.any():
                return False
            seen = paint.visible_change(
                self.source, outcome.picture, where, texture=outcome.touched is None
            )
            if seen < VISIBLE:
                return False
        return "right" in self.outcomes


Builder = Callable[[Scene, Shares, np.random.Generator], Task | None]
"""Makes a task with a target of a wanted size; None when this draw gives no clear one."""
