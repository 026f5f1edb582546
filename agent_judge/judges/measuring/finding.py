"""What measuring came to: answers along a ladder with a reason, or that pixels cannot tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agent_judge.records import Box


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Answers that lead to a level."""

    answers: Mapping[str, str]
    """By question id, as far as the walk goes."""
    why: str
    """What was measured, in words."""
    anomalies: tuple[tuple[str, Box], ...] = ()
    """VC: what and where, pixels of the source."""
    target_box: Box | None = None
    """IF on full pictures: where the target was taken to be."""


@dataclass(frozen=True, kw_only=True)
class Unsure:
    """Pixels cannot decide this."""

    why: str
