"""Crops of source, edited picture and reference laid over each other, ready to be compared.

The edited crop comes from a picture that was rendered anew: a little moved, toned and softened.
All three are undone, as far as the surroundings of the target show them, before anything is
measured; what they leave is the noise that a change must exceed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from agent_judge.judges.measuring.align import Mask, Planes, align, softened, softening_px
from agent_judge.records import Box
from agent_judge.tools.base import RGB

Plane = NDArray[np.float32]
"""float32, shape (h, w)."""

_MAX_SIDE_PX = 512
"""Longer side to which larger crops are reduced: the target is large in them."""
_BLUR_PX = 1.2
_CLEAR_PX = 3
"""The surroundings begin this far from the boxes: an edit's soft edge reaches over them."""
_RIM_PX = 6
"""Where all else became another scene, the target often kept a rim of this width."""
_OTHER_SCENE = 12.0
"""Noise of the surroundings from which they are no longer the source's."""


@dataclass(frozen=True, kw_only=True)
class LaidOver:
    """The crops in the frame of the source's, as CIE Lab."""

    source: Planes
    """Softened as the edited one is."""
    edited: Planes
    reference: Planes | None
    target: Mask
    """Inside the target boxes."""
    boxes: tuple[Box, ...]
    """The target boxes in pixels of these planes."""
    ring: Mask
    """The surroundings that were compared, a little away from the boxes."""
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
    base, other = _reduced(source, factor), _reduced(edited, factor)
    wanted = None if reference is None else _reduced(reference, factor)
    boxes = tuple(Box(*(v * factor for v in box.xyxy)) for box in targets)
    laid, same_scene = _laid(base, other, wanted, boxes, np.ones(base.shape[:2], bool))
    if same_scene:
        return laid
    window = _around(boxes).clip((base.shape[1], base.shape[0])) or boxes[0]
    within = tuple(
        Box(b.x1 - window.x1, b.y1 - window.y1, b.x2 - window.x1, b.y2 - window.y1) for b in boxes
    )
    cuts = [_cut(pixels, window) for pixels in (base, other, wanted)]
    assert cuts[0] is not None
    assert cuts[1] is not None
    rim = inside(within, cuts[0].shape, _RIM_PX)
    closer, _ = _laid(cuts[0], cuts[1], cuts[2], within, rim)
    return closer


def _around(boxes: Sequence[Box]) -> Box:
    """The boxes with the rim around them."""
    whole = boxes[0]
    for box in boxes[1:]:
        whole = whole.union(box)
    return whole.grow(_RIM_PX).outward()


def inside(boxes: Sequence[Box], shape: tuple[int, ...], grow_px: float = 0.0) -> Mask:
    """The pixels of a picture of `shape` inside any of the boxes, each grown by `grow_px`."""
    mask = np.zeros(shape[:2], bool)
    for box in boxes:
        part = box.grow(grow_px).outward().clip((shape[1], shape[0]))
        if part is not None:
            x1, y1, x2, y2 = map(int, part.xyxy)
            mask[y1:y2, x1:x2] = True
    return mask


def to_lab(planes: Planes) -> Planes:
    """CIE Lab of RGB planes of 0 to 255."""
    clipped = np.clip(planes, 0, 255) / np.float32(255)
    return np.asarray(cv2.cvtColor(clipped, cv2.COLOR_RGB2Lab), np.float32)


def distance(first: Planes, second: Planes) -> Plane:
    """Lab distance of each pixel after a blur, the least of the shifts by one pixel.

    The shifts forgive what is left of a half-pixel move along edges.
    """
    a, b = (cv2.GaussianBlur(p, (0, 0), _BLUR_PX) for p in (first, second))
    padded = cv2.copyMakeBorder(b, 1, 1, 1, 1, cv2.BORDER_REPLICATE)
    height, width = a.shape[:2]
    best = np.full((height, width), np.inf, np.float32)
    for dy in range(3):
        for dx in range(3):
            apart = a - padded[dy : dy + height, dx : dx + width]
            best = np.minimum(best, np.einsum("ijk,ijk->ij", apart, apart))
    return np.sqrt(best)


def _laid(
    base: RGB, other: RGB, wanted: RGB | None, boxes: tuple[Box, ...], seen: Mask
) -> tuple[LaidOver, bool]:
    """Laid over each other by the surroundings `seen`, and whether these are still the source's."""
    ring = seen & ~inside(boxes, base.shape, min(_CLEAR_PX, _RIM_PX - _CLEAR_PX))
    clear = ~inside(boxes, base.shape, _CLEAR_PX)
    right = None if wanted is None else align(wanted, base, (base,), clear).planes
    likely = [base] if right is None else [base, right.astype(np.uint8)]
    moved = align(other, base, likely, ring)
    blur = softening_px(base, moved.planes, ring)
    source, edited = to_lab(softened(base.astype(np.float32), blur)), to_lab(moved.planes)
    reference = None if right is None else to_lab(softened(right, blur))
    rest = distance(edited, source)[ring]
    noise = 2.5 * float(np.median(rest)) if rest.size else 0.0
    laid = LaidOver(
        source=source,
        edited=edited,
        reference=reference,
        target=inside(boxes, base.shape),
        boxes=boxes,
        ring=ring,
        noise=noise,
    )
    return laid, moved.plausible and noise < _OTHER_SCENE


def _reduced(pixels: RGB, factor: float) -> RGB:
    if factor >= 1:
        return pixels
    height, width = pixels.shape[:2]
    size_wh = (max(1, round(width * factor)), max(1, round(height * factor)))
    return np.asarray(cv2.resize(pixels, size_wh, interpolation=cv2.INTER_AREA), np.uint8)


def _cut(pixels: RGB | None, window: Box) -> RGB | None:
    if pixels is None:
        return None
    x1, y1, x2, y2 = map(int, window.xyxy)
    return np.ascontiguousarray(pixels[y1:y2, x1:x2])
