"""Which offered label a piece of text names as its verdict, if it names exactly one.

A label counts only where it stands as a statement: alone on its line, or right behind a word such
as "label:" at the start of a line. A label somewhere in the reasoning is no verdict.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_judge.rubrics.ladder import Ladder

_DASH = "\u2010-\u2015-"
_QUOTE = "\"'`\u2018\u2019\u201c\u201d"
_DECORATION = f" \t\r*_{_QUOTE}#>~|<[("
_LEAD = re.compile(
    r"(?:(?:so|thus|therefore|hence|overall|in conclusion|conclusion)\b[\s,:*]*)?"
    r"(?:(?:the|my)\s+)?(?:final\s+)?"
    r"(?:label|verdict|answer|judge?ment|level|rating|result|conclusion)\b"
    rf"[\s*_{_QUOTE}]*(?:is\b|:|=|[{_DASH}]+>?|→)?[\s*_{_QUOTE}:\[(]*",
    re.IGNORECASE,
)
_NUMBER_BEFORE = re.compile(rf"(?:level\s*)?(\d+(?:\.\d+)?)\s*[.:){_DASH}]+\s*", re.IGNORECASE)
_NUMBER_AFTER = re.compile(
    rf"[\s,:;{_DASH}]*[(\[]?\s?(?:level|score)?\s?[:=]?\s?(\d+(?:\.\d+)?)\s?(?:/\s?\d+)?\W*$",
    re.IGNORECASE,
)
_MAY_FOLLOW = re.compile(rf"\s?(?:$|[.!,;:|)(\]\[{_DASH}])")
_SETTLES = re.compile(r"\b(?:final\w*|correct(?:ed|ion)|revis\w+|on second)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A line that states a label as the verdict."""

    start: int
    """Where its line begins in the text."""
    end: int
    label: str
    """An offered label, spelt as on offer."""


def named_label(value: str, ladder: Ladder) -> str | None:
    """The offered label that a value states, read past case, hyphens, marks and a level number.

    Anything before the label but decoration or its own number, another label beside it, or a
    number that is not the label's own makes it no statement.

    Example:
        >>> from agent_judge.rubrics.protocol import load_ladder
        >>> ladder = load_ladder("IF")
        >>> named_label("**wrong_action** (level 2).", ladder)
        'Wrong Action'
        >>> named_label("Wrong Act", ladder), named_label("not Wrong Action", ladder)
        (None, None)
    """
    text = " ".join(value.split()).strip(_DECORATION)  # one space: no costly backtracking
    lead = _LEAD.match(text)
    text = text[lead.end() :] if lead else text
    numbers = []
    if before := _NUMBER_BEFORE.match(text):
        numbers.append(before.group(1))
        text = text[before.end() :]
    text = text.lstrip(_DECORATION)
    found = mentions(text, ladder)
    if len({label for _, _, label in found}) != 1 or found[0][0] != 0:
        return None
    rest = text[found[0][1] :].lstrip(f"*_{_QUOTE}")
    if after := _NUMBER_AFTER.match(rest):
        numbers.append(after.group(1))
    elif not _MAY_FOLLOW.match(rest):
        return None
    label = found[0][2]
    return label if all(float(n) == ladder.level_of(label) for n in numbers) else None


def mentions(text: str, ladder: Ladder) -> list[tuple[int, int, str]]:
    """Every offered label in a text as `(start, end, label)`, in order."""
    found = [
        (match.start(), match.end(), label)
        for label in ladder.labels
        for match in _pattern(label).finditer(text)
    ]
    return sorted(found)


def statements(text: str, ladder: Ladder) -> list[Statement]:
    """The lines that state a label: behind a lead such as "label:", or as the last line, alone."""
    found = []
    lines = [match for match in re.finditer(r"[^\n]+", text) if match.group().strip()]
    for index, line in enumerate(lines):
        bare = line.group().strip(_DECORATION)
        is_last = index == len(lines) - 1
        label = named_label(bare, ladder) if is_last or _LEAD.match(bare) else None
        if label is not None:
            found.append(Statement(start=line.start(), end=line.end(), label=label))
    return found


def settles(between: str) -> bool:
    """Whether a text between two verdicts says that the second replaces the first."""
    return _SETTLES.search(between) is not None


def alternatives(labels: Sequence[str]) -> str:
    """Labels as a list in words: `'A', 'B' or 'C'`."""
    *first, last = (repr(label) for label in labels)
    return f"{', '.join(first)} or {last}" if first else last


def _pattern(label: str) -> re.Pattern[str]:
    words = rf"[\s_{_DASH}]*".join(map(re.escape, label.split()))
    return re.compile(rf"(?<![A-Za-z0-9]){words}(?![A-Za-z0-9])", re.IGNORECASE)
