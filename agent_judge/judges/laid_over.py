"""Crops of source, edited picture and reference laid over each other, ready to be compared.

The edited crop comes from a picture that was rendered anew: a little moved, toned and softened.
All three are undone, as far as the surroundings of the target show them, before anything is
measured; what they leave is the noise that a change must exceed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from agent_judge.records import Box
from agent_judge.tools.base import RGB
from agent_judge.tools.registration import register
from agent_judge.tools.residual import apply_tone, fit_tone, lay_over

Plane = NDArray[np.float32]
"""float32, shape (h, w)."""
Planes = NDArray[np.float32]
"""float32, shape (h, w, 3)."""
Mask = NDArray[np.bool_]

_MAX_SIDE_PX = 512
"""Longer side to which larger crops are reduced: the target is large in them."""
_BLUR_PX = 1.2
_SOFTENINGS_PX = (0.0, 0.5, 0.7, 1.0, 1.4)
_LEAST_RING_PX = 200
"""With fewer pixels around the target nothing is learnt from them."""


@dataclass(frozen=True, kw_only=True)
class LaidOver:
    """The crops in the frame of the source's, as CIE Lab."""

    source: Planes
    """Softened as the edited one is."""
    edited: Planes
    reference: Planes | None
    target: Mask
    """Inside the target boxes."""
    ring: Mask
    """The surroundings, a little away from the boxes."""
    noise: float
    """Blurred Lab distance of source and edited picture in the ring: a high ordinary value."""


def lay_crops_over(
    source: RGB, edited: RGB, reference: RGB | None, targets: Sequence[Box]
) -> LaidOver:
    """The crops laid over each other.

    Args:
        source: uint8 RGB, shape (H, W, 3).
        edited: The same window of the edited picture.
        reference: The same window of the reference, if any.
        targets: Target boxes, pixels of the crop.
    """
    factor = min(1.0, _MAX_SIDE_PX / max(source.shape[:2]))
    crops = [None if c is None else _reduced(c, factor) for c in (source, edited, reference)]
    base, other, wanted = crops
    assert base is not None
    assert other is not None
    target = _inside(targets, factor, base.shape, 0.0)
    ring = ~_inside(targets, factor, base.shape, 3.0)
    moved = _aligned(other, base, ring)
    soft = _softening(base, moved, ring)
    source_lab = to_lab(_softened(base.astype(np.float32), soft))
    edited_lab = to_lab(moved)
    reference_lab = None
    if wanted is not None:
        reference_lab = to_lab(_softened(_aligned(wanted, base, ring), soft))
    rest = distance(edited_lab, source_lab)[ring]
    noise = float(np.median(rest) * 2.5) if rest.size >= _LEAST_RING_PX else 4.0
    return LaidOver(
        source=source_lab,
        edited=edited_lab,
        reference=reference_lab,
        target=target,
        ring=ring,
        noise=noise,
    )


def to_lab(planes: Planes) -> Planes:
    """CIE Lab of RGB planes of 0 to 255."""
    clipped = np.clip(planes, 0, 255) / np.float32(255)
    return np.asarray(cv2.cvtColor(clipped, cv2.COLOR_RGB2Lab), np.float32)


def distance(first: Planes, second: Planes) -> Plane:
    """Lab distance of each pixel after a blur, the best of the shifts by one pixel."""
    a, b = (cv2.GaussianBlur(p, (0, 0), _BLUR_PX) for p in (first, second))
    padded = cv2.copyMakeBorder(b, 1, 1, 1, 1, cv2.BORDER_REPLICATE)
    height, width = a.shape[:2]
    best = np.full((height, width), np.inf, np.float32)
    for dy in range(3):
        for dx in range(3):
            shifted = padded[dy : dy + height, dx : dx + width]
            best = np.minimum(best, np.linalg.norm(a - shifted, axis=2))
    return best


def _reduced(pixels: RGB, factor: float) -> RGB:
    if factor >= 1:
        return pixels
    height, width = pixels.shape[:2]
    size_wh = (max(1, round(width * factor)), max(1, round(height * factor)))
    return np.asarray(cv2.resize(pixels, size_wh, interpolation=cv2.INTER_AREA), np.uint8)


def _inside(boxes: Sequence[Box], factor: float, shape: tuple[int, ...], grow_px: float) -> Mask:
    mask = np.zeros(shape[:2], bool)
    for box in boxes:
        scaled = Box(*(v * factor for v in box.xyxy)).grow(grow_px).outward()
        part = scaled.clip((shape[1], shape[0]))
        if part is not None:
            x1, y1, x2, y2 = map(int, part.xyxy)
            mask[y1:y2, x1:x2] = True
    return mask


def _aligned(pixels: RGB, base: RGB, ring: Mask) -> Planes:
    """`pixels` moved and toned onto `base`."""
    if np.array_equal(pixels[ring], base[ring]):
        return pixels.astype(np.float32)
    greys: list[Any] = [
        cv2.cvtColor(p, cv2.COLOR_RGB2GRAY).astype(np.float32) for p in (pixels, base)
    ]
    nothing = np.zeros(ring.shape, bool)
    found = register(greys[0], greys[1], nothing, nothing)
    size_wh = (base.shape[1], base.shape[0])
    moved = lay_over(pixels, found.matrix, size_wh) if found.trusted else pixels.astype(np.float32)
    if int(ring.sum()) < _LEAST_RING_PX:
        return moved
    return np.asarray(apply_tone(moved, fit_tone(moved, base.astype(np.float32), ring)), np.float32)


def _softened(planes: Planes, sigma_px: float) -> Planes:
    return planes if sigma_px == 0 else np.asarray(cv2.GaussianBlur(planes, (0, 0), sigma_px))


def _softening(base: RGB, moved: Planes, ring: Mask) -> float:
    """The blur of `base` that comes nearest to `moved` in the ring."""
    if int(ring.sum()) < _LEAST_RING_PX:
        return 0.0
    grey = cv2.cvtColor(base, cv2.COLOR_RGB2GRAY).astype(np.float32)[..., None]
    wanted = cv2.cvtColor(moved, cv2.COLOR_RGB2GRAY)

    def cost(sigma_px: float) -> float:
        soft = grey if sigma_px == 0 else cv2.GaussianBlur(grey, (0, 0), sigma_px)
        return float(np.abs(soft.reshape(wanted.shape) - wanted)[ring].mean())

    return min(_SOFTENINGS_PX, key=cost)
