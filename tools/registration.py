"""Where each pixel of one picture lies in the other: the step before any comparison.

Editing models move what they re-render by a pixel or two, by fractions of one, or scale it.
Phase correlation and matched key points give a start; a robust Gauss-Newton fit of grey values
refines it to a few hundredths of a pixel; the simplest motion that explains the pair is kept. A
start whose edges do not agree afterwards is not believed.

A motion is a 2x3 matrix on continuous pixel coordinates: the first pixel covers 0 to 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

Grey = NDArray[np.float32]
Mask = NDArray[np.bool_]
Matrix = NDArray[np.float64]

MIN_SIDE_PX = 24
"""Pictures with a shorter side have too little to align."""
_START_SIDE_PX, _FINE_SIDE_PX = 256, 1024
_MAX_POINTS = 12_000
_TRUSTED_AGREEMENT = 0.3
"""Correlation of gradients, 0 for unrelated pictures, above which a motion is believed."""
_SURE_AGREEMENT = 0.7
"""Above this no further start is tried."""
_SIMPLER_COST = 1.01
"""A simpler motion is kept while it costs at most this much of the best one."""
_MODELS: tuple[tuple[tuple[float, ...], ...], ...] = (
    ((0, 0, 1, 0, 0, 0), (0, 0, 0, 0, 0, 1)),
    ((0, 0, 1, 0, 0, 0), (0, 0, 0, 0, 0, 1), (1, 0, 0, 0, 1, 0)),
    tuple(tuple(float(i == j) for j in range(6)) for i in range(6)),
)
"""Directions in which the six numbers of a motion may vary: translation; scale; affine."""


@dataclass(frozen=True, kw_only=True)
class Registration:
    """How the moving picture lies in the frame of the fixed one."""

    matrix: Matrix
    """2x3, moving -> fixed."""
    trusted: bool
    """False when no motion explained the pair: `matrix` only lays one frame on the other."""
    agreement: float
    """Correlation of the two pictures' gradients under `matrix`, -1 to 1."""


@dataclass(frozen=True, kw_only=True)
class _Level:
    """The pair at one resolution."""

    fixed: Grey
    moving: NDArray[np.float32]
    """Shape (h, w, 3): grey value and its two derivatives."""
    points: NDArray[np.float32]
    """Shape (N, 2): pixels of `fixed` worth comparing, as x and y."""
    to_fixed: Matrix
    to_moving: Matrix
    """3x3, full resolution -> this level, of each picture."""


def register(moving: Grey, fixed: Grey, moving_masked: Mask, fixed_masked: Mask) -> Registration:
    """The motion that lays `moving` over `fixed`.

    Args:
        moving: float32 grey values, shape (h, w), 0 to 255.
        fixed: The same of the other picture, of any size.
        moving_masked: Shape (h, w): pixels that say nothing, such as a painted mask.
        fixed_masked: The same of the other picture.
    """
    frame = frame_onto_frame(moving.shape, fixed.shape)
    if min(*moving.shape, *fixed.shape) < MIN_SIDE_PX:
        return Registration(matrix=frame[:2], trusted=True, agreement=1.0)
    masks = (moving_masked, fixed_masked)
    best, agreement = _best_start(moving, fixed, masks, frame)
    if agreement < _TRUSTED_AGREEMENT:
        return Registration(matrix=frame[:2], trusted=False, agreement=agreement)
    matrix = _simplest(moving, fixed, masks, best, frame)
    return Registration(matrix=matrix[:2], trusted=True, agreement=agreement)


def frame_onto_frame(moving_hw: tuple[int, ...], fixed_hw: tuple[int, ...]) -> Matrix:
    """The 3x3 scaling that lays one picture's frame on the other's."""
    return np.diag([fixed_hw[1] / moving_hw[1], fixed_hw[0] / moving_hw[0], 1.0])


