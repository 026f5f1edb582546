"""Changes that nobody asked for: things added, removed, recoloured or pasted over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agent_judge.audit import motifs, paint
from agent_judge.audit.colours import COLOURS, colour_name, pick_colour
from agent_judge.audit.paint import RGB, Mask
from agent_judge.audit.photographs import Scene
from agent_judge.audit.props import KINDS, Shares, a_, place, side_px
from agent_judge.audit.task import VISIBLE
from agent_judge.records import Box

ANOMALY_SHARES: Shares = (0.0012, 0.012)
"""Share of the picture that an anomaly covers: small, and still seen by whoever looks closely."""
MIN_ANOMALY_PX = 18
REACH_SHARE = 0.05
"""Anomalies keep this share of the longer side apart, so that nobody counts two as one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Anomaly:
    """One change in a picture."""

    picture: RGB
    mask: Mask
    what: str


def add_anomalies(
    picture: RGB, scene: Scene, n: int, avoid: Sequence[Box], rng: np.random.Generator
) -> tuple[RGB, tuple[str, ...]] | None:
    """The picture with `n` anomalies apart from each other and from `avoid`, and what they are.

    None where the picture has no room for them.
    """
    reach = REACH_SHARE * max(picture.shape[:2])
    taken = [box.grow(reach) for box in avoid]
    done: list[str] = []
    for _ in range(15 * n):
        if len(done) == n:
            break
        anomaly = _anomaly(picture, scene, taken, rng)
        if anomaly is None or not _is_seen(picture, anomaly):
            continue
        picture = anomaly.picture
        done.append(anomaly.what)
        taken.append(paint.mask_box(anomaly.mask).grow(reach))
    return (picture, tuple(done)) if len(done) == n else None


def _is_seen(picture: RGB, anomaly: Anomaly) -> bool:
    change = paint.visible_change(picture, anomaly.picture, anomaly.mask, texture=False)
    return change >= VISIBLE


def _anomaly(
    picture: RGB, scene: Scene, taken: Sequence[Box], rng: np.random.Generator
) -> Anomaly | None:
    free = [t for t in scene.things if all(t.box.iou(box) == 0 for box in taken)]
    lost = [t.box for t in free if _covers(t.box, picture, ANOMALY_SHARES)]
    kind = str(rng.choice(["added", "added", "recoloured", "recoloured", "pasted", "lost"]))
    if kind == "lost" and lost:
        return _lost(picture, lost[int(rng.integers(len(lost)))], rng)
    outlined = [t for t in free if t.mask is not None and _covers(t.box, picture, (0.001, 0.04))]
    if kind == "recoloured" and outlined:
        thing = outlined[int(rng.integers(len(outlined)))]
        assert thing.mask is not None
        return _recoloured(picture, thing.mask, f"the {thing.name or 'object'}", rng)
    side = max(MIN_ANOMALY_PX, side_px(picture, ANOMALY_SHARES, rng))
    box = place(picture, (side, side), taken, rng)
    if box is None:
        return None
    if kind == "added":
        return _added(picture, box, rng)
    ellipse = paint.ellipse_mask(box, (picture.shape[1], picture.shape[0]))
    if kind == "recoloured":
        return _recoloured(picture, ellipse, "a patch", rng)
    return _pasted(picture, ellipse, rng)


def _covers(box: Box, picture: RGB, shares: Shares) -> bool:
    return shares[0] <= box.area / picture[..., 0].size <= shares[1]


def _added(picture: RGB, box: Box, rng: np.random.Generator) -> Anomaly:
    size_wh = (picture.shape[1], picture.shape[0])
    kind = str(rng.choice(list(KINDS)))
    colour = pick_colour(picture, paint.box_mask(box, size_wh), rng)
    motif = KINDS[kind](COLOURS[colour][int(rng.integers(3))])
    mask = motifs.motif_mask(motif, box, size_wh)
    return Anomaly(
        picture=motifs.draw(picture, motif, box),
        mask=mask,
        what=f"{a_(f'{colour} {kind}')} appeared",
    )


def _recoloured(picture: RGB, mask: Mask, what: str, rng: np.random.Generator) -> Anomaly | None:
    colour = pick_colour(picture, mask, rng)
    painted = paint.recolor(
        picture, mask, COLOURS[colour][int(rng.integers(3))], lightness_pull=0.8
    )
    if colour_name(painted, mask) != colour:
        return None
    return Anomaly(picture=painted, mask=mask, what=f"{what} turned {colour}")


def _pasted(picture: RGB, mask: Mask, rng: np.random.Generator) -> Anomaly:
    height, width = mask.shape
    by = (int(rng.integers(width // 4, 3 * width // 4)), int(rng.integers(0, height)))
    return Anomaly(
        picture=paint.clone(picture, mask, by), mask=mask, what="a patch shows something else"
    )


def _lost(picture: RGB, box: Box, rng: np.random.Generator) -> Anomaly:
    mask = paint.box_mask(box, (picture.shape[1], picture.shape[0]))
    by = (int(box.width) + 9, 0) if rng.random() < 0.5 else (0, int(box.height) + 9)
    return Anomaly(picture=paint.fill(picture, mask, by), mask=mask, what="an object is gone")
