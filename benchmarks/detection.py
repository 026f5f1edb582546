"""Precision and recall of changed regions on planted edits, before any model names them.

    python -m benchmarks.detection [--pairs N] [--photos FILE.jsonl] [--seed S]

Protocol dice lets a model name changes from the regions of `find_differences`: this is how good
they are by themselves. Each pair has one to three edits of 0.07 to 0.8 % of the picture, apart from
each other, and goes through one degradation. A region and an edit are a pair at IoU 0.5, one to
one. The other methods and the photographs are those of `benchmarks.difference`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agent_judge.audit.degrade import (
    DEGRADE_KINDS,
    MIN_CONTRAST,
    PLANT_KINDS,
    RGB,
    DegradeKind,
    contrast,
    degrade,
    plant,
)
from agent_judge.records import Box
from agent_judge.stats.detection import Detection, detect
from benchmarks.difference import (
    SSIM,
    Method,
    absdiff,
    ours,
    photographs,
    print_table,
    random_area,
    ssim,
)

MOST_EDITS = 3
APART_PX = 40
METHODS: dict[str, Method] = {"find_differences": ours, "absdiff > 30": absdiff, SSIM: ssim}


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A photograph, its degraded edit, and where it was edited."""

    source: RGB
    edited: RGB
    boxes: tuple[Box, ...]


def pairs(photos: Sequence[RGB], kind: DegradeKind, count: int, seed: int) -> Iterator[Pair]:
    """`count` pairs under one degradation, the same ones for the same seed."""
    for index in range(count):
        rng = np.random.default_rng([seed, index, DEGRADE_KINDS.index(kind)])
        source = photos[index % len(photos)]
        edited, boxes = source, list[Box]()
        while len(boxes) < 1 + index % MOST_EDITS:
            planted = plant(
                edited, random_area(rng), PLANT_KINDS[rng.integers(len(PLANT_KINDS))], rng
            )
            box = Box(*planted.box_xyxy)
            near = any(box.grow(APART_PX).iou(other) > 0 for other in boxes)
            if not near and contrast(edited, planted.pixels, planted.mask) >= MIN_CONTRAST:
                edited = planted.pixels
                boxes.append(box)
        yield Pair(source=source, edited=degrade(edited, kind, rng), boxes=tuple(boxes))


def row(kind: DegradeKind, name: str, trials: Sequence[Pair]) -> list[str]:
    """One method's figures under one degradation as cells."""
    counts = [detect(METHODS[name](one.source, one.edited), one.boxes) for one in trials]
    total = sum(counts, Detection())
    shares = (total.precision_01, total.recall_01)
    shown = ["-" if share is None else f"{share:.2f}" for share in shares]
    return [kind, name, *shown, str(total.n_found), str(total.n_planted)]


def main() -> None:
    """The table on standard output."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pairs", type=int, default=60, help="a degradation")
    parser.add_argument("--photos", type=Path, metavar="FILE.jsonl")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    photos = photographs(given.photos)
    print(f"{given.pairs} pairs a row, {len(photos)} photographs, seed {given.seed}\n")
    rows = []
    for kind in DEGRADE_KINDS:
        trials = list(pairs(photos, kind, given.pairs, given.seed))
        rows += [row(kind, name, trials) for name in METHODS]
    print_table(["degradation", "method", "precision", "recall", "found", "planted"], rows)


if __name__ == "__main__":
    main()