def _best_start(
    moving: Grey, fixed: Grey, masks: tuple[Mask, Mask], frame: Matrix
) -> tuple[Matrix, float]:
    best, best_agreement = frame, -1.0
    for start in (_same_frame, _phase_correlation, _key_points):
        matrix = start(moving, fixed, masks, frame)
        if matrix is None:
            continue
        for side in (_START_SIDE_PX // 4, _START_SIDE_PX // 2, _START_SIDE_PX):
            level = _level(moving, fixed, masks, matrix, side)
            matrix, _ = _fit(level, matrix, 1)
        agreement = _agreement(level, matrix)
        if agreement > best_agreement + 0.02:
            best, best_agreement = matrix, agreement
        if best_agreement > _SURE_AGREEMENT:
            break
    return best, best_agreement


def _same_frame(
    moving: Grey, fixed: Grey, masks: tuple[Mask, Mask], frame: Matrix
) -> Matrix | None:
    return frame


def _phase_correlation(
    moving: Grey, fixed: Grey, masks: tuple[Mask, Mask], frame: Matrix
) -> Matrix | None:
    factor = min(1.0, _START_SIDE_PX / max(fixed.shape))
    size_wh = (max(16, round(fixed.shape[1] * factor)), max(16, round(fixed.shape[0] * factor)))
    window = cv2.createHanningWindow(size_wh, cv2.CV_32F)
    planes = [
        cv2.resize(_filled(grey, masked), size_wh, interpolation=cv2.INTER_AREA)
        for grey, masked in zip((moving, fixed), masks, strict=True)
    ]
    (dx, dy), _ = cv2.phaseCorrelate(planes[0], planes[1], window)
    if not np.isfinite([dx, dy]).all():
        return None
    shift = np.eye(3)
    shift[:2, 2] = dx * fixed.shape[1] / size_wh[0], dy * fixed.shape[0] / size_wh[1]
    return shift @ frame


def _key_points(
    moving: Grey, fixed: Grey, masks: tuple[Mask, Mask], frame: Matrix
) -> Matrix | None:
    found, factors = [], []
    for grey, masked in zip((moving, fixed), masks, strict=True):
        factor = min(1.0, 2 * _START_SIDE_PX / max(grey.shape))
        small = _resized(grey, factor)
        seen = _resized((~masked).astype(np.uint8) * 255, factor)
        found.append(cv2.ORB_create(1000).detectAndCompute(small.astype(np.uint8), seen))
        factors.append(factor)
    (points_m, marks_m), (points_f, marks_f) = found
    if marks_m is None or marks_f is None or min(len(points_m), len(points_f)) < 12:
        return None
    pairs = cv2.BFMatcher(cv2.NORM_HAMMING, crossCheck=True).match(marks_m, marks_f)
    if len(pairs) < 12:
        return None
    here = np.float32([points_m[p.queryIdx].pt for p in pairs]) / factors[0]
    there = np.float32([points_f[p.trainIdx].pt for p in pairs]) / factors[1]
    matrix, inliers = cv2.estimateAffinePartial2D(
        here, there, method=cv2.RANSAC, ransacReprojThreshold=3 / factors[1]
    )
    if matrix is None or int(inliers.sum()) < 10:
        return None
    return np.vstack([matrix, [0, 0, 1]])


def _simplest(
    moving: Grey, fixed: Grey, masks: tuple[Mask, Mask], start: Matrix, frame: Matrix
) -> Matrix:
    sides = [_START_SIDE_PX]
    while sides[-1] < min(_FINE_SIDE_PX, max(fixed.shape)):
        sides.append(min(2 * sides[-1], _FINE_SIDE_PX))
    level = _level(moving, fixed, masks, start, _START_SIDE_PX)
    fits = [start] * len(_MODELS)
    for side in sides:
        level = _level(moving, fixed, masks, start, side)
        fits = [_fit(level, fit, model)[0] for model, fit in enumerate(fits)]
    scale = _fit(level, fits[-1], 2)[1]
    candidates = [frame, *fits]
    costs = [_cost(level, candidate, scale) for candidate in candidates]
    bearable = min(costs) * _SIMPLER_COST
    return next(m for m, cost in zip(candidates, costs, strict=True) if cost <= bearable)


def _level(
    moving: Grey, fixed: Grey, masks: tuple[Mask, Mask], matrix: Matrix, side_px: int
) -> _Level:
    """The pair with `fixed` reduced to a longer side of `side_px`, `moving` to the same scale."""
    factor = min(1.0, side_px / max(fixed.shape))
    content = float(np.sqrt(abs(np.linalg.det(matrix[:2, :2]))))
    small = cv2.GaussianBlur(_resized(fixed, factor), (0, 0), 1.0)
    other = cv2.GaussianBlur(_resized(moving, min(1.0, factor * content)), (0, 0), 1.0)
    slopes = [cv2.Scharr(other, cv2.CV_32F, *d, scale=1 / 32) for d in ((1, 0), (0, 1))]
    dark = cv2.dilate(masks[1].astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    seen = ~(_resized(dark.astype(np.uint8), factor) > 0)
    return _Level(
        fixed=small,
        moving=np.dstack([other, *slopes]),
        points=_points(small, seen),
        to_fixed=frame_onto_frame(fixed.shape, small.shape),
        to_moving=frame_onto_frame(moving.shape, other.shape),
    )


def _points(grey: Grey, seen: Mask) -> NDArray[np.float32]:
    steep = cv2.magnitude(cv2.Scharr(grey, cv2.CV_32F, 1, 0), cv2.Scharr(grey, cv2.CV_32F, 0, 1))
    usable = seen.copy()
    usable[[0, -1]] = False
    usable[:, [0, -1]] = False
    if not usable.any():
        return np.zeros((0, 2), np.float32)
    rows, columns = np.nonzero(usable & (steep >= np.quantile(steep[usable], 0.5)))
    stride = max(1, len(rows) // _MAX_POINTS)
    return np.column_stack([columns, rows])[::stride][:_MAX_POINTS].astype(np.float32)


def _sample(
    level: _Level, matrix: Matrix
) -> tuple[NDArray[np.float64], NDArray[np.float64], Mask, NDArray[np.float64]]:
    """Grey value and slopes of `moving` at each point, the points' fixed values, and validity."""
    back = level.to_moving @ np.linalg.inv(matrix) @ np.linalg.inv(level.to_fixed)
    at = (level.points + 0.5) @ back[:2, :2].T + back[:2, 2] - 0.5
    height, width = level.moving.shape[:2]
    inside = (at >= 0).all(axis=1) & (at[:, 0] <= width - 1) & (at[:, 1] <= height - 1)
    values = cv2.remap(
        level.moving,
        at[:, :1].astype(np.float32),
        at[:, 1:].astype(np.float32),
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )[:, 0].astype(np.float64)
    columns, rows = level.points.astype(int).T
    return values, level.fixed[rows, columns].astype(np.float64), inside, back[:2]


def _fit(level: _Level, matrix: Matrix, model: int) -> tuple[Matrix, float]:
    """`matrix` refined on one level, with the scale of what remains, in grey levels."""
    directions = np.array(_MODELS[model])
    height, width = level.fixed.shape
    centre, half = np.array([width, height]) / 2, max(width, height) / 2
    unit = np.column_stack([(level.points + 0.5 - centre) / half, np.ones(len(level.points))])
    scale = 1.0
    for _ in range(12):
        values, wanted, inside, back = _sample(level, matrix)
        if int(inside.sum()) < 100:
            return matrix, scale
        moved = np.hstack([values[:, 1:2] * unit, values[:, 2:3] * unit]) @ directions.T
        design = np.column_stack([moved, values[:, 0], np.ones(len(unit))])[inside]
        step, scale = _robust_step(design, values[inside, 0], wanted[inside])
        change = (directions.T @ step).reshape(2, 3)
        change = np.column_stack(
            [change[:, :2] / half, change[:, 2] - change[:, :2] @ centre / half]
        )
        full = (
            np.linalg.inv(level.to_moving) @ np.vstack([back + change, [0, 0, 1]]) @ level.to_fixed
        )
        if abs(np.linalg.det(full[:2, :2])) < 1e-3:
            return matrix, scale
        matrix = np.linalg.inv(full)
        if np.abs(step).max() < 0.003:
            break
    return matrix, scale


def _robust_step(
    design: NDArray[np.float64], values: NDArray[np.float64], wanted: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """One weighted solution for motion, gain and offset; gain and offset are dropped."""
    count = design.shape[1] - 2
    gain = max(0.1, float(np.std(wanted)) / max(1e-3, float(np.std(values))))
    offset = float(np.median(wanted - gain * values))
    scale = 1.0
    solution = np.zeros(count + 2)
    for _ in range(2):
        rest = wanted - gain * values - offset - design[:, :count] @ solution[:count] * gain
        scale = max(0.5, 1.4826 * float(np.median(np.abs(rest))))
        weight = np.clip(1 - (rest / (4.685 * scale)) ** 2, 0, None) ** 2
        normal = design.T @ (design * weight[:, None])
        ridge = np.diag([1e-6 * np.trace(normal) / len(normal) + 1e-9] * len(normal))
        solution = np.linalg.solve(normal + ridge, design.T @ (weight * wanted))
        gain, offset = max(0.1, float(solution[-2])), float(solution[-1])
        solution[:count] /= gain
    return np.clip(solution[:count], -3, 3), scale


def _cost(level: _Level, matrix: Matrix, scale: float) -> float:
    """Mean Tukey loss under `matrix`, after the best gain and offset; points outside cost most."""
    values, wanted, inside, _ = _sample(level, matrix)
    if int(inside.sum()) < 100:
        return 1.0
    gain, offset = np.polyfit(values[inside, 0], wanted[inside], 1)
    rest = (wanted - gain * values[:, 0] - offset) / (4.685 * scale)
    loss = 1 - np.clip(1 - rest**2, 0, None) ** 3
    return float(np.where(inside, loss, 1.0).mean())


def _agreement(level: _Level, matrix: Matrix) -> float:
    """Correlation of gradients over the points, those outside counted as zero."""
    values, _, inside, back = _sample(level, matrix)
    columns, rows = level.points.astype(int).T
    slopes = [cv2.Scharr(level.fixed, cv2.CV_32F, *d, scale=1 / 32) for d in ((1, 0), (0, 1))]
    fixed = np.column_stack([s[rows, columns] for s in slopes]).astype(np.float64)
    moving = values[:, 1:] @ back[:, :2]
    moving[~inside] = 0
    power = float(np.sqrt((fixed**2).sum() * (moving**2).sum()))
    return float((fixed * moving).sum() / power) if power > 1e-6 else 0.0


def _filled(grey: Grey, masked: Mask) -> Grey:
    """`grey` with its masked pixels at the mean of the rest, so that they carry no edge of it."""
    if not masked.any() or masked.all():
        return grey
    return np.where(masked, grey[~masked].mean(), grey).astype(np.float32)


def _resized(plane: NDArray[np.generic], factor: float) -> NDArray[np.generic]:
    if factor >= 1.0:
        return plane
    height, width = plane.shape[:2]
    size_wh = (max(1, round(width * factor)), max(1, round(height * factor)))
    return cv2.resize(plane, size_wh, interpolation=cv2.INTER_AREA)
