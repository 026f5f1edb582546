"""What is left of one picture when the other, re-rendered to look like it, is taken away.

Registration, tone and sharpness are properties of the whole picture; none of them is an edit. The
sharper picture is warped, toned and softened until it explains the other as well as such global
operations can; the rest is what evidence is made of.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from agent_judge.tools.base import RGB
from agent_judge.tools.planes import (
    Mask,
    Matrix,
    Plane,
    Planes,
    covered,
    half,
    local_contrast,
    resized,
    smooth,
    stride,
    whole_blocks,
)

_SAMPLE = 12_000
_SOFTENINGS_PX = (0.7, 1.5)
"""Sigmas of the blurs whose mixture with the picture itself imitates a resampling."""
_STRIP_PX = 128
_TONE_BLOCK_PX = 8
_TINT_BLOCK_PX = 16
_TINT_LIMIT = 10.0
"""A slowly varying tint stays within this many grey levels; more is an edit."""
_CLIPPED = 6
"""Grey levels at either end that may stand for a clipped value, after re-encoding."""
_DETAIL = 3.0
"""Local contrast in grey levels under which a place tells nothing about sharpness."""
_TUKEY = 4.685


@dataclass(frozen=True, kw_only=True)
class Tone:
    """Factor and offset on red, green and blue that carry one picture's tone to the other's."""

    gain: tuple[float, float, float] = (1.0, 1.0, 1.0)
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Grey levels."""

    def inverse(self) -> Tone:
        """The tone that leads back."""
        gain = tuple(1 / g for g in self.gain)
        offset = tuple(-o / g for g, o in zip(self.gain, self.offset, strict=True))
        return Tone(gain=(gain[0], gain[1], gain[2]), offset=(offset[0], offset[1], offset[2]))

    def predict(self, pixels: RGB, wanted: Planes) -> Planes:
        """`pixels` in that tone, clipped as the other picture was.

        Where `pixels` themselves are clipped, any value of `wanted` beyond is foreseen too.
        """
        levels = np.arange(256)[:, None] * np.array(self.gain) + np.array(self.offset)
        levels = np.clip(levels, 0, 255)
        toned = _looked_up(pixels, levels)
        if (levels[-_CLIPPED:] >= 255 - _CLIPPED).all() and (levels[:_CLIPPED] <= _CLIPPED).all():
            return toned
        highest, lowest = levels.copy(), levels.copy()
        highest[-_CLIPPED:], lowest[:_CLIPPED] = 255, 0
        return np.clip(wanted, _looked_up(pixels, lowest), _looked_up(pixels, highest))


def _looked_up(pixels: RGB, levels: NDArray[np.float64]) -> Planes:
    return np.asarray(cv2.LUT(pixels, levels.astype(np.float32)[:, None]), np.float32)


@dataclass(frozen=True, kw_only=True)
class Remainder:
    """What global operations leave unexplained."""

    luma: Plane
    """Shape (h, w), in grey levels; 0 where the pair cannot be compared."""
    luma_contrast: Plane
    """The lesser local contrast of the two pictures, at half size."""
    chroma: Planes
    """Two chromas at half size, shape (h / 2, w / 2, 2)."""
    chroma_contrast: Planes
    """The greater local contrast of each: re-encoding wipes the colour of specks out."""
    fixed_luma: Plane
    """Luma of the picture that was explained."""
    tone: Tone
    """Of the explained picture, from the other's."""
    sharpness: float
    """Contrast of fine detail of the explained picture in units of the other's."""


