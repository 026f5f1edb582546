"""What every criterion's rubric has, whatever form its levels take."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal

from agent_judge.levels import Scale
from agent_judge.records import Criterion

Subject = Literal["target", "surroundings", "pair", "edited", "changes", "regions"]
"""What a criterion is about: the named objects, everything but them, the two pictures as a whole,
the edited picture alone, each change by itself, or regions that are measured. `plan.py` says what
is shown for it in each mode."""
Reference = Literal["context", "ground_truth"]
"""What a reference picture is to a criterion: one right result among others, or what the edited
picture is compared with."""


@dataclass(frozen=True, kw_only=True)
class Rubric(ABC):
    """One criterion: what is asked, about what, and on which scale."""

    template: ClassVar[str] = "system.md"
    """The prompt text that holds the others."""
    form: ClassVar[str]
    """Names its prompt texts: `forms/FORM_task.md` and `forms/FORM_answer.md`."""
    asks_boxes: ClassVar[bool] = True
    """Whether an answer about whole pictures holds boxes."""

    criterion: Criterion
    name: str
    asks: str
    subject: Subject
    scale: Scale
    when_identical: float | None
    """The level when the edited picture equals the source, known without a judge; None where it
    is not known."""
    notes: Mapping[str, str] = field(default_factory=dict)
    type_notes: Mapping[str, str] = field(default_factory=dict)
    failures: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Names of what went wrong, each with its levels; empty: anything below the best is a failure
    of this criterion."""
    labelled_as: Criterion | None = None
    """The criterion whose human labels tell about this one where it has none of its own. They are
    on another scale: only their order counts."""
    category: str | None = None
    """The group of criteria that it belongs to, where the protocol has groups."""
    reference: Reference = "context"
    """What the row's reference picture is to it, where there is one."""

    @property
    def first_step(self) -> Rubric:
        """What the first conversation asks: this, or what must be known before it."""
        return self

    @abstractmethod
    def label_of(self, level: float) -> str:
        """The name of a level, as a judge answers it."""

    def answered_as(self, level: float) -> str:
        """The label of a verdict at a level."""
        return self.label_of(level)

    def numbered(self, level: float) -> str:
        """A level with its name, such as `2 Wrong Action`; said once where both are the same."""
        number, label = f"{level:g}", self.label_of(level)
        return number if label == number else f"{number} {label}"

    @abstractmethod
    def questions_text(self) -> Mapping[str, str]:
        """The questions that lead to the level, by id."""

    @abstractmethod
    def levels_text(self) -> list[dict[str, Any]]:
        """The levels with names and meanings, best first, for readers: `{number, label, means}`."""

    @abstractmethod
    def path_to(self, level: float) -> dict[str, str]:
        """The answers that lead to a level, by question id.

        Raises:
            KeyError: no path leads there.
        """


def common_fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `Rubric` in a criterion's TOML table, but for those that each form derives."""
    derived = {"scale", "when_identical", "failures"}
    names = [field.name for field in fields(Rubric) if field.name not in derived]
    return {name: data[name] for name in names if name in data}
