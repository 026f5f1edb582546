"""Two pictures compared in the frame of the softer one.

Which picture is called the source must not matter: the sharper one is always carried over to the
softer one, so that the same pair gives the same patches either way round.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from agent_judge.records import Box
from agent_judge.tools.base import RGB
from agent_judge.tools.evidence import weigh
from agent_judge.tools.planes import Mask, Matrix, Plane, covered, stride, whole_blocks
from agent_judge.tools.regions import Patch, find_patches
from agent_judge.tools.registration import Registration, frame_onto_frame, register
from agent_judge.tools.remarks import grid_period
from agent_judge.tools.residual import Tone, explain, lay_over, on_indices

MAX_PIXELS = 12_000_000
"""Larger pictures are compared reduced to this many pixels."""
COLLAPSE_LAB = 20.0
"""Distance in Lab above which a blurred pixel counts as changed whatever the noise."""
_MARGIN_PX = 4
"""Kept from masks and from what only one picture shows."""
_RIM_PX = 1
"""At a picture's own rim (at half size) smoothing has half the pixels: evidence counts half."""
_ABSOLUTE_PIXELS = 100_000
_NOISE_PIXELS = 200_000


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What was found, in the frame of the softer picture."""

    patches: tuple[Patch, ...]
    """Strongest first, fringes last; in pixels of that frame reduced by `reduction`."""
    omitted: int
    """Patches that were only counted."""
    changed_fraction: float
    """Share of the compared pixels in a patch, 0 to 1."""
    absolute_fraction: float
    """Share of the compared pixels farther than `COLLAPSE_LAB` apart, 0 to 1."""
    registration: Registration
    """Sharper -> softer."""
    reduction: Matrix
    """3x3: frame of the softer picture -> frame of the patches."""
    tone: Tone
    """Sharper -> softer."""
    sharpness: float
    """Contrast of fine detail of the softer picture in units of the sharper one's."""
    grid_px: int | None
    """Period of a grid that only one of the pictures has."""
    noise_level: float
    """Root mean square of the remainder of luma outside the patches, in grey levels."""


def is_sharper(first: RGB, second: RGB) -> bool:
    """Whether `first` shows more than `second`: by size, then detail, then bytes as a tie-break."""
    keys = [(p.shape[0] * p.shape[1], p.shape[0], _detail(p)) for p in (first, second)]
    if keys[0] == keys[1]:
        return first.tobytes() > second.tobytes()
    return keys[0] > keys[1]


def _detail(pixels: RGB) -> float:
    """Mean absolute curvature of the green channel."""
    green = np.ascontiguousarray(pixels[..., 1])
    return float(cv2.norm(cv2.Laplacian(green, cv2.CV_16S), cv2.NORM_L1)) / green.size


def compare(sharp: RGB, soft: RGB, masked: tuple[Mask, Mask], *, most: int) -> Comparison:
    """The patches of `soft` that `sharp` does not explain.

    Args:
        sharp: uint8 RGB, shape (H, W, 3).
        soft: The same of the other picture, of any size.
        masked: Pixels of each that must be left out, shapes (H, W).
        most: Patches to outline; the rest is only counted.
    """
    size_wh = _reduced_size(soft)
    reduction = frame_onto_frame(soft.shape, size_wh[::-1])
    greys = [np.asarray(cv2.cvtColor(p, cv2.COLOR_RGB2GRAY), np.uint8) for p in (sharp, soft)]
    registration = register(greys[0], greys[1], *masked)
    motions = (reduction @ registration.matrix, reduction)
    moved, fixed = (lay_over(p, m, size_wh) for p, m in zip((sharp, soft), motions, strict=True))
    usable = _usable(motions, masked, size_wh)
    rest = explain(moved, fixed, usable)
    evidence = weigh(rest, usable)
    _halve_rim(evidence.strength)
    patches, omitted, pixels = find_patches(evidence, rest, most)
    near = cv2.dilate(pixels.astype(np.uint8), np.ones((15, 15), np.uint8))
    calm = usable & (np.asarray(near) == 0)
    return Comparison(
        patches=tuple(patches),
        omitted=omitted,
        changed_fraction=float(pixels.sum()) / max(1, int(usable.sum())),
        absolute_fraction=_absolute(moved, fixed, usable),
        registration=registration,
        reduction=reduction,
        tone=rest.tone,
        sharpness=rest.sharpness,
        grid_px=grid_period(rest.luma * calm),
        noise_level=_noise_level(rest.luma, calm),
    )


