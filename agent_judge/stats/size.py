"""Size bins of targets, by the share of the picture that they cover (DLEBench, section 3)."""

from __future__ import annotations

SIZE_BINS = ("< 0.07 %", "0.07 to 0.8 %", "> 0.8 %")
"""From the smallest; both limits belong to the middle bin."""
NO_SIZE = "(no box)"
"""Stands for the size of rows without a target box."""


def size_bin(area_pct: float | None) -> str:
    """The size bin of a target.

    Args:
        area_pct: share of the picture that the target's boxes cover, in per cent; None without.

    Example:
        >>> size_bin(0.069), size_bin(0.07), size_bin(0.8), size_bin(12), size_bin(None)
        ('< 0.07 %', '0.07 to 0.8 %', '0.07 to 0.8 %', '> 0.8 %', '(no box)')
    """
    if area_pct is None:
        return NO_SIZE
    return SIZE_BINS[(area_pct >= 0.07) + (area_pct > 0.8)]


def group_order(name: str) -> tuple[int, str]:
    """Sorts sizes from the smallest, other names by letter."""
    return (SIZE_BINS.index(name) if name in SIZE_BINS else len(SIZE_BINS), name)
