"""One planted small edit, and what an editing model's re-rendering does to a picture.

Pure functions of a picture and a generator: the audit and `benchmarks/difference.py` plant with
the same hand. Nothing here depends on what was planted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import cv2
import numpy as np
from numpy.typing import NDArray

RGB = NDArray[np.uint8]
PlantKind = Literal["recolor", "remove", "paste"]
DegradeKind = Literal["none", "jpeg", "latent", "shift", "zoom", "tone"]
PLANT_KINDS: tuple[PlantKind, ...] = get_args(PlantKind)
DEGRADE_KINDS: tuple[DegradeKind, ...] = get_args(DegradeKind)

MIN_CONTRAST = 15.0
"""Mean change of the most changed channel, in grey levels, under which an edit does not count."""
_BORDER_PX = 8
"""An edit keeps this far from the border, so that a shifted picture still shows it."""
_JPEG_QUALITY = 80


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A picture with one edit in it."""

    pixels: RGB
    box_xyxy: tuple[int, int, int, int]
    """The edit's bounding box, half-open pixels."""
    mask: NDArray[np.bool_]
    """Shape (H, W): the edited pixels, an ellipse."""


def plant(picture: RGB, area_fraction: float, kind: PlantKind, rng: np.random.Generator) -> Planted:
    """The picture with an ellipse at a random place recoloured, removed or pasted over.

    Args:
        picture: uint8 RGB, shape (H, W, 3), large enough for the edit and 16 px around it.
        area_fraction: Area of the edit's bounding box as a share of the picture.
        kind: `recolor` turns the hue and saturates, `remove` inpaints from the rim, `paste` copies
            another part of the picture over it.
        rng: Where and how; the picture given the generator's state is determined.
    """
    height, width = picture.shape[:2]
    side = (area_fraction * height * width) ** 0.5
    stretch = rng.uniform(0.6, 1.6) ** 0.5
    box_w, box_h = max(6, int(side * stretch)), max(6, int(side / stretch))
    x = int(rng.integers(_BORDER_PX, width - box_w - _BORDER_PX))
    y = int(rng.integers(_BORDER_PX, height - box_h - _BORDER_PX))
    ellipse = np.zeros((height, width), np.uint8)
    centre, axes = (x + box_w // 2, y + box_h // 2), (box_w // 2, box_h // 2)
    cv2.ellipse(ellipse, centre, axes, 0, 0, 360, 1, -1)
    mask = ellipse > 0
    if kind == "recolor":
        pixels = _recolor(picture, mask, rng)
    elif kind == "remove":
        filled = cv2.inpaint(np.ascontiguousarray(picture), ellipse, 5, cv2.INPAINT_TELEA)
        pixels = np.asarray(filled, np.uint8)
    else:
        pixels = _paste(picture, mask, (x, y, box_w, box_h), rng)
    return Planted(pixels=pixels, box_xyxy=(x, y, x + box_w, y + box_h), mask=mask)


def contrast(before: RGB, after: RGB, mask: NDArray[np.bool_]) -> float:
    """Mean change of the most changed channel inside `mask`, in grey levels, 0 to 255."""
    change = np.abs(after.astype(np.int16) - before.astype(np.int16)).max(axis=2)
    return float(change[mask].mean())


def degrade(picture: RGB, kind: DegradeKind, rng: np.random.Generator) -> RGB:
    """The picture as a whole re-rendered: no region of it is singled out.

    Args:
        picture: uint8 RGB, shape (H, W, 3).
        kind: `none` changes nothing. `jpeg` saves at quality 80. `latent` is an autoencoder's round
            trip: detail lost, a slowly varying tint, noise where there is texture. `shift` moves by
            up to 2.5 px and `zoom` scales by up to 1.5 %, both saved as JPEG. `tone` changes gain
            and offset of each channel, then `latent`.
        rng: Source of every random number.
    """
    if kind == "none":
        return picture
    if kind == "jpeg":
        return _jpeg(picture)
    if kind == "latent":
        return _latent(picture, rng)
    if kind == "tone":
        toned = picture * rng.uniform(0.94, 1.06, 3) + rng.uniform(-5, 5, 3)
        return _latent(np.clip(toned, 0, 255).astype(np.uint8), rng)
    height, width = picture.shape[:2]
    if kind == "shift":
        dx, dy = rng.uniform(-2.5, 2.5, 2)
        matrix, interpolation = np.array([[1, 0, dx], [0, 1, dy]]), cv2.INTER_LINEAR
    else:
        factor = 1 + rng.uniform(-0.015, 0.015)
        matrix = cv2.getRotationMatrix2D((width / 2, height / 2), 0, factor)
        interpolation = cv2.INTER_CUBIC
    moved = cv2.warpAffine(
        picture, matrix, (width, height), flags=interpolation, borderMode=cv2.BORDER_REFLECT
    )
    return _jpeg(np.asarray(moved, np.uint8))


def _recolor(picture: RGB, mask: NDArray[np.bool_], rng: np.random.Generator) -> RGB:
    hsv = cv2.cvtColor(picture, cv2.COLOR_RGB2HSV).astype(np.int64)
    hsv[..., 0] = (hsv[..., 0] + rng.integers(40, 140)) % 180
    hsv[..., 1] = np.clip(hsv[..., 1] + 90, 0, 255)
    recolored = cv2.cvtColor(hsv.astype(np.uint8), cv2.COLOR_HSV2RGB)
    return np.where(mask[..., None], recolored, picture).astype(np.uint8)


def _paste(
    picture: RGB, mask: NDArray[np.bool_], box_xywh: tuple[int, ...], rng: np.random.Generator
) -> RGB:
    x, y, box_w, box_h = box_xywh
    height, width = picture.shape[:2]
    from_x, from_y = int(rng.integers(0, width - box_w)), int(rng.integers(0, height - box_h))
    patch = picture[from_y : from_y + box_h, from_x : from_x + box_w]
    pixels = picture.copy()
    part = mask[y : y + box_h, x : x + box_w]
    pixels[y : y + box_h, x : x + box_w][part] = patch[part]
    return pixels


def _jpeg(picture: RGB) -> RGB:
    bgr = np.ascontiguousarray(picture[..., ::-1])
    _, file = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
    decoded = np.asarray(cv2.imdecode(file, cv2.IMREAD_COLOR), np.uint8)
    return np.ascontiguousarray(decoded[..., ::-1])


def _latent(picture: RGB, rng: np.random.Generator) -> RGB:
    height, width = picture.shape[:2]
    size_wh = (width, height)
    small = cv2.resize(picture, (int(width * 0.7), int(height * 0.7)), interpolation=cv2.INTER_AREA)
    base = cv2.resize(small, size_wh, interpolation=cv2.INTER_CUBIC).astype(np.float32)
    knots = rng.normal(0, 3, (height // 32 + 2, width // 32 + 2, 3)).astype(np.float32)
    tint = cv2.resize(knots, size_wh, interpolation=cv2.INTER_CUBIC)
    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.float32)
    texture = cv2.GaussianBlur(np.abs(cv2.Laplacian(grey, cv2.CV_32F)), (0, 0), 2)
    grain = rng.normal(0, 1, (height, width, 3)).astype(np.float32)
    noise = cv2.GaussianBlur(grain, (0, 0), 1) * 1.25 * np.minimum(texture, 12)[..., None]
    return np.clip(base + tint + noise, 0, 255).astype(np.uint8)
