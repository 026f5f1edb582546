"""A rubric whose level is found by a walk along questions: named levels, a question at a time.

Code walks the questions; it never asks for a level by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from agent_judge.levels import Scale
from agent_judge.rubrics.rubric import Rubric, common_fields

_NEXT = "next"


@dataclass(frozen=True, kw_only=True)
class Level:
    """One rung."""

    number: int
    """1 is the worst."""
    label: str
    """The failure mode, as judges answer it."""
    means: str
    failure: str | None = None
    """What went wrong, in a word or two; None at the best level."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question of the walk."""

    id: str
    ask: str
    outcomes: Mapping[str, int | None]
    """Answer -> the level where the walk ends, or None to go on."""


@dataclass(frozen=True, kw_only=True)
class Ladder(Rubric):
    """A rubric of named levels and the questions that lead to them (DLEBench A.2, A.3)."""

    form: ClassVar[str] = "ladder"

    levels: tuple[Level, ...]
    """Best first."""
    questions: tuple[Question, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels on offer, best first."""
        return tuple(level.label for level in self.levels)

    def label_of(self, level: float) -> str:
        """The label of a level.

        Raises:
            KeyError: no such level.
        """
        return {one.number: one.label for one in self.levels}[int(level)]

    def level_of(self, label: str) -> int:
        """The level of a label, spelt exactly.

        Raises:
            KeyError: no such label.
        """
        return {level.label: level.number for level in self.levels}[label]

    def levels_text(self) -> list[dict[str, Any]]:
        """The levels, best first: `{number, label, means}`."""
        return [{"number": x.number, "label": x.label, "means": x.means} for x in self.levels]

    def questions_text(self) -> Mapping[str, str]:
        """The questions by id."""
        return {question.id: question.ask for question in self.questions}

    def walk(self, answers: Mapping[str, str]) -> int | None:
        """The level that the answers lead to; None when an answer on the way is missing or odd.

        Answers to questions after the one that ends the walk are not looked at.
        """
        for question in self.questions:
            answer = answers.get(question.id)
            if answer is None or answer not in question.outcomes:
                return None
            if (level := question.outcomes[answer]) is not None:
                return level
        return None

    def path_to(self, level: float) -> dict[str, str]:
        """The answers that lead to a level, by question id.

        Raises:
            KeyError: no path leads there.
        """
        answers: dict[str, str] = {}
        for question in self.questions:
            by_outcome = {outcome: answer for answer, outcome in question.outcomes.items()}
            if (answer := by_outcome.get(int(level))) is not None:
                return {**answers, question.id: answer}
            answers[question.id] = by_outcome[None]
        raise KeyError(level)


def ladder_from(data: Mapping[str, Any]) -> Ladder:
    """The ladder in a criterion's TOML table."""
    levels = tuple(Level(**level) for level in data["levels"])
    number = {level.label: level.number for level in levels}
    questions = tuple(
        Question(
            id=q["id"],
            ask=q["ask"],
            outcomes={a: None if to == _NEXT else number[to] for a, to in q["answers"].items()},
        )
        for q in data["questions"]
    )
    failures: dict[str, tuple[float, ...]] = {}
    for level in reversed(levels):
        if level.failure is not None:
            failures[level.failure] = (*failures.get(level.failure, ()), level.number)
    return Ladder(
        **common_fields(data),
        scale=Scale(min(number.values()), max(number.values())),
        levels=levels,
        questions=questions,
        when_identical=number[data["when_identical"]],
        failures=failures,
    )
