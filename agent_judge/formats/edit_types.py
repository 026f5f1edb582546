"""The words of other benchmarks for kinds of edits -> the types of a manifest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from agent_judge.records import EditType

_WORDS: Sequence[tuple[str, EditType]] = (
    (r"remov|delet|eras", "removal"),
    (r"replac|swap", "replacement"),
    (r"colou?r", "color"),
    (r"material|texture", "material"),
    (r"ocr|text", "ocr"),
    (r"count|quantity|number", "count"),
    (r"shape", "shape"),
)
"""The first that is found; texture stands before the text that it contains."""


def typed(word: object) -> dict[str, Any]:
    """The columns that a benchmark's own word for the kind of edit gives.

    The word itself is kept as `benchmark_type`, because most have no type of their own here.

    Example:
        >>> typed("subject-replace")
        {'type': 'replacement', 'benchmark_type': 'subject-replace'}
        >>> typed("motion_change")["type"], typed(None)
        ('other', {})
    """
    if word is None:
        return {}
    text = str(word)
    found = (kind for pattern, kind in _WORDS if re.search(pattern, text, re.IGNORECASE))
    return {"type": next(found, "other"), "benchmark_type": text}