def _noise_level(luma: Plane, calm: Mask) -> float:
    step = stride(luma.shape, _NOISE_PIXELS)
    picked = luma[::step, ::step][calm[::step, ::step]]
    return float(np.sqrt(np.mean(picked**2))) if len(picked) else 0.0


def painted(shape: tuple[int, ...], boxes: tuple[Box, ...], boxes_wh: tuple[int, int]) -> Mask:
    """Pixels of a picture of `shape` under boxes drawn on one of size `boxes_wh`."""
    height, width = shape[:2]
    across, down = width / boxes_wh[0], height / boxes_wh[1]
    mask = np.zeros((height, width), bool)
    for box in boxes:
        scaled = Box(box.x1 * across, box.y1 * down, box.x2 * across, box.y2 * down)
        part = scaled.outward().clip((width, height))
        if part is not None:
            x1, y1, x2, y2 = map(int, part.xyxy)
            mask[y1:y2, x1:x2] = True
    return mask


def _reduced_size(pixels: RGB) -> tuple[int, int]:
    height, width = pixels.shape[:2]
    factor = min(1.0, (MAX_PIXELS / (height * width)) ** 0.5)
    return max(1, round(width * factor)), max(1, round(height * factor))


def _usable(
    motions: tuple[Matrix, Matrix], masked: tuple[Mask, Mask], size_wh: tuple[int, int]
) -> Mask:
    """Pixels that both pictures show, a little away from masks and from the other's frame."""
    usable = np.ones((size_wh[1], size_wh[0]), np.uint8)
    for mask, motion in zip(masked, motions, strict=True):
        usable &= _shown(mask, motion, size_wh)
    if usable.all():
        return usable > 0
    around = (_MARGIN_PX,) * 4
    padded = cv2.copyMakeBorder(usable, *around, cv2.BORDER_REPLICATE)
    side = 2 * _MARGIN_PX + 1
    shrunk = np.asarray(cv2.erode(padded, np.ones((side, side), np.uint8)))
    return shrunk[_MARGIN_PX:-_MARGIN_PX, _MARGIN_PX:-_MARGIN_PX] > 0


def _shown(masked: Mask, motion: Matrix, size_wh: tuple[int, int]) -> NDArray[np.uint8]:
    """1 where a frame of `size_wh` shows a picture's unmasked pixels under `motion`."""
    if masked.any():
        seen = (~masked).view(np.uint8)
        shown = cv2.warpAffine(seen, on_indices(motion), size_wh, flags=cv2.INTER_NEAREST)
        return np.asarray(shown, np.uint8)
    height, width = masked.shape
    corners = motion @ np.array([[0, width, width, 0], [0, 0, height, height], [1, 1, 1, 1]], float)
    shown = np.zeros((size_wh[1], size_wh[0]), np.uint8)
    return np.asarray(
        cv2.fillConvexPoly(shown, np.rint(corners[:2].T).astype(np.int32), 1), np.uint8
    )


def _halve_rim(strength: Plane) -> None:
    """Halve the evidence at the frame's rim, in place."""
    if min(strength.shape) > 8 * _RIM_PX:
        inner = strength[_RIM_PX:-_RIM_PX, _RIM_PX:-_RIM_PX].copy()
        strength *= 0.5
        strength[_RIM_PX:-_RIM_PX, _RIM_PX:-_RIM_PX] = inner


def _absolute(moved: RGB, fixed: RGB, usable: Mask) -> float:
    block = stride(usable.shape, _ABSOLUTE_PIXELS)
    labs = []
    for pixels in (moved, fixed):
        means = cv2.resize(*whole_blocks(pixels, block), interpolation=cv2.INTER_AREA)
        blurred = cv2.blur(means, (5, 5)).astype(np.float32) / 255
        labs.append(cv2.cvtColor(blurred, cv2.COLOR_RGB2Lab))
    seen = covered(*whole_blocks(usable, block))
    far = np.linalg.norm(labs[0] - labs[1], axis=2) > COLLAPSE_LAB
    return float(far[seen].mean()) if seen.any() else 0.0
