"""How well planted edits are found through re-rendering, against three public ways to compare.

    python benchmarks/difference.py [--pairs N] [--photos FILE.jsonl] [--seed S] [--odiff PROGRAM]

For each degradation N pairs with one edit of 0.07 to 0.8 % of the picture, and N without one, go
through every method in one run. hit: a region with IoU > 0.25 on the edit's box. clean: no region
centred more than 10 px outside that box. unchanged: no region on a degraded copy without an edit.
IoU: mean of the hits. time: median, in units of scikit-image's SSIM on the same pair. The last
table is time alone, at 2048x2048.

The other methods' regions are the connected parts, of 16 px and more, of their mask closed by
5 px. odiff is a program of its own (`npm install odiff-bin`); without it its rows are left out.
FILE.jsonl has one object a line with the path of an `image`, relative to the file.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from skimage import data
from skimage.metrics import structural_similarity

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
from agent_judge.images import encode_png, load_image
from agent_judge.records import Box
from agent_judge.tools.difference import find_differences

LONGEST_PX = 1024
"""Larger photographs are reduced: the degradations are made for pictures of about this size."""
AREA_FRACTIONS = (0.0007, 0.008)
MIN_REGION_PX = 16
HIT_IOU, CLEAN_PX = 0.25, 10
SPEED_PX = 2048
SSIM = "SSIM < 0.5"

Method = Callable[[RGB, RGB], list[Box]]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A photograph, its degraded edit, and a degraded copy without an edit."""

    source: RGB
    edited: RGB
    box: Box
    unchanged: RGB


def photographs(listing: Path | None) -> list[RGB]:
    """Those of `listing`, or the colour photographs that scikit-image brings."""
    if listing is None:
        pictures = [data.astronaut(), data.coffee(), data.chelsea(), data.rocket()]
        pictures.append(data.stereo_motorcycle()[0])
    else:
        rows = map(json.loads, listing.read_text(encoding="utf-8").splitlines())
        pictures = [load_image(listing.parent / row["image"]) for row in rows]
    return [_reduced(np.asarray(p, np.uint8)) for p in pictures]


def _reduced(pixels: RGB) -> RGB:
    scale = LONGEST_PX / max(pixels.shape[:2])
    if scale >= 1:
        return np.ascontiguousarray(pixels)
    size_wh = (round(pixels.shape[1] * scale), round(pixels.shape[0] * scale))
    return np.asarray(cv2.resize(pixels, size_wh, interpolation=cv2.INTER_AREA), np.uint8)


def pairs(photos: Sequence[RGB], kind: DegradeKind, count: int, seed: int) -> Iterator[Pair]:
    """`count` pairs under one degradation, the same ones for the same seed."""
    for index in range(count):
        rng = np.random.default_rng([seed, index, DEGRADE_KINDS.index(kind)])
        source = photos[index % len(photos)]
        while True:
            edit = PLANT_KINDS[rng.integers(len(PLANT_KINDS))]
            planted = plant(source, random_area(rng), edit, rng)
            if contrast(source, planted.pixels, planted.mask) >= MIN_CONTRAST:
                break
        yield Pair(
            source=source,
            edited=degrade(planted.pixels, kind, rng),
            box=Box(*planted.box_xyxy),
            unchanged=degrade(source, kind, rng),
        )


def random_area(rng: np.random.Generator) -> float:
    """An edit's share of its picture; small ones are as likely as large ones on a log scale."""
    low, high = np.log(AREA_FRACTIONS)
    return float(np.exp(rng.uniform(low, high)))


def ours(source: RGB, edited: RGB) -> list[Box]:
    """This project's regions."""
    return [region.box for region in find_differences(source, edited).regions]


def absdiff(source: RGB, edited: RGB) -> list[Box]:
    """Where a channel differs by more than 30."""
    return boxes_of(np.asarray(cv2.absdiff(source, edited)).max(axis=2) > 30)


def ssim(source: RGB, edited: RGB) -> list[Box]:
    """Where structural similarity is under 0.5."""
    _, similarity = structural_similarity(source, edited, channel_axis=2, full=True)
    return boxes_of(similarity.mean(axis=2) < 0.5)


def odiff(program: str, folder: Path) -> Method:
    """The program's mask of changed pixels, through files."""

    def compare(source: RGB, edited: RGB) -> list[Box]:
        paths = [folder / name for name in ("source.png", "edited.png", "mask.png")]
        for path, pixels in zip(paths, (source, edited), strict=False):
            path.write_bytes(encode_png(pixels))
        paths[2].unlink(missing_ok=True)
        subprocess.run([program, *map(str, paths), "--diff-mask"], check=False, capture_output=True)
        mask = cv2.imread(str(paths[2]), cv2.IMREAD_UNCHANGED) if paths[2].exists() else None
        return [] if mask is None else boxes_of(np.asarray(mask)[..., 3] > 0)

    return compare


