"""Plants an exam: a manifest of edited pictures whose right IF and VC levels are known.

One item is an instruction on one source picture; its rows are different outcomes of it. An outcome
is what became of the target (task.Plant) and of the rest (Rest), seen through what an editing
model's re-rendering does to the whole picture (Degradation). Same photographs, same seed: the same
exam, byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import cv2
import numpy as np
from PIL import Image

from agent_judge.audit import collapse, paint
from agent_judge.audit.anomalies import add_anomalies
from agent_judge.audit.degrade import degrade
from agent_judge.audit.object_tasks import (
    color_task,
    material_task,
    removal_task,
    replacement_task,
)
from agent_judge.audit.paint import RGB
from agent_judge.audit.photographs import Photograph, Scene, builtin_photographs, load_scene
from agent_judge.audit.prop_tasks import count_task, ocr_task, pair_task, shape_task
from agent_judge.audit.props import Shares
from agent_judge.audit.task import IF_LEVEL, Builder, Plant, Task
from agent_judge.errors import InputError
from agent_judge.records import Box
from agent_judge.stats.size import size_bin

Rest = Literal["clean", "one", "several", "restyled", "other scene"]
"""What became of everything but the target."""
Degradation = Literal["none", "jpeg", "latent", "shift", "zoom", "tone", "resize"]
BY = "planted"
"""Name of the labeller in the manifest."""
BUILDERS: tuple[Builder, ...] = (
    color_task, material_task, removal_task, replacement_task,
    count_task, ocr_task, shape_task, pair_task,
)  # fmt: skip
DEGRADATIONS: tuple[Degradation, ...] = (
    "none", "jpeg", "latent", "shift", "zoom", "tone", "resize",
)  # fmt: skip
SIZES: tuple[Shares, ...] = ((0.0005, 0.0007), (0.0007, 0.008), (0.008, 0.1))
"""Wanted shares of the picture: the paper's three size bins, cut at 0.05 % and 10 %."""
SCHEDULE: tuple[tuple[Plant, Rest], ...] = (
    ("right", "clean"), ("over", "clean"), ("wrong", "clean"), ("noop", "clean"),
    ("elsewhere", "clean"), ("right", "one"), ("over", "several"), ("half", "clean"),
    ("right", "restyled"), ("wrong", "one"), ("noop", "other scene"), ("right", "several"),
    ("over", "clean"), ("wrong", "clean"), ("elsewhere", "clean"), ("noop", "restyled"),
    ("right", "other scene"), ("over", "one"), ("wrong", "several"), ("noop", "several"),
)  # fmt: skip
"""Walked in this order over the whole exam: levels 1 to 4 of both criteria come about as often."""
INSTEAD: Mapping[Plant, tuple[Plant, ...]] = {
    "half": ("elsewhere", "noop"),
    "elsewhere": ("half", "noop"),
    "over": ("right",),
    "wrong": ("right",),
    "right": (),
    "noop": (),
}
"""What is planted where a task lacks an outcome (nobody can over-edit a removal)."""
VC_LEVEL: Mapping[Rest, int] = {
    "clean": 4, "one": 3, "several": 2, "restyled": 1, "other scene": 1,
}  # fmt: skip
ROWS_PER_ITEM = 4
TRIES = 4
MAX_MISSES = 200
OTHER_STYLE = 14.0
"""Mean Lab distance from which a restyled picture is another style to everybody."""
KEPT_PX = 6
"""In a collapsed scene this much around a kept target is kept with it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Row:
    """An edited picture with its levels."""

    picture: RGB
    plant: Plant
    rest: Rest
    degradation: Degradation
    level_if: int
    level_vc: int
    why: str


def plant_exam(
    folder: Path,
    *,
    n_rows: int,
    seed: int,
    photographs: Sequence[Photograph] | None = None,
) -> Path:
    """Writes an exam into a folder and returns its manifest.

    Args:
        folder: where pictures and `manifest.jsonl` go; made when missing.
        n_rows: edited pictures to make.
        seed: of everything that is drawn; another seed is another exam of the same kind.
        photographs: to plant in; the built-in ones when None.

    Raises:
        InputError: the photographs have no room for the edits.
        PictureError: a photograph cannot be read.
    """
    if n_rows < 1:
        raise InputError(f"an exam needs at least one row, got {n_rows}")
    folder.mkdir(parents=True, exist_ok=True)
    lines: list[str] = []
    for item in _items(tuple(photographs or builtin_photographs()), seed):
        lines += _write(folder, item, list(_rows(item))[: n_rows - len(lines)])
        if len(lines) == n_rows:
            break
    else:
        raise InputError("the photographs have no room for the edits; give more or larger ones")
    manifest = folder / "manifest.jsonl"
    manifest.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return manifest


@dataclass(frozen=True, kw_only=True, eq=False)
class Item:
    """A task in a scene, with what is needed to make its rows."""

    number: int
    task: Task
    scene: Scene
    other: Scene
    """Another photograph: what a collapsed scene may become."""
    rng: np.random.Generator


def _items(photographs: tuple[Photograph, ...], seed: int) -> Iterator[Item]:
    """Items without end, until nothing fits any more."""
    number = misses = 0
    scene_of = lru_cache(maxsize=16)(load_scene)
    while misses < MAX_MISSES:
        rng = np.random.default_rng([seed, number, misses])
        turn, place = divmod(number + misses, len(photographs))
        order = np.random.default_rng([seed, turn]).permutation(len(photographs))
        scene = scene_of(photographs[order[place]])
        builder = BUILDERS[(number + misses) % len(BUILDERS)]
        task = _clear_task(builder, scene, number, rng)
        if task is None:
            misses += 1
            continue
        other = scene_of(photographs[order[place - 1]])
        yield Item(number=number, task=task, scene=scene, other=other, rng=rng)
        number, misses = number + 1, 0


def _clear_task(
    builder: Builder, scene: Scene, number: int, rng: np.random.Generator
) -> Task | None:
    """A task of the wanted size, or of the next larger one where none is clear."""
    for shares in SIZES[number % len(SIZES) :]:
        for _ in range(TRIES):
            task = builder(scene, shares, rng)
            if task is not None and task.is_clear():
                return task
    return None


def _rows(item: Item) -> Iterator[Row]:
    """The item's share of the schedule, as far as its task has those outcomes."""
    seen: set[tuple[Plant, Rest]] = set()
    for k in range(ROWS_PER_ITEM):
        index = item.number * ROWS_PER_ITEM + k
        wanted, rest = SCHEDULE[index % len(SCHEDULE)]
        plant = next(p for p in (wanted, *INSTEAD[wanted]) if p in item.task.outcomes)
        row = None if (plant, rest) in seen else _row(item, plant, rest, index)
        if row is not None:
            seen.add((plant, rest))
            yield row


