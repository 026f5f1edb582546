"""BPM's overall figure: over a set, as published, and beside it one that compares across sets.

Both weigh the four parts alike, `0.7 * (modify + preserve) + 0.3 * (size + position)`, and both lie
between 0 and 2. They differ in how modify and preserve come to lie between 0 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_SEMANTIC_WEIGHT, _REGION_WEIGHT = 0.7, 0.3
_CONSTANT = 0.5


@dataclass(frozen=True, kw_only=True)
class BpmParts:
    """The four parts of one edited picture's figure."""

    modify: float | None
    """Directional similarity, -1 to 1; None where it could not be had (no network, no step)."""
    preserve: float | None
    """-1 to 0; None where nothing lies outside the edited region."""
    size: float
    """0 or 1; a rule that does not apply is kept."""
    position: float
    """0, 0.5 or 1; a rule that does not apply is kept."""

    def __post_init__(self) -> None:
        """Refuse what lies outside the ranges.

        Raises:
            ValueError: a part is not a number in its range; the message names it.
        """
        ranges = {"modify": (-1, 1), "preserve": (-1, 0), "size": (0, 1), "position": (0, 1)}
        for name, (low, high) in ranges.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise ValueError(f"{name} must lie between {low} and {high}, got {value!r}")


def overall_setwise(parts: Sequence[BpmParts]) -> tuple[float | None, ...]:
    """The published overall figure of every item: modify and preserve min-max normed over the set.

    It ranks the items of one set and nothing else: an item's figure moves when another item joins
    the set. The set is the items that have both parts; the others have no figure.

    A part that is the same for all items has no norm (0 / 0). It counts as 0.5 for each, because it
    ranks none above another: the order is left to the other parts, and the range stays. A set of
    one item has no figure at all.

    Args:
        parts: of all items of the set, in any order.

    Returns:
        0 to 2 each, in their order; None where an item has no figure.

    Example:
        >>> one, other = (BpmParts(modify=m, preserve=p, size=1, position=1)
        ...               for m, p in ((0.3, -0.2), (0.1, -0.1)))
        >>> [round(v, 6) for v in overall_setwise([one, other])]
        [1.3, 1.3]
    """
    complete = [p for p in parts if p.modify is not None and p.preserve is not None]
    if len(complete) < 2:
        return (None,) * len(parts)
    modify = _range([p.modify for p in complete if p.modify is not None])
    preserve = _range([p.preserve for p in complete if p.preserve is not None])
    return tuple(
        None
        if p.modify is None or p.preserve is None
        else _weighed(_normed(p.modify, modify), _normed(p.preserve, preserve), p)
        for p in parts
    )


def overall_absolute(parts: BpmParts) -> float | None:
    """An overall figure of one item that no other item moves: it compares across sets.

    Not in the paper. Modify is mapped from its range -1 to 1, preserve from -1 to 0, onto 0 to 1,
    with the published weights. In practice cosines of CLIP lie near 0 and preservation near 0, so
    that figures crowd between about 1.5 and 2 where both rules are kept.

    Returns:
        0 to 2; None where modify or preserve is missing.

    Example:
        >>> overall_absolute(BpmParts(modify=0.0, preserve=0.0, size=1, position=1))
        1.65
    """
    if parts.modify is None or parts.preserve is None:
        return None
    return _weighed((parts.modify + 1) / 2, parts.preserve + 1, parts)


def _weighed(modify_01: float, preserve_01: float, parts: BpmParts) -> float:
    semantic, region = modify_01 + preserve_01, parts.size + parts.position
    return math.fsum((_SEMANTIC_WEIGHT * semantic, _REGION_WEIGHT * region))


def _range(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)


def _normed(value: float, low_high: tuple[float, float]) -> float:
    low, high = low_high
    return (value - low) / (high - low) if high > low else _CONSTANT
