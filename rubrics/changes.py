"""A rubric whose level is a share: changes are named first, then each is judged by itself.

The two steps are asked apart, each under its own name: naming them (DICE's difference detector),
and a yes or no for each (its coherence estimator).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from agent_judge.levels import Scale
from agent_judge.rubrics.ladder import Ladder, ladder_from
from agent_judge.rubrics.rubric import Rubric, common_fields


@dataclass(frozen=True, kw_only=True)
class Decision(Ladder):
    """What is asked of one change: a ladder of two levels, answered without boxes."""

    form: ClassVar[str] = "changes_decision"
    asks_boxes: ClassVar[bool] = False


@dataclass(frozen=True, kw_only=True)
class Changes(Rubric):
    """A rubric of named changes; the level is the share of those at the decision's best level."""

    form: ClassVar[str] = "changes"

    most: int
    """Changes that are judged; what is named beyond is told and left out."""
    decision: Decision
    """What is asked of each change."""
    naming_name: str
    """The rubric's name while changes are named."""
    naming_asks: str
    """What it asks for then."""

    @property
    def first_step(self) -> Changes:
        """Naming the changes."""
        return replace(self, name=self.naming_name, asks=self.naming_asks)

    def label_of(self, level: float) -> str:
        """The share itself."""
        return f"{level:g}"

    def answered_as(self, level: float) -> str:
        """No change: the one verdict that is known without naming any."""
        return NO_CHANGE

    def questions_text(self) -> Mapping[str, str]:
        """The questions about each change."""
        return self.decision.questions_text()

    def levels_text(self) -> list[dict[str, Any]]:
        """The two ends of the share."""
        best, worst = self.decision.levels[0], self.decision.levels[-1]
        return [
            {"number": 1, "label": "1", "means": f"every change: {best.means}"},
            {"number": 0, "label": "0", "means": f"no change at all, or every one: {worst.means}"},
        ]

    def path_to(self, level: float) -> dict[str, str]:
        """No answers lead to a share."""
        return {}


NO_CHANGE = "no change"
"""The label where nothing changed."""


def changes_from(data: Mapping[str, Any]) -> Changes:
    """The rubric in a criterion's TOML table."""
    shared = {name: data[name] for name in ("criterion", "subject")}
    decision = ladder_from({**data["decision"], **shared})
    return Changes(
        **common_fields(data),
        scale=Scale(0, 1, whole=False),
        when_identical=data["when_identical"],
        most=data["most"],
        decision=Decision(**vars(decision)),
        naming_name=data["naming"]["name"],
        naming_asks=data["naming"]["asks"],
    )
