"""A rubric whose level is a number that the judge gives, held by anchors, with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from agent_judge.levels import Scale
from agent_judge.rubrics.rubric import Rubric, common_fields

YES_NO = "yes_no"
"""Question id of the yes or no beside a number."""


@dataclass(frozen=True, kw_only=True)
class Rating(Rubric):
    """A rubric of one number (Multi-Reward: 0 to 5; the twelve factors: 1 to 7)."""

    form: ClassVar[str] = "rating"
    asks_boxes: ClassVar[bool] = False

    anchors: Mapping[int, str]
    """What some of the numbers mean."""
    yes_no: str | None
    """A question answered by yes or no besides the number; None for the number alone."""
    reason: str
    """What is asked for as the reason: its length and content."""
    reward_name: str | None = None
    """What it is called in the texts that image editors are trained on; None: it is no reward."""

    def label_of(self, level: float) -> str:
        """The number itself."""
        return f"{level:g}"

    def answered_as(self, level: float) -> str:
        """Yes or no where that is asked, else the number."""
        return self.path_to(level).get(YES_NO, self.label_of(level))

    def questions_text(self) -> Mapping[str, str]:
        """The question that is answered by yes or no, if there is one."""
        return {} if self.yes_no is None else {YES_NO: self.yes_no}

    def levels_text(self) -> list[dict[str, Any]]:
        """Every number, best first, with its anchor where it has one."""
        return [
            {"number": number, "label": str(number), "means": self.anchors.get(number, "")}
            for number in reversed(self.scale.levels)
        ]

    def path_to(self, level: float) -> dict[str, str]:
        """Yes in the upper half of the scale."""
        upper = self.scale.score_100(level) >= 50
        return {} if self.yes_no is None else {YES_NO: "yes" if upper else "no"}


def rating_from(data: Mapping[str, Any]) -> Rating:
    """The rating in a criterion's TOML table."""
    worst, best = data["scale"]
    return Rating(
        **common_fields(data),
        scale=Scale(worst, best),
        anchors={int(number): means for number, means in data["anchors"].items()},
        yes_no=data.get("yes_no"),
        reason=data["reason"],
        reward_name=data.get("reward_name"),
        when_identical=data.get("when_identical"),
    )
