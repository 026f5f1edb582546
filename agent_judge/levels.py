"""The levels that a criterion can take, as numbers: their range, their bins, their 100 points."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

_QUARTERS = 4


@dataclass(frozen=True)
class Scale:
    """A range of levels, from the worst to the best."""

    worst: float
    best: float
    whole: bool = True
    """Whether only whole numbers are levels."""

    def __contains__(self, level: object) -> bool:
        """Whether a value is a level."""
        if isinstance(level, bool) or not isinstance(level, int | float):
            return False
        return self.worst <= level <= self.best and (not self.whole or level == int(level))

    def score_100(self, level: float) -> float:
        """A level, or a mean of levels, on the 100-point scale: 0 at the worst, 100 at the best.

        DLEBench does not print its formula; on its levels 1 to 4 this is `(level - 1) / 3 * 100`,
        which reproduces the range of its published figures.

        Example:
            >>> ladder = Scale(1, 4)
            >>> ladder.score_100(4), ladder.score_100(1), round(ladder.score_100(2), 2)
            (100.0, 0.0, 33.33)
        """
        return (level - self.worst) / (self.best - self.worst) * 100

    @property
    def bins(self) -> tuple[str, ...]:
        """What levels are counted by, worst first: each whole level, else quarters of the range.

        Example:
            >>> Scale(1, 4).bins, Scale(-1, 0, whole=False).bins[0]
            (('1', '2', '3', '4'), '-1 to -0.75')
        """
        if self.whole:
            return tuple(f"{level:g}" for level in self.levels)
        span = self.best - self.worst
        edges = [self.worst + span * n / _QUARTERS for n in range(_QUARTERS + 1)]
        return tuple(f"{low:g} to {high:g}" for low, high in itertools.pairwise(edges))

    @property
    def levels(self) -> tuple[int, ...]:
        """All levels of a whole scale, worst first; none where there is no end of them."""
        return tuple(range(int(self.worst), int(self.best) + 1)) if self.whole else ()

    def bin_of(self, level: float) -> int:
        """Which of `bins` a level belongs to.

        Example:
            >>> Scale(0, 5).bin_of(0), Scale(-1, 0, whole=False).bin_of(0)
            (0, 3)
        """
        if self.whole:
            return int(level - self.worst)
        share = (level - self.worst) / (self.best - self.worst)
        return min(int(share * _QUARTERS), _QUARTERS - 1)