def lay_over(pixels: RGB, matrix: Matrix, size_wh: tuple[int, int]) -> RGB:
    """`pixels` resampled into a frame of `size_wh` under the 3x3 `matrix`."""
    height, width = pixels.shape[:2]
    factor = float(np.sqrt(abs(np.linalg.det(matrix[:2, :2]))))
    whole = np.diag([size_wh[0] / width, size_wh[1] / height, 1.0])
    if np.allclose(matrix, whole, atol=1e-9):
        if (width, height) == size_wh:
            return pixels
        how = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
        return np.asarray(cv2.resize(pixels, size_wh, interpolation=how), np.uint8)
    if factor < 0.9:
        small_wh = (max(1, round(width * factor)), max(1, round(height * factor)))
        matrix = matrix @ np.diag([width / small_wh[0], height / small_wh[1], 1.0])
        pixels = np.asarray(cv2.resize(pixels, small_wh, interpolation=cv2.INTER_AREA), np.uint8)
    warped = cv2.warpAffine(
        pixels,
        on_indices(matrix),
        size_wh,
        flags=cv2.INTER_CUBIC,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return np.asarray(warped, np.uint8)


def on_indices(matrix: Matrix) -> Matrix:
    """The motion as OpenCV's 2x3 matrix, whose coordinates are 0 at the first pixel's centre."""
    shift = matrix[:2, :2] @ np.array([0.5, 0.5]) - 0.5
    return np.column_stack([matrix[:2, :2], matrix[:2, 2] + shift])


def explain(moved: RGB, fixed: RGB, usable: Mask) -> Remainder:
    """What of `fixed` the picture `moved`, laid over it, does not explain.

    Args:
        moved: uint8 RGB, shape (h, w, 3).
        fixed: The same of the other picture, the softer of the two.
        usable: Pixels that both pictures show.
    """
    tone = fit_tone(moved, fixed, usable)
    (luma, chroma), (fixed_luma, fixed_chroma) = _split(moved, fixed, tone)
    contrasts = (local_contrast(p, 1.0, half(usable.shape)) for p in (luma, fixed_luma))
    luma_contrast = np.minimum(*contrasts)
    softened, sharpness = _softened(luma, fixed_luma, usable, luma_contrast)
    rest, contrast = _chroma_rest(chroma, fixed_chroma, usable)
    return Remainder(
        luma=_untinted(fixed_luma - softened, usable, _TINT_BLOCK_PX),
        luma_contrast=luma_contrast,
        chroma=rest,
        chroma_contrast=contrast,
        fixed_luma=fixed_luma,
        tone=tone,
        sharpness=sharpness,
    )


def _split(moved: RGB, fixed: RGB, tone: Tone) -> tuple[tuple[Plane, Planes], tuple[Plane, Planes]]:
    """Luma at full and chroma at half size of `moved` in the tone of `fixed`, and of `fixed`."""
    height, width = fixed.shape[:2]
    half_wh = half(fixed.shape)
    lumas = [np.empty((height, width), np.float32) for _ in range(2)]
    chromas = [np.empty((half_wh[1], half_wh[0], 2), np.float32) for _ in range(2)]
    # In strips: float pictures of the whole would be most of the time and memory spent.
    for top in range(0, height, _STRIP_PX):
        strip = np.s_[top : top + _STRIP_PX]
        wanted = fixed[strip].astype(np.float32)
        for pixels, luma, chroma in zip(
            (tone.predict(moved[strip], wanted), wanted), lumas, chromas, strict=True
        ):
            luma[strip] = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
            small = cv2.cvtColor(resized(pixels, half(pixels.shape)), cv2.COLOR_RGB2YCrCb)
            chroma[top // 2 : top // 2 + len(small)] = small[..., 1:]
    return (lumas[0], chromas[0]), (lumas[1], chromas[1])


def fit_tone(moved: RGB, fixed: RGB, usable: Mask) -> Tone:
    """Gain and offset of each channel that carry `moved` to `fixed`, blind to local edits.

    Means of blocks are compared: detail that re-encoding lost must not look like a lower gain.
    """
    block = max(_TONE_BLOCK_PX, stride(usable.shape, _SAMPLE))
    seen = covered(*whole_blocks(usable, block))
    means = (
        cv2.resize(*whole_blocks(p, block), interpolation=cv2.INTER_AREA) for p in (moved, fixed)
    )
    pair = [m[seen] for m in means]
    lines = [_line(*(p[:, channel].astype(np.float64) for p in pair)) for channel in range(3)]
    (red, red_0), (green, green_0), (blue, blue_0) = lines
    return Tone(gain=(red, green, blue), offset=(red_0, green_0, blue_0))


def _line(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    unclipped = (x > 4) & (x < 251) & (y > 4) & (y < 251)
    x, y = x[unclipped], y[unclipped]
    gain, offset = 1.0, float(np.median(y - x)) if len(x) else 0.0
    if len(x) < 30:
        return gain, offset
    for _ in range(4):
        weight = _trust(y - gain * x - offset, 1.0)
        total = weight.sum()
        mean_x, mean_y = (weight * x).sum() / total, (weight * y).sum() / total
        spread = (weight * (x - mean_x) ** 2).sum() / total
        shared = (weight * (x - mean_x) * (y - mean_y)).sum() / total
        # Grey levels that hardly vary cannot tell a gain from an offset: lean to gain 1.
        gain = float(np.clip((shared + 25.0) / (spread + 25.0), 0.5, 2.0))
        offset = float(mean_y - gain * mean_x)
    return gain, offset


def _trust(rest: NDArray[np.float64], least: float) -> NDArray[np.float64]:
    """Tukey's weights; `least` is the smallest scale believed, in grey levels."""
    scale = max(least, 1.4826 * float(np.median(np.abs(rest))))
    return np.clip(1 - (rest / (_TUKEY * scale)) ** 2, 0, None) ** 2


def _softened(luma: Plane, fixed_luma: Plane, usable: Mask, contrast: Plane) -> tuple[Plane, float]:
    """`luma` under the mixture of blurs that comes closest to `fixed_luma`; detail kept.

    Only places of high contrast in both pictures tell: elsewhere noise would pass for sharpness.
    """
    step = 2 * stride(usable.shape, 4 * _SAMPLE)
    contrasts = contrast[:: step // 2, :: step // 2]
    least = max(_DETAIL, float(np.quantile(contrasts, 0.75)))
    picked = usable[::step, ::step] & (contrasts >= least)
    if int(picked.sum()) < 100:
        return luma, 1.0
    layers = [luma, *(smooth(luma, s) for s in _SOFTENINGS_PX)]
    columns = [p[::step, ::step][picked].astype(np.float64) for p in (*layers, fixed_luma)]
    design = np.column_stack([c - columns[2] for c in columns[:2]])
    target = columns[3] - columns[2]
    target -= np.median(target - design[:, 0])
    start = np.array([1.0, 0.0])
    weights = start
    for _ in range(4):
        trust = _trust(target - design @ weights, 0.5)
        normal = design.T @ (design * trust[:, None])
        lean = 1e-3 * np.trace(normal) + 1.0
        right = design.T @ (trust * target) + lean * start
        weights = np.clip(np.linalg.solve(normal + lean * np.eye(2), right), -1.5, 2.5)
    first, second = float(weights[0]), float(weights[1])
    softened = cv2.addWeighted(layers[0], first, layers[1], second, 0)
    softened = cv2.scaleAdd(layers[2], 1 - first - second, softened)
    return np.asarray(softened, np.float32), first + 0.5 * second


def _chroma_rest(moved: Planes, fixed: Planes, usable: Mask) -> tuple[Planes, Planes]:
    """Remainder and greater contrast of both chromas, at half size."""
    seen = covered(usable, half(usable.shape))
    rest, contrast = [], []
    for index in range(2):
        pair = [np.ascontiguousarray(p[..., index]) for p in (moved, fixed)]
        rest.append(_untinted(pair[1] - pair[0], seen, _TINT_BLOCK_PX // 2))
        contrast.append(np.maximum(*(local_contrast(p, 1.0) for p in pair)))
    return np.dstack(rest), np.dstack(contrast)


def _untinted(rest: Plane, usable: Mask, block_px: int) -> Plane:
    """`rest` without its slowly varying part, and 0 where not usable."""
    height, width = usable.shape
    rows, columns = max(1, height // block_px), max(1, width // block_px)
    rest = rest * usable
    cells = resized(rest, (columns * 4, rows * 4)).reshape(rows, 4, columns, 4)
    seen = covered(usable, (columns * 4, rows * 4))
    known = np.asarray(seen.reshape(rows, 4, columns, 4).all(axis=(1, 3)))
    if known.sum() < 4:
        middle = np.float32(np.median(rest[usable])) if usable.any() else np.float32(0)
        return (rest - middle) * usable
    blocks = np.median(cells.swapaxes(1, 2).reshape(rows, columns, 16), axis=2)
    tint = resized(_slow_part(blocks.astype(np.float32), known), (width, height))
    return np.asarray((rest - tint) * usable, np.float32)


def _slow_part(blocks: Plane, known: Mask) -> Plane:
    """The blocks' values, smoothed; a block that stands out takes its neighbours' value."""
    middle = np.float32(np.median(blocks[known]))
    away = blocks - middle
    spread = 1.4826 * float(np.median(np.abs(away[known])))
    limit = np.float32(min(3 * spread + 1.0, _TINT_LIMIT))
    weight = (known & (np.abs(away) <= limit)).astype(np.float32)
    sums, total = np.zeros_like(away), np.full_like(away, 1e-4)
    for sigma, share in ((0.7, 1.0), (3.0, 0.02)):
        sums += np.float32(share) * smooth(away * weight, sigma)
        total += np.float32(share) * smooth(weight, sigma)
    return np.asarray(middle + sums / total, np.float32)
