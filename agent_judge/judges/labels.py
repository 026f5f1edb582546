"""Which offered label a piece of text names as its verdict, if it names exactly one.

A label counts only where it stands as a statement: right behind a word such as "label:" at the
start of a line, or alone on the last line of a text that lists no other label that way. A label
somewhere in the reasoning is no verdict, and one that is denied or struck through is none.
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
_DENIED = re.compile(
    r"\W*(?:no|not|nope|false|none|n/a|excluded|rejected|ruled out|unlikely"
    r"|(?:not|isn.t|is not) (?:applicable|the case|present|met)"
    r"|do(?:es)?(?:n.t| not) (?:apply|fit|hold))(?: here)?\W*",
    re.IGNORECASE,
)
"""What follows the label of a checklist's line that says that it is another one."""
_STRUCK = "~~"
_ENTRY = re.compile(r"^\W*(?:\d+[.)]\s+)?")
"""The mark of an entry of a list: its number there is no level."""
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

    Anything before the label but decoration or its own number, another label beside it, a number
    that is not the label's own, or a denial behind it makes it no statement.

    Example:
        >>> from agent_judge.rubrics.protocol import load_ladder
        >>> ladder = load_ladder("IF")
        >>> named_label("**wrong_action** (level 2).", ladder)
        'Wrong Action'
        >>> named_label("Wrong Act", ladder), named_label("not Wrong Action", ladder)
        (None, None)
    """
    if _STRUCK in value:
        return None
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
    elif not _MAY_FOLLOW.match(rest) or _DENIED.fullmatch(rest):
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
    """The lines that state a label: behind a lead such as "label:", or as the last line, alone.

    Labels one under the other are a list, and its last entry is no verdict: where the last line has
    no lead, every other entry counts as well.
    """
    lines = [x for x in re.finditer(r"[^\n]+", text) if x.group().strip(_DECORATION)]  # no fences
    led = [x for x in lines if _LEAD.match(x.group().strip(_DECORATION))]
    if lines and lines[-1] not in led and named_label(lines[-1].group(), ladder):
        return _stated(lines, ladder, _ENTRY)
    return _stated(led, ladder)


def _stated(
    lines: Sequence[re.Match[str]], ladder: Ladder, mark: re.Pattern[str] | None = None
) -> list[Statement]:
    """What lines state, each without a mark at its beginning."""
    found = []
    for line in lines:
        words = line.group()
        label = named_label(words if mark is None else mark.sub("", words), ladder)
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
