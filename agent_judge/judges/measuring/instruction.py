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
