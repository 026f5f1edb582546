"""What an instruction asks for, as far as its words say so plainly."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agent_judge.judges.measuring.colour_names import wanted_colour

_REMOVES = re.compile(r"\s*(?:please\s+)?(?:remove|erase|delete|get rid of)\b", re.IGNORECASE)
_RECOLOURS = re.compile(
    r"\s*(?:please\s+)?(?:make|paint|turn|colou?r|recolou?r|dye|change|alter)\b", re.IGNORECASE
)

_QUOTED = re.compile(
    r"[\"\u201c]([^\"\u201d]+)[\"\u201d]|(?<!\w)['\u2018]([^'\u2019]+)['\u2019](?!\w)"
)
_CAPITALS = re.compile(r"\b[A-Z0-9][A-Z0-9&-]+(?: [A-Z0-9&-]+)*\b")
_ASKS_FOR = re.compile(
    r"\b(?:to|into|with|by|reads?|reading|says?|saying)\s*:?\s*(?:the\s+(?:word|text)\s+)?$",
    re.IGNORECASE,
)


def wanted_text(instruction: str) -> str | None:
    """The one text that an instruction asks for, quoted or in capitals; None when not clear.

    Example:
        >>> wanted_text("Change the text from OPEN to CLOSED."), wanted_text("Make it say 'Hi you'")
        ('CLOSED', 'Hi you')
        >>> wanted_text("Translate the sign"), wanted_text("Change 'A1' or 'B2'")
        (None, None)
    """
    for pattern in (_QUOTED, _CAPITALS):
        found = [
            next((group for group in match.groups() if group), match.group(0)).strip()
            for match in pattern.finditer(instruction)
            if _ASKS_FOR.search(instruction[: match.start()])
        ]
        if found:
            return found[0] if len(set(found)) == 1 else None
    return None


_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_IN_ALL = re.compile(
    r"\b(?:exactly|only|there (?:are|is)|leave|leaving|keep)\s+(?:just |only |exactly )?"
    rf"(\d+|{'|'.join(_NUMBERS)})\b",
    re.IGNORECASE,
)


def wanted_number(instruction: str) -> int | None:
    """How many there shall be in all; None where the text does not say so plainly.

    Example:
        >>> wanted_number("Remove some of the 5 cups until exactly two are left.")
        2
        >>> wanted_number("Remove two of the five cups")
    """
    found = {word.lower() for word in _IN_ALL.findall(instruction)}
    if len(found) != 1:
        return None
    word = found.pop()
    return int(word) if word.isdigit() else _NUMBERS.index(word) + 1


def kind_of(task: Mapping[str, Any]) -> str:
    """The type of the task; where none is given, removals and colour edits are known by wording.

    Example:
        >>> kind_of({"instruction": "Paint the fence white"}), kind_of({"instruction": "Add a cat"})
        ('color', 'other')
    """
    if task.get("type"):
        return str(task["type"])
    text = str(task.get("instruction", ""))
    if _REMOVES.match(text):
        return "removal"
    if _RECOLOURS.match(text) and wanted_colour(text) is not None:
        return "color"
    return "other"
