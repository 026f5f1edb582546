"""What a rule is given, and the answers that it can come to."""

from __future__ import annotations

from dataclasses import dataclass

from agent_judge.judges.measuring.changes import Changes
from agent_judge.judges.measuring.finding import Finding, Unsure

Verdict = Finding | Unsure


@dataclass(frozen=True, kw_only=True)
class Case:
    """One target with what was asked for it."""

    instruction: str
    changes: Changes
    boxed: bool
    """Whether the targets' boxes were given: only they tell where a plate ends, what is counted."""

    @property
    def has_reference(self) -> bool:
        """Whether a reference was shown."""
        return self.changes.laid.reference is not None


def not_edited(why: str) -> Finding:
    """The target itself was not edited."""
    return Finding(answers={"target_edited": "no"}, why=why)


def other_action(why: str) -> Finding:
    """The target was edited, but not as told."""
    return Finding(answers={"target_edited": "yes", "action_right": "no"}, why=why)


def done(why: str, *, kept: bool) -> Finding:
    """The target was edited as told; `kept` tells whether the rest of it survived."""
    answers = {"target_edited": "yes", "action_right": "yes", "rest_kept": "yes" if kept else "no"}
    return Finding(answers=answers, why=why)


def no_reference() -> Unsure:
    """The target changed, and nothing shows what a right result looks like."""
    return Unsure(why="the target changed; without a reference, pixels cannot tell into what")
