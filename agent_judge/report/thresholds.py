"""`--fail-under IF=60,VC=80`: does every editing model reach the mark?

The mean that counts is the one with missing and damaged outputs at level 1: a model must not pass
by writing no picture for what it cannot do. Without a headline (under 90 % judged) nothing is
known, and the mark is missed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agent_judge.errors import InputError

NAMES = ("IF", "VC", "overall")
MISSED = 4
"""Exit code of a missed mark."""


def parse_thresholds(text: str) -> dict[str, float]:
    """`IF=60,VC=80,overall=70` as marks on the 100-point scale.

    Raises:
        InputError: another name, or no number from 0 to 100.

    Example:
        >>> parse_thresholds("IF=60, VC=80.5")
        {'IF': 60.0, 'VC': 80.5}
    """
    marks: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = (word.strip() for word in part.partition("="))
        try:
            mark = float(number)
        except ValueError:
            mark = -1.0
        if name not in NAMES or not 0 <= mark <= 100:
            raise InputError(
                f"--fail-under {text!r}: expected {', '.join(NAMES)} with a number from 0 to 100, "
                f"such as IF=60,VC=80"
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
                part = standing if name == "overall" else standing[name]
                reached = part["missing_at_1_100"]
                if reached is None:
                    yield f"{editor} ({mode} mode): {name} has no mean, {mark:g} asked for"
                elif reached < mark:
                    yield f"{editor} ({mode} mode): {name} is {reached:.1f}, {mark:g} asked for"
