"""People among themselves: how each two raters of the same rows agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from agent_judge.stats.measures import exact, measure, spearman


@dataclass(frozen=True, kw_only=True)
class RaterPair:
    """Two raters over the rows that both have rated."""

    a: str
    b: str
    n: int
    """Rows that both rated."""
    spearman: float | None
    """Rank correlation; None where one of them gave a single value."""
    exact: float
    """Share of rows with the same value, 0 to 1."""


def rater_pairs(rows: Mapping[str, Mapping[str, float]]) -> list[RaterPair]:
    """Every two raters that share a row, by name.

    Args:
        rows: by row, each rater's value for one criterion.

    Example:
        >>> rater_pairs({"x": {"ann": 4, "bob": 4}, "y": {"ann": 1, "bob": 3}, "z": {"bob": 2}})
        [RaterPair(a='ann', b='bob', n=2, spearman=1.0, exact=0.5)]
    """
    found = []
    for a, b in combinations(sorted({by for values in rows.values() for by in values}), 2):
        shared = [values for values in rows.values() if a in values and b in values]
        if not shared:
            continue
        x, y = [values[a] for values in shared], [values[b] for values in shared]
        found.append(
            RaterPair(
                a=a,
                b=b,
                n=len(shared),
                spearman=measure(spearman, x, y),
                exact=measure(exact, x, y) or 0.0,
            )
        )
    return found
