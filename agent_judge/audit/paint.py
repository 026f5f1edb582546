"""Pixel edits that a plant is made of: recolour, fill, smear, paste, restyle.

Pure functions: uint8 RGB in, a new uint8 RGB out, nothing changed outside the mask (restyle apart).
A mask is a boolean array of the picture's height and width.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from agent_judge.records import Box

RGB = NDArray[np.uint8]
Mask = NDArray[np.bool_]
Colour = tuple[int, int, int]


def polygon_mask(points_xy: list[tuple[float, float]], size_wh: tuple[int, int]) -> Mask:
    """The pixels inside a polygon given in pixels of a picture of `size_wh`."""
    width, height = size_wh
    canvas = np.zeros((height, width), np.uint8)
    cv2.fillPoly(canvas, [np.round(np.array(points_xy)).astype(np.int32)], 1)
    return canvas > 0


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
    lab = cv2.cvtColor(image.astype(np.float32) / 255, cv2.COLOR_RGB2Lab)
    swatch = np.array([[colour]], np.float32) / 255
    goal = cv2.cvtColor(swatch, cv2.COLOR_RGB2Lab)[0, 0]
    mean = lab[mask].mean(0)
    shift = (goal[0] - mean[0]) * lightness_pull
    lightness = np.clip(lab[..., 0] + shift, 0, 100)
    # Highlights and deep shadows hold little colour in a photograph.
    chroma = np.clip(np.minimum(lightness, 100 - lightness) / 20, 0.25, 1)
    painted = np.dstack([lightness, goal[1] * chroma, goal[2] * chroma]).astype(np.float32)
    return blend(image, cv2.cvtColor(painted, cv2.COLOR_Lab2RGB) * 255.0, mask)


def fill(image: RGB, mask: Mask, grain_from_xy: tuple[int, int]) -> RGB:
    """The masked part replaced by its surroundings: what a clean removal leaves.

    Tone comes from the mask's rim (Navier-Stokes inpainting), grain from the same picture
    `grain_from_xy` pixels away; another offset gives another, equally right fill.
    """
    hole = cv2.dilate(mask.astype(np.uint8), np.ones((3, 3), np.uint8))
    rough = cv2.inpaint(np.ascontiguousarray(image), hole, 3, cv2.INPAINT_NS)
    tone = cv2.GaussianBlur(rough.astype(np.float32), (0, 0), 2)
    dx, dy = grain_from_xy
    moved = np.roll(image.astype(np.float32), (-dy, -dx), axis=(0, 1))
    return blend(image, tone + moved - cv2.GaussianBlur(moved, (0, 0), 4), mask)


def clone(image: RGB, mask: Mask, from_xy: tuple[int, int]) -> RGB:
    """The masked part replaced by what lies `from_xy` pixels away in the same picture."""
    dx, dy = from_xy
    moved = np.roll(image, (-dy, -dx), axis=(0, 1))
    return blend(image, moved.astype(np.float32), mask)


def smear(image: RGB, mask: Mask, sigma_px: float, *, of: Mask | None = None) -> RGB:
    """The masked part as a blur of itself, or of the pixels `of`: texture and detail go.

    With `of` what the mask holds is wiped out by that material (letters by the cloth around them).
    """
    weight = (mask if of is None else of).astype(np.float32)
    total = cv2.GaussianBlur(image.astype(np.float32) * weight[..., None], (0, 0), sigma_px)
    share = cv2.GaussianBlur(weight, (0, 0), sigma_px)[..., None]
    return blend(image, total / np.maximum(share, 1e-3), mask)


def restyle(image: RGB, *, levels: int = 5) -> RGB:
    """The whole picture as a flat painting: few tones, dark outlines, stronger colours."""
    smooth = image
    for _ in range(3):
        smooth = cv2.bilateralFilter(smooth, 9, 60, 9).astype(np.uint8)
    hsv = cv2.cvtColor(smooth, cv2.COLOR_RGB2HSV).astype(np.float32)
    step = 256 / levels
    hsv[..., 2] = np.floor(hsv[..., 2] / step) * step + step / 2
    hsv[..., 1] = np.clip(hsv[..., 1] * 1.5 + 30, 0, 255)
    flat = cv2.cvtColor(hsv.astype(np.uint8), cv2.COLOR_HSV2RGB).astype(np.float32)
    grey = cv2.cvtColor(smooth, cv2.COLOR_RGB2GRAY)
    outline = cv2.adaptiveThreshold(grey, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, 9, 5)
    return np.where(outline[..., None] > 0, flat, flat * 0.15).astype(np.uint8)
