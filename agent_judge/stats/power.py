"""How many samples it takes to tell two models apart."""

from __future__ import annotations

import math

from scipy import special

from agent_judge.stats.intervals import CONFIDENCE, t_quantile


def samples_needed(difference_100: float, sd_100: float, *, power_01: float = 0.8) -> int | None:
    """Pairs after which a true difference is found with the given power, by a paired t test.

    Two-sided at 5 %, as the intervals are. For means of the ladder's levels the permutation test
    finds as much as the t test.

    Args:
        difference_100: the true difference of the means, in points of 100; its sign is ignored.
        sd_100: standard deviation of the paired differences, in points, as `Comparison.sd_100`.
        power_01: chance of finding it.

    Returns:
        At least 2; None without a difference or a spread.

    Example:
        >>> samples_needed(5, 40)
        505
    """
    if difference_100 == 0 or sd_100 <= 0:
        return None
    effect = abs(difference_100) / sd_100
    z = float(special.ndtri((1 + CONFIDENCE) / 2) + special.ndtri(power_01))
    # The normal approximation is never above the t test's number, and a few below at most.
    n = max(2, math.floor((z / effect) ** 2))
    while _power(n, effect) < power_01:
        n += 1
    return n


def _power(n: int, effect: float) -> float:
    critical = t_quantile(n - 1)
    shift = effect * math.sqrt(n)
    beyond = 1 - special.nctdtr(n - 1, shift, critical) + special.nctdtr(n - 1, shift, -critical)
    return float(beyond)
