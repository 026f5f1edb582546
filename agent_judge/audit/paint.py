"""Pixel edits that a plant is made of: recolour, fill, clone, smear, cover.

Pure functions: uint8 RGB in, a new uint8 RGB out, nothing changed outside the mask.
A mask is a boolean array of the picture's height and width, with at least one pixel set.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from agent_judge.records import Box

RGB = NDArray[np.uint8]
Mask = NDArray[np.bool_]
Colour = tuple[int, int, int]
Floats = NDArray[np.float32]

INPAINT_SIDE_PX = 64
"""A hole is inpainted at this size at most: its tone has no finer detail, and it costs its area."""

MAX_TEXTURE_PX = 16.0
"""A blur of this size takes the texture out of anything."""
GRAIN_LEVELS = 10
"""Largest deviation, in grey levels, that counts as a surface's grain."""


def polygon_mask(points_xy: ArrayLike, size_wh: tuple[int, int]) -> Mask:
    """The pixels inside a polygon, corners of shape (n, 2) in pixels of a picture of `size_wh`."""
    width, height = size_wh
    canvas = np.zeros((height, width), np.uint8)
    cv2.fillPoly(canvas, [np.round(np.array(points_xy)).astype(np.int32)], 1)
    return canvas > 0


def ellipse_mask(box: Box, size_wh: tuple[int, int]) -> Mask:
    """The pixels of the ellipse that fills a box of a picture of `size_wh`."""
    ys, xs = np.mgrid[0 : size_wh[1], 0 : size_wh[0]]
    across = (xs + 0.5 - (box.x1 + box.x2) / 2) / (box.width / 2)
    down = (ys + 0.5 - (box.y1 + box.y2) / 2) / (box.height / 2)
    return np.asarray(across**2 + down**2 <= 1)


def box_mask(box: Box, size_wh: tuple[int, int]) -> Mask:
    """The pixels of a box of a picture of `size_wh`."""
    mask = np.zeros((size_wh[1], size_wh[0]), bool)
    mask[int(box.y1) : int(box.y2), int(box.x1) : int(box.x2)] = True
    return mask


def mask_box(mask: Mask) -> Box:
    """The smallest box around a mask, pixels of its picture.

    Raises:
        ValueError: the mask is empty.
    """
    ys, xs = np.nonzero(mask)
    if not len(xs):
        raise ValueError("the mask is empty")
    return Box(int(xs.min()), int(ys.min()), int(xs.max()) + 1, int(ys.max()) + 1)


def blend(image: RGB, painted: NDArray[np.floating], mask: Mask) -> RGB:
    """`painted` where the mask is, `image` elsewhere, with a soft edge as a lens makes it.

    The edge lies inside the mask, so pixels outside stay as they are.
    """
    alpha = mask * cv2.GaussianBlur(mask.astype(np.float32), (0, 0), 0.7)
    mixed = image + (painted - image) * alpha[..., None]
    return np.clip(np.rint(mixed), 0, 255).astype(np.uint8)


def recolor(image: RGB, mask: Mask, colour: Colour, *, lightness_pull: float = 0.6) -> RGB:
    """The masked part in another colour with its shading kept.

    Works in Lab: hue and chroma become the colour's, the mean lightness moves by `lightness_pull`
    (0 to 1) toward the colour's, and every pixel keeps its deviation from the mean lightness.
    """
    where = _window(mask, 4)
    lightness, goal = lab(image[where])[..., 0], lab(np.array([[colour]], np.uint8))[0, 0]
    lightness += (goal[0] - lightness[mask[where]].mean()) * lightness_pull
    lightness = np.clip(lightness, 0, 100)
    # Highlights and deep shadows hold little colour in a photograph.
    chroma = np.clip(np.minimum(lightness, 100 - lightness) / 20, 0.25, 1)
    painted = np.dstack([lightness, goal[1] * chroma, goal[2] * chroma]).astype(np.float32)
    return _put(image, where, cv2.cvtColor(painted, cv2.COLOR_Lab2RGB) * 255.0, mask)


def fill(image: RGB, mask: Mask, grain_from_xy: tuple[int, int]) -> RGB:
    """The masked part replaced by its surroundings: what a clean removal leaves.

    Tone comes from the mask's rim (Navier-Stokes inpainting), grain from the same picture
    `grain_from_xy` pixels away; another offset gives another, equally right fill.
    """
    where = _window(mask, 12)
    dx, dy = grain_from_xy
    moved = np.roll(image, (-dy, -dx), axis=(0, 1))[where].astype(np.float32)
    # Clipped: edges of other things are no grain.
    grain = np.clip(moved - cv2.GaussianBlur(moved, (0, 0), 2), -GRAIN_LEVELS, GRAIN_LEVELS)
    return _put(image, where, _tone(image[where], mask[where]) + grain, mask)


def clone(image: RGB, mask: Mask, from_xy: tuple[int, int]) -> RGB:
    """The masked part replaced by what lies `from_xy` pixels away in the same picture."""
    dx, dy = from_xy
    return blend(image, np.roll(image, (-dy, -dx), axis=(0, 1)).astype(np.float32), mask)


