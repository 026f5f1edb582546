"""`--fail-under IF=60,VC=80`: does every editing model reach the mark?

The mean that counts is the one with missing and damaged outputs at the worst level: a model must
not pass by writing no picture for what it cannot do. Without a headline (under 90 % judged) nothing
is known, and the mark is missed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agent_judge.errors import InputError
from agent_judge.rubrics.protocol import Protocol

OVERALL = "overall"
MISSED = 4
"""Exit code of a missed mark."""


def parse_thresholds(text: str, protocol: Protocol) -> dict[str, float]:
    """`IF=60,VC=80,overall=70` as marks on the 100-point scale.

    Args:
        text: as typed.
        protocol: whose criteria, and overall figure if it has one, can be named.

    Raises:
        InputError: another name, or no number from 0 to 100.

    Example:
        >>> from agent_judge.rubrics.protocol import load_protocol
        >>> parse_thresholds("IF=60, VC=80.5", load_protocol("dlebench"))
        {'IF': 60.0, 'VC': 80.5}
    """
    names = (*protocol.criteria, *((OVERALL,) if protocol.has_overall else ()))
    marks: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = (word.strip() for word in part.partition("="))
        try:
            mark = float(number)
        except ValueError:
            mark = -1.0
        if name not in names or not 0 <= mark <= 100:
            raise InputError(
                f"--fail-under {text!r}: expected {', '.join(names)} with a number from 0 to 100, "
                f"such as {names[0]}=60"
            )
        marks[name] = mark
    return marks


def missed(summary: Mapping[str, Any], marks: Mapping[str, float]) -> Iterator[str]:
    """Each mark that an editor in a mode misses, in words.

    Args:
        summary: from `stats.summary.summarize`.
        marks: from `parse_thresholds`.
    """
    for editor, of_editor in summary["by_editor"].items():
        for mode, standing in of_editor["by_mode"].items():
            for name, mark in marks.items():
                part = standing if name == OVERALL else standing[name]
                reached = part["missing_at_1_100"]
                if reached is None:
                    yield f"{editor} ({mode} mode): {name} has no mean, {mark:g} asked for"
                elif reached < mark:
                    yield f"{editor} ({mode} mode): {name} is {reached:.1f}, {mark:g} asked for"
