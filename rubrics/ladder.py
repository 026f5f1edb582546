"""The ladders of the rubric: levels, questions in order, notes. Data, and one loader.

Code walks the questions; it never asks for a level by name.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from agent_judge.records import Criterion

_FOLDER = Path(__file__).resolve().parent
_FILES: Mapping[Criterion, str] = {
    "IF": "instruction_following.toml",
    "VC": "visual_consistency.toml",
}
_NEXT = "next"


@dataclass(frozen=True, kw_only=True)
class Level:
    """One rung."""

    number: int
    """1 (worst) to 4 (best)."""
    label: str
    """The failure mode, as judges answer it."""
    means: str


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question of the walk."""

    id: str
    ask: str
    outcomes: Mapping[str, int | None]
    """Answer -> the level where the walk ends, or None to go on."""


@dataclass(frozen=True, kw_only=True)
class Ladder:
    """A four-level rubric of one criterion (DLEBench A.2, A.3)."""

    criterion: Criterion
    name: str
    asks: str
    levels: tuple[Level, ...]
    """Best first."""
    questions: tuple[Question, ...]
    notes: Mapping[str, str]
    type_notes: Mapping[str, str]
    when_identical: int
    """The level when the edited picture equals the source: known without a judge."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels on offer, best first."""
        return tuple(level.label for level in self.levels)

    def label_of(self, number: int) -> str:
        """The label of a level.

        Raises:
            KeyError: no such level.
        """
        return {level.number: level.label for level in self.levels}[number]

    def level_of(self, label: str) -> int:
        """The level of a label, spelt exactly.

        Raises:
            KeyError: no such label.
        """
        return {level.label: level.number for level in self.levels}[label]

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

    def path_to(self, level: int) -> dict[str, str]:
        """The answers that lead to a level, by question id.

        Raises:
            KeyError: no path leads there.
        """
        answers: dict[str, str] = {}
        for question in self.questions:
            by_outcome = {outcome: answer for answer, outcome in question.outcomes.items()}
            if level in by_outcome:
                return {**answers, question.id: by_outcome[level]}
            answers[question.id] = by_outcome[None]
        raise KeyError(level)


@cache
def load_ladder(criterion: Criterion) -> Ladder:
    """The ladder of a criterion."""
    data = tomllib.loads((_FOLDER / _FILES[criterion]).read_text(encoding="utf-8"))
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
    return Ladder(
        criterion=data["criterion"],
        name=data["name"],
        asks=data["asks"],
        levels=levels,
        questions=questions,
        notes=data["notes"],
        type_notes=data["type_notes"],
        when_identical=number[data["when_identical"]],
    )


@cache
def rubric_version() -> str:
    """Revision and content hash of every rubric and prompt file: `dlebench-1-<8 hex digits>`.

    It goes into every record, so that verdicts under other words are never taken for the same.
    """
    digest = hashlib.sha256()
    files = sorted([*_FOLDER.glob("*.toml"), *_FOLDER.glob("*.md")])
    for path in files:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    revision = max(
        tomllib.loads((_FOLDER / name).read_text(encoding="utf-8"))["revision"]
        for name in _FILES.values()
    )
    return f"dlebench-{revision}-{digest.hexdigest()[:8]}"