def smear(image: RGB, mask: Mask, sigma_px: float, *, of: Mask | None = None) -> RGB:
    """The masked part as a blur of itself, or of the pixels `of`: texture and detail go.

    With `of` what the mask holds is wiped out by that material (letters by the cloth around them).
    """
    where = _window(mask, int(3 * sigma_px) + 1)
    weight = (mask if of is None else of)[where].astype(np.float32)
    part = image[where].astype(np.float32) * weight[..., None]
    share = cv2.GaussianBlur(weight, (0, 0), sigma_px)[..., None]
    return _put(image, where, cv2.GaussianBlur(part, (0, 0), sigma_px) / (share + 1e-3), mask)


def smudge(before: RGB, after: RGB, box: Box, sigma_px: float) -> RGB:
    """`before` with its change to `after` as a soft cloud in `box`: nobody can tell what came."""
    where = _window(box_mask(box, (before.shape[1], before.shape[0])), 0)
    change = after[where].astype(np.float32) - before[where]
    cloud = before[where] + 1.4 * cv2.GaussianBlur(change, (0, 0), sigma_px)
    out = before.copy()
    out[where] = np.clip(np.rint(cloud), 0, 255).astype(np.uint8)
    return out


def flatten(image: RGB, mask: Mask, colour: Colour) -> RGB:
    """The masked part in one flat colour, without shading."""
    return blend(image, np.broadcast_to(np.array(colour, np.float32), image.shape), mask)


def cover(image: RGB, mask: Mask, tiles: RGB) -> RGB:
    """The masked part covered with a pattern (a picture of equal size), its shading half kept."""
    where = _window(mask, 4)
    grey = cv2.cvtColor(image[where], cv2.COLOR_RGB2GRAY).astype(np.float32)
    light = np.clip(0.5 + 0.5 * grey / max(float(grey[mask[where]].mean()), 1), 0.6, 1.3)
    return _put(image, where, tiles[where] * light[..., None], mask)


def lab(image: RGB) -> Floats:
    """CIE Lab of a picture: L 0 to 100, a and b about -128 to 127."""
    return cv2.cvtColor(image.astype(np.float32) / 255, cv2.COLOR_RGB2Lab).astype(np.float32)


def lab_around(image: RGB, mask: Mask) -> Floats:
    """Lab of the pixels in a ring around a mask, half as wide as the mask, shape (n, 3)."""
    box = mask_box(mask)
    where = _window(mask, int(max(4, min(box.width, box.height) / 2)))
    return np.asarray(lab(image[where])[~mask[where]], np.float32)


def visible_change(before: RGB, after: RGB, mask: Mask, *, texture: bool) -> float:
    """How much the masked part changed to the eye: mean Lab distance.

    Without `texture` both pictures are blurred first (by a sixth of the mask's side, 16 px at
    most): gravel replaced by other gravel is no change that a person would see.
    """
    where = _window(mask, 4)
    pair = [lab(image[where]) for image in (before, after)]
    if not texture:
        box = mask_box(mask)
        sigma = min(max(1.0, (box.width * box.height) ** 0.5 / 6), MAX_TEXTURE_PX)
        pair = [np.asarray(cv2.GaussianBlur(part, (0, 0), sigma)) for part in pair]
    return float(np.linalg.norm(pair[0] - pair[1], axis=2)[mask[where]].mean())


def _tone(part: RGB, hole: Mask) -> Floats:
    box = mask_box(hole)
    shrink = min(1.0, INPAINT_SIDE_PX / max(box.width, box.height))
    size_wh = (max(1, round(part.shape[1] * shrink)), max(1, round(part.shape[0] * shrink)))
    small = cv2.resize(part, size_wh, interpolation=cv2.INTER_AREA)
    wide = cv2.dilate(hole.astype(np.uint8), np.ones((3, 3), np.uint8))
    around = cv2.resize(wide, size_wh, interpolation=cv2.INTER_NEAREST)
    rough = cv2.inpaint(small, around, 3, cv2.INPAINT_NS).astype(np.float32)
    full_wh = (part.shape[1], part.shape[0])
    large = cv2.resize(rough, full_wh, interpolation=cv2.INTER_LINEAR)
    return cv2.GaussianBlur(large, (0, 0), 2).astype(np.float32)


def _window(mask: Mask, margin_px: int) -> tuple[slice, slice]:
    """Rows and columns around a mask: edits of a small target need not touch the whole picture."""
    height, width = mask.shape
    box = mask_box(mask).grow(margin_px).clip((width, height))
    assert box is not None  # the mask lies in its picture
    return slice(int(box.y1), int(box.y2)), slice(int(box.x1), int(box.x2))


def _put(image: RGB, where: tuple[slice, slice], painted: NDArray[np.floating], mask: Mask) -> RGB:
    out = image.copy()
    out[where] = blend(image[where], painted, mask[where])
    return out
