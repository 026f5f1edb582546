"""Text from data, models and endpoints as a terminal may show it."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that could steer a terminal or turn the text around them."""
_CONTROL_IN_LINES = re.compile(rf"(?![\n\t]){_CONTROL.pattern}")


def shown(text: object) -> str:
    r"""The text on one line; what could steer a terminal is replaced.

    Example:
        >>> shown("red\x1b[2J cup\n")
        'red�[2J cup�'
    """
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(text))


def shown_lines(text: object) -> str:
    """The same for text of several lines: line ends and tabs stay."""
    return _CONTROL_IN_LINES.sub("\N{REPLACEMENT CHARACTER}", str(text))
