"""Which rows are rated, and in what order: the same for every rater, and blind.

Rows come in the order of a seeded hash of their id. So the editing model cannot be told from the
order, a subset stays the same when rows are added around it, and a larger one begins with it.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from agent_judge.records import Sample


@dataclass(frozen=True, kw_only=True)
class Round:
    """The rows to rate. Pages know a row by its place here, never by its id."""

    rows: tuple[Sample, ...]
    n_calibration: int
    """The first so many rows are the calibration round."""
    n_without_picture: int
    """Rows left out because their source or edited picture does not exist."""


def draw_round(
    samples: Iterable[Sample], *, size: int | None, seed: int, n_calibration: int
) -> Round:
    """The rows to rate.

    Args:
        samples: of a checked manifest.
        size: how many to take; None for all of them.
        seed: of the order, and so of the subset.
        n_calibration: rows of the calibration round, at most.
    """
    n_lost = 0

    def with_pictures() -> Iterator[Sample]:
        nonlocal n_lost
        for sample in samples:
            if sample.source.exists() and sample.edited.exists():
                yield sample
            else:
                n_lost += 1

    def place(sample: Sample) -> bytes:
        return hashlib.blake2b(f"{seed}\0{sample.id}".encode(), digest_size=16).digest()

    if size is None:
        rows = sorted(with_pictures(), key=place)
    else:
        rows = heapq.nsmallest(size, with_pictures(), key=place)
    return Round(
        rows=tuple(rows), n_calibration=min(n_calibration, len(rows)), n_without_picture=n_lost
    )