def _row(item: Item, plant: Plant, rest: Rest, index: int) -> Row | None:
    outcome = item.task.outcomes[plant]
    apart = () if outcome.touched is None else (paint.mask_box(outcome.touched),)
    changed = _with_rest(item, outcome.picture, rest, apart)
    if changed is None:
        return None
    picture, what = changed
    degradation = DEGRADATIONS[index % len(DEGRADATIONS)]
    return Row(
        picture=_degraded(picture, degradation, item.rng),
        plant=plant,
        rest=rest,
        degradation=degradation,
        level_if=IF_LEVEL[plant],
        level_vc=VC_LEVEL[rest] - (len(apart) if VC_LEVEL[rest] > 2 else 0),
        why="; ".join((outcome.why, *what)),
    )


def _with_rest(
    item: Item, picture: RGB, rest: Rest, apart: Sequence[Box]
) -> tuple[RGB, tuple[str, ...]] | None:
    if rest == "clean":
        return picture, ()
    if rest in ("one", "several"):
        n = 1 if rest == "one" else int(item.rng.integers(2, 5))
        return add_anomalies(picture, item.scene, n, [*item.task.boxes, *apart], item.rng)
    everywhere = np.ones(picture.shape[:2], bool)
    if rest == "restyled":
        fallen, what = _restyled(picture, item.rng)
    else:
        fallen, what = collapse.other_place(picture, item.other.picture), "the rest is elsewhere"
        if paint.visible_change(picture, fallen, everywhere, texture=False) < OTHER_STYLE:
            return None  # lawn instead of gravel, grey both: not everybody would see it
    size_wh = item.scene.size_wh
    kept = np.logical_or.reduce(
        [paint.box_mask(box.grow(KEPT_PX).clip(size_wh) or box, size_wh) for box in item.task.boxes]
    )
    return paint.blend(fallen, picture.astype(np.float32), kept), (what,)


def _restyled(picture: RGB, rng: np.random.Generator) -> tuple[RGB, str]:
    """The picture in the first of some styles, in random order, that changes it for everybody."""
    everywhere = np.ones(picture.shape[:2], bool)
    for i in rng.permutation(len(collapse.STYLES)):
        name, style = collapse.STYLES[i]
        fallen = style(picture)
        if paint.visible_change(picture, fallen, everywhere, texture=True) > OTHER_STYLE:
            break
    return fallen, f"the rest became {name}"


def _degraded(picture: RGB, degradation: Degradation, rng: np.random.Generator) -> RGB:
    if degradation != "resize":
        return degrade(picture, degradation, rng)
    factor = float(rng.choice([rng.uniform(0.75, 0.95), rng.uniform(1.05, 1.35)]))
    size_wh = (round(picture.shape[1] * factor), round(picture.shape[0] * factor))
    how = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(picture, size_wh, interpolation=how), np.uint8)


def _write(folder: Path, item: Item, rows: Sequence[Row]) -> list[str]:
    """Writes the pictures of an item and returns its lines of the manifest."""
    task, name = item.task, f"item{item.number:04d}"
    _save(task.source, folder / f"{name}_source.png")
    _save(task.reference, folder / f"{name}_reference.png")
    common = {
        "item": name,
        "editor": BY,
        "source": f"{name}_source.png",
        "reference": f"{name}_reference.png",
        "instruction": task.instruction,
        "type": task.type,
        "targets": list(task.targets),
        "boxes": [list(box.xyxy) for box in task.boxes],
        "photograph": item.scene.id,
        "size_bin": size_bin(_area_pct(task.boxes, item.scene.size_wh)),
    }
    lines = []
    for k, row in enumerate(rows):
        _save(row.picture, folder / f"{name}_{k}.png")
        label = {"by": BY, "IF": row.level_if, "VC": row.level_vc, "why": row.why}
        own = {
            "id": f"{name}_{k}",
            "edited": f"{name}_{k}.png",
            "labels": [label],
            "plant": row.plant,
            "rest": row.rest,
            "degradation": row.degradation,
        }
        lines.append(json.dumps({**own, **common}, ensure_ascii=False))
    return lines


def _save(picture: RGB, path: Path) -> None:
    Image.fromarray(picture).save(path, compress_level=3)


def _area_pct(boxes: Sequence[Box], size_wh: tuple[int, int]) -> float:
    masks = [paint.box_mask(box, size_wh) for box in boxes]
    return 100 * float(np.logical_or.reduce(masks).mean())
