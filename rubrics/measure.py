"""A rubric whose level is computed from pixels, boxes and embeddings, not judged.

Where the instruction's words matter, a model takes it apart first; that step is asked in a form of
its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from agent_judge.levels import Scale
from agent_judge.rubrics.rubric import Rubric, common_fields


@dataclass(frozen=True, kw_only=True)
class Measure(Rubric):
    """A rubric of one computed number (BPM)."""

    form: ClassVar[str] = "measure"

    best_means: str
    worst_means: str

    @property
    def first_step(self) -> Parse:
        """Taking the instruction apart."""
        return Parse(**vars(self))

    def label_of(self, level: float) -> str:
        """The number itself."""
        return f"{level:g}"

    def questions_text(self) -> Mapping[str, str]:
        """What the instruction is taken apart into."""
        return {
            "whole_picture": "Whether the edit is of the picture as a whole.",
            "original_parts": "What the source shows there.",
            "edited_parts": "What the edited picture is to show there.",
            "edit_type": "The kind of edit.",
            "reference_object": "What an addition is placed by.",
            "size": "The size asked for.",
            "position": "The position asked for.",
        }

    def levels_text(self) -> list[dict[str, Any]]:
        """The two ends of the scale."""
        ends = ((self.scale.best, self.best_means), (self.scale.worst, self.worst_means))
        return [{"number": n, "label": self.label_of(n), "means": means} for n, means in ends]

    def path_to(self, level: float) -> dict[str, str]:
        """No answers lead to a computed number."""
        return {}


@dataclass(frozen=True, kw_only=True)
class Parse(Measure):
    """The question that takes the instruction apart for a measure."""

    form: ClassVar[str] = "measure_parse"
    template: ClassVar[str] = "forms/measure_parse_system.md"
    asks_boxes: ClassVar[bool] = False


def measure_from(data: Mapping[str, Any]) -> Measure:
    """The measure in a criterion's TOML table."""
    worst, best = data["scale"]
    return Measure(
        **common_fields(data),
        scale=Scale(worst, best, whole=False),
        best_means=data["best_means"],
        worst_means=data["worst_means"],
        when_identical=data.get("when_identical"),
    )