def boxes_of(mask: NDArray[np.bool_]) -> list[Box]:
    """Boxes of the mask's connected parts."""
    closed = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    _, _, stats, _ = cv2.connectedComponentsWithStats(closed, connectivity=8)
    return [Box(x, y, x + w, y + h) for x, y, w, h, area in stats[1:] if area >= MIN_REGION_PX]


@dataclass(kw_only=True)
class Tally:
    """One method's results under one degradation."""

    ious: list[float]
    clean: list[bool]
    unchanged: list[bool]
    seconds: list[float]

    def row(self, ssim_seconds: float) -> list[str]:
        """The figures as cells."""
        hits = [iou for iou in self.ious if iou > HIT_IOU]
        return [
            f"{len(hits) / len(self.ious):.3f}",
            f"{np.mean(self.clean):.3f}",
            f"{np.mean(self.unchanged):.3f}",
            f"{np.mean(hits):.2f}" if hits else "-",
            f"{statistics.median(self.seconds) / ssim_seconds:.2f}",
        ]


def tally(method: Method, trials: Sequence[Pair]) -> Tally:
    """Every pair of `trials` through one method."""
    result = Tally(ious=[], clean=[], unchanged=[], seconds=[])
    for pair in trials:
        start = time.perf_counter()
        found = method(pair.source, pair.edited)
        result.seconds.append(time.perf_counter() - start)
        result.ious.append(max((b.iou(pair.box) for b in found), default=0.0))
        result.clean.append(all(_centred_near(b, pair.box) for b in found))
        result.unchanged.append(not method(pair.source, pair.unchanged))
    return result


def _centred_near(found: Box, box: Box) -> bool:
    x, y = (found.x1 + found.x2) / 2, (found.y1 + found.y2) / 2
    near = box.grow(CLEAN_PX)
    return near.x1 <= x <= near.x2 and near.y1 <= y <= near.y2


def speed(photo: RGB, seed: int) -> list[list[str]]:
    """Time of `find_differences` at one large size, in units of SSIM's, best of three each."""
    resized = cv2.resize(photo, (SPEED_PX, SPEED_PX), interpolation=cv2.INTER_CUBIC)
    large = np.asarray(resized, np.uint8)
    rows = []
    for kind in DEGRADE_KINDS:
        edited = degrade(large, kind, np.random.default_rng(seed)).copy()
        edited[900:960, 700:780] = (200, 40, 40)
        ours_s, ssim_s = (_best_of_three(m, large, edited) for m in (ours, ssim))
        rows.append([kind, f"{ours_s:.3f}", f"{ssim_s:.3f}", f"{ours_s / ssim_s:.2f}"])
    return rows


def _best_of_three(method: Method, source: RGB, edited: RGB) -> float:
    times = []
    for _ in range(3):
        start = time.perf_counter()
        method(source, edited)
        times.append(time.perf_counter() - start)
    return min(times)


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A Markdown table."""
    for cells in (head, ["---"] * len(head), *rows):
        print("| " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """Both tables on standard output."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=60, help="a degradation")
    parser.add_argument("--photos", type=Path, metavar="FILE.jsonl")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--odiff", default="odiff", metavar="PROGRAM")
    given = parser.parse_args()
    photos = photographs(given.photos)
    with tempfile.TemporaryDirectory() as folder:
        methods: dict[str, Method] = {"find_differences": ours, "absdiff > 30": absdiff, SSIM: ssim}
        if shutil.which(given.odiff):
            methods["odiff"] = odiff(given.odiff, Path(folder))
        else:
            print(f"{given.odiff!r} is not installed: its rows are left out\n")
        rows = []
        for kind in DEGRADE_KINDS:
            trials = list(pairs(photos, kind, given.pairs, given.seed))
            tallies = {name: tally(method, trials) for name, method in methods.items()}
            ssim_seconds = statistics.median(tallies[SSIM].seconds)
            rows += [[kind, name, *t.row(ssim_seconds)] for name, t in tallies.items()]
        print(f"{given.pairs} pairs a row, {len(photos)} photographs, seed {given.seed}\n")
        print_table(["degradation", "method", "hit", "clean", "unchanged", "IoU", "time"], rows)
    print(f"\n{SPEED_PX}x{SPEED_PX}, seconds\n")
    print_table(["degradation", "find_differences", "SSIM", "ratio"], speed(photos[0], given.seed))


if __name__ == "__main__":
    main()
