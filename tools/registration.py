"""Where each pixel of one picture lies in the other: the step before any comparison.

Editing models move what they re-render by a pixel or two, by fractions of one, or scale it. Several
starts are tried: one frame on the other, bars cut off, phase correlation, matched key points. A
robust Gauss-Newton fit of grey values refines them to a few hundredths of a pixel, and the simplest
motion that explains the pair is kept. A start whose edges do not agree afterwards is not believed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from agent_judge.tools.planes import Mask, Matrix, Plane, smooth

Grey = NDArray[np.uint8]
"""uint8, shape (h, w)."""

MIN_SIDE_PX = 24
"""Pictures with a shorter side have too little to align."""
_SIDES_PX = (64, 128, 256, 1024)
"""Longer sides of the levels, coarse to fine; starts are compared on the last but one."""
_MAX_POINTS = 5_000
_MIN_POINTS = 100
_TRUSTED_AGREEMENT = 0.3
"""Correlation of gradients, about 0 for unrelated pictures, above which a motion is believed."""
_SURE_AGREEMENT = 0.7
"""Above this no further start is tried."""
_BETTER_AGREEMENT = 0.05
"""What a further start must add: pictures repeat themselves."""
_LEAST_BAR = 0.03
"""Share of a side that bars must take: a shift leaves thinner strips."""
_BARS_SHARE = 0.02
"""How far the motion may be from that of the content between bars to be called letterboxed."""
_SIMPLER_COST = 1.02
"""A simpler motion is kept while it costs at most this much of the best one."""
_SIMPLER_POINTS = 0.002
"""Share of the points, too, that a simpler motion may leave unexplained: what came into view."""
_TUKEY = 4.685
_TRANSLATION = ((0, 0, 1, 0, 0, 0), (0, 0, 0, 0, 0, 1))
_SCALE = (*_TRANSLATION, (1, 0, 0, 0, 1, 0))
_AFFINE = tuple(tuple(int(i == j) for j in range(6)) for i in range(6))
_Model = tuple[tuple[int, ...], ...]
"""Directions in which the six numbers of a motion may vary."""


@dataclass(frozen=True, kw_only=True)
class Registration:
    """How the moving picture lies in the frame of the fixed one."""

    matrix: Matrix
    """3x3, moving -> fixed, on continuous pixel coordinates."""
    trusted: bool
    """False when no motion explained the pair: `matrix` only lays one frame on the other."""
    bars: bool
    """Whether one picture has bars around what the other one fills its frame with."""


@dataclass(frozen=True, kw_only=True)
class _Picture:
    """A picture at the finest level, and what of it counts."""

    grey: Plane
    seen: Mask


@dataclass(frozen=True, kw_only=True)
class _Level:
    """The pair at one resolution."""

    fixed: NDArray[np.float64]
    """Shape (N, 3): grey value and both slopes at each point."""
    moving: NDArray[np.float32]
    """Shape (h, w, 3): grey value and both slopes."""
    points: NDArray[np.float64]
    """Shape (N, 2): centres of the fixed picture's pixels worth comparing."""
    size_wh: NDArray[np.float64]
    """Of the fixed picture on this level."""
    to_fixed: Matrix
    to_moving: Matrix
    """3x3, finest level -> this level, of each picture."""


def register(moving: Grey, fixed: Grey, moving_masked: Mask, fixed_masked: Mask) -> Registration:
    """The motion that lays `moving` over `fixed`.

    Args:
        moving: Grey values, shape (h, w).
        fixed: The same of the other picture, of any size.
        moving_masked: Shape (h, w): pixels that say nothing, such as a painted mask.
        fixed_masked: The same of the other picture.
    """
    whole = frame_onto_frame(moving.shape, fixed.shape)
    if min(*moving.shape, *fixed.shape) < MIN_SIDE_PX:
        return Registration(matrix=whole, trusted=True, bars=False)
    pair = (_finest(moving, moving_masked), _finest(fixed, fixed_masked))
    frame = frame_onto_frame(pair[0].grey.shape, pair[1].grey.shape)
    best, agreement = _best_start(pair, frame)
    if agreement < _TRUSTED_AGREEMENT:
        return Registration(matrix=whole, trusted=False, bars=False)
    matrix = _simplest(pair, best, frame)
    if matrix is frame:
        return Registration(matrix=whole, trusted=True, bars=False)
    into = frame_onto_frame(moving.shape, pair[0].grey.shape)
    out_of = frame_onto_frame(pair[1].grey.shape, fixed.shape)
    bars = _without_bars(pair, frame)
    return Registration(
        matrix=out_of @ matrix @ into,
        trusted=True,
        bars=bars is not None and _farthest(pair[0], bars, matrix) < _BARS_SHARE,
    )


def frame_onto_frame(moving_hw: tuple[int, ...], fixed_hw: tuple[int, ...]) -> Matrix:
    """The 3x3 scaling that lays one picture's frame on the other's.

    Example:
        >>> frame_onto_frame((100, 200), (50, 100)).diagonal()
        array([0.5, 0.5, 1. ])
    """
    return np.diag([fixed_hw[1] / moving_hw[1], fixed_hw[0] / moving_hw[0], 1.0])


def _finest(grey: Grey, masked: Mask) -> _Picture:
    factor = _SIDES_PX[-1] / max(grey.shape)
    reduced = _reduced(grey, factor)
    if not masked.any():
        return _Picture(grey=reduced, seen=np.ones(reduced.shape, bool))
    # A painted mask does not move with the content: its rim must not vote for standing still.
    wide = np.asarray(cv2.dilate(masked.astype(np.uint8), np.ones((9, 9), np.uint8)), np.uint8)
    seen = _reduced(wide, factor) == 0
    return _Picture(grey=reduced, seen=seen)


def _reduced(plane: Grey | Plane, factor: float) -> Plane:
    if factor >= 1:
        return plane.astype(np.float32)
    height, width = plane.shape
    size_wh = (max(1, round(width * factor)), max(1, round(height * factor)))
    return np.asarray(cv2.resize(plane, size_wh, interpolation=cv2.INTER_AREA), np.float32)


_Pair = tuple[_Picture, _Picture]
_Start = Callable[[_Pair, Matrix], Matrix | None]


def _farthest(picture: _Picture, one: Matrix, other: Matrix) -> float:
    """Largest distance between a corner under two motions, as a share of its diagonal there."""
    height, width = picture.grey.shape
    corners = np.array([[0, width, 0, width], [0, 0, height, height], [1, 1, 1, 1]], float)
    here, there = one @ corners, other @ corners
    diagonal = np.linalg.norm(here[:2, 3] - here[:2, 0])
    return float(np.linalg.norm((here - there)[:2], axis=0).max() / diagonal)


def _best_start(pair: _Pair, frame: Matrix) -> tuple[Matrix, float]:
    best, best_agreement = frame, -1.0
    for start in (_same_frame, _without_bars, _phase_correlation, _key_points):
        matrix = start(pair, frame)
        if matrix is None:
            continue
        for side in _SIDES_PX[:-1]:
            level = _level(pair, matrix, side)
            fits = (matrix, _fit(level, matrix, _SCALE))
            agreement, matrix = max(((_agreement(level, m), m) for m in fits), key=lambda f: f[0])
        if agreement > best_agreement + _BETTER_AGREEMENT:
            best, best_agreement = matrix, agreement
        if best_agreement > _SURE_AGREEMENT:
            break
    return best, best_agreement


def _same_frame(pair: _Pair, frame: Matrix) -> Matrix | None:
    return frame


def _without_bars(pair: _Pair, frame: Matrix) -> Matrix | None:
    """What one picture shows between bars, onto what the other shows; None without bars."""
    (left_m, top_m, right_m, bottom_m), (left_f, top_f, right_f, bottom_f) = boxes = [
        _content_box(p.grey) for p in pair
    ]
    whole = [(0, 0, p.grey.shape[1], p.grey.shape[0]) for p in pair]
    if boxes == whole:
        return None
    across = (right_f - left_f) / (right_m - left_m)
    down = (bottom_f - top_f) / (bottom_m - top_m)
    shift = (left_f - across * left_m, top_f - down * top_m)
    return np.array([[across, 0, shift[0]], [0, down, shift[1]], [0, 0, 1]])


def _content_box(grey: Plane) -> tuple[int, int, int, int]:
    """The picture without border rows and columns of one flat value."""
    spans = []
    for axis in (0, 1):
        flat = grey.std(axis=axis) < 3.0
        first, last = int(np.argmin(flat)), len(flat) - int(np.argmin(flat[::-1]))
        no_bars = flat.all() or len(flat) - (last - first) < _LEAST_BAR * len(flat)
        spans.append((0, len(flat)) if no_bars else (first, last))
    (left, right), (top, bottom) = spans
    return left, top, right, bottom


def _phase_correlation(pair: _Pair, frame: Matrix) -> Matrix | None:
    height, width = pair[1].grey.shape
    factor = min(1.0, _SIDES_PX[-2] / max(height, width))
    size_wh = (max(16, round(width * factor)), max(16, round(height * factor)))
    window = cv2.createHanningWindow(size_wh, cv2.CV_32F)
    planes = []
    for picture in pair:
        middle = picture.grey[picture.seen].mean() if picture.seen.any() else 0.0
        filled = np.where(picture.seen, picture.grey, np.float32(middle))
        planes.append(cv2.resize(filled, size_wh, interpolation=cv2.INTER_AREA))
    (dx, dy), _ = cv2.phaseCorrelate(planes[0], planes[1], window)
    if not np.isfinite([dx, dy]).all():
        return None
    shift = np.eye(3)
    shift[:2, 2] = dx * width / size_wh[0], dy * height / size_wh[1]
    return shift @ frame


def _key_points(pair: _Pair, frame: Matrix) -> Matrix | None:
    found = []
    for picture in pair:
        finder = cv2.ORB.create(1000)
        seen = picture.seen.astype(np.uint8) * 255
        found.append(finder.detectAndCompute(picture.grey.astype(np.uint8), seen))
    (points_m, marks_m), (points_f, marks_f) = found
    if min(len(points_m), len(points_f)) < 12:
        return None
    matches = cv2.BFMatcher(cv2.NORM_HAMMING, crossCheck=True).match(marks_m, marks_f)
    if len(matches) < 12:
        return None
    here = np.array([points_m[m.queryIdx].pt for m in matches])
    there = np.array([points_f[m.trainIdx].pt for m in matches])
    matrix, inliers = cv2.estimateAffinePartial2D(
        here, there, method=cv2.RANSAC, ransacReprojThreshold=4.0
    )
    if matrix is None or int(np.sum(inliers)) < 10:
        return None
    return np.vstack([matrix, [0, 0, 1]])


def _simplest(pair: _Pair, start: Matrix, frame: Matrix) -> Matrix:
    """The refined motion with the fewest numbers that explains the pair as well as any."""
    level = _level(pair, start, _SIDES_PX[-1])
    affine = _fit(level, start, _AFFINE)
    scale = _fit(level, affine, _SCALE)
    moved = frame.copy()
    moved[:2, 2] = affine[:2, 2] + (affine[:2, :2] - frame[:2, :2]) @ _middle(pair[0])
    candidates = [frame, _fit(level, moved, _TRANSLATION), scale, affine]
    spread = _spread(level, affine)
    costs = [_cost(level, candidate, spread) for candidate in candidates]
    bearable = min(costs) * _SIMPLER_COST + _SIMPLER_POINTS
    return next(m for m, cost in zip(candidates, costs, strict=True) if cost <= bearable)


def _middle(picture: _Picture) -> NDArray[np.float64]:
    return np.array(picture.grey.shape[::-1]) / 2


def _level(pair: _Pair, matrix: Matrix, side_px: int) -> _Level:
    """The pair with the fixed picture's longer side at `side_px`, both at one scale."""
    moving, fixed = pair
    factor = min(1.0, side_px / max(fixed.grey.shape))
    content = float(np.sqrt(abs(np.linalg.det(matrix[:2, :2]))))
    here = _with_slopes(_reduced(fixed.grey, factor))
    seen = _reduced((~fixed.seen).astype(np.float32), factor) == 0
    there = np.asarray(cv2.merge(_with_slopes(_reduced(moving.grey, factor * content))), np.float32)
    rows, columns = _steep(here, seen)
    return _Level(
        fixed=np.column_stack([plane[rows, columns] for plane in here]).astype(np.float64),
        moving=there,
        points=np.column_stack([columns, rows]).astype(np.float64) + 0.5,
        size_wh=np.array(seen.shape[::-1], np.float64),
        to_fixed=frame_onto_frame(fixed.grey.shape, seen.shape),
        to_moving=frame_onto_frame(moving.grey.shape, there.shape),
    )


def _with_slopes(grey: Plane) -> tuple[Plane, Plane, Plane]:
    soft = smooth(grey, 1.0)
    across, down = (
        np.asarray(cv2.Scharr(soft, cv2.CV_32F, *d, scale=1 / 32), np.float32)
        for d in ((1, 0), (0, 1))
    )
    return soft, across, down


def _steep(
    picture: tuple[Plane, Plane, Plane], seen: Mask
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and columns of the steeper half of the pixels, thinned out; none at the border."""
    usable = seen[1:-1, 1:-1]
    if not usable.any():
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    _, across, down = (plane[1:-1, 1:-1] for plane in picture)
    slope = np.hypot(across, down)
    some = (slope.ravel() if usable.all() else slope[usable])[::7]
    steep = np.flatnonzero(usable & (slope >= np.quantile(some, 0.5)))
    step = max(1, len(steep) // _MAX_POINTS)
    rows, columns = np.divmod(steep[::step], usable.shape[1])
    return rows + 1, columns + 1


def _sample(level: _Level, matrix: Matrix) -> tuple[NDArray[np.float64], Mask, Matrix]:
    """Value and slopes of the moving picture at each point, which exist, and the way there."""
    back = level.to_moving @ np.linalg.inv(matrix) @ np.linalg.inv(level.to_fixed)
    at = level.points @ back[:2, :2].T + back[:2, 2] - 0.5
    height, width = level.moving.shape[:2]
    inside: Mask = ((at >= 0) & (at <= (width - 1, height - 1))).all(axis=1)
    at = np.clip(at, -1, (width, height)).astype(np.float32)
    values = cv2.remap(level.moving, at[:, :1], at[:, 1:], cv2.INTER_LINEAR)
    return np.asarray(values, np.float64).reshape(-1, 3), inside, back


def _fit(level: _Level, matrix: Matrix, model: _Model) -> Matrix:
    """`matrix` refined on one level along the model's directions."""
    if len(level.points) < _MIN_POINTS:
        return matrix
    directions = np.array(model, np.float64)
    centre, half = level.size_wh / 2, level.size_wh.max() / 2
    unit = np.column_stack([(level.points - centre) / half, np.ones(len(level.points))])
    to_unit = np.array(
        [[1 / half, 0, -centre[0] / half], [0, 1 / half, -centre[1] / half], [0, 0, 1]]
    )
    for _ in range(12):
        values, inside, back = _sample(level, matrix)
        if int(inside.sum()) < _MIN_POINTS:
            return matrix
        moved = np.hstack([values[:, 1:2] * unit, values[:, 2:] * unit]) @ directions.T
        step = _robust_step(moved[inside], values[inside, 0], level.fixed[inside, 0])
        back[:2] += (directions.T @ step).reshape(2, 3) @ to_unit
        full = np.linalg.inv(level.to_moving) @ back @ level.to_fixed
        if abs(np.linalg.det(full)) < 1e-3:
            return matrix
        matrix = np.asarray(np.linalg.inv(full), np.float64)
        if np.abs(step).max() < 0.003:
            break
    return matrix


def _robust_step(
    moved: NDArray[np.float64], values: NDArray[np.float64], wanted: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The change of motion that explains most, beside a gain and an offset of the grey values."""
    design = np.column_stack([moved, values, np.ones(len(values))])
    gain = max(0.1, float(wanted.std()) / max(1e-3, float(values.std())))
    rest = wanted - gain * values
    rest -= np.median(rest)
    solution = np.zeros(design.shape[1])
    for _ in range(2):
        scale = max(0.5, 1.4826 * float(np.median(np.abs(rest))))
        weight = np.clip(1 - (rest / (_TUKEY * scale)) ** 2, 0, None) ** 2
        normal = design.T @ (design * weight[:, None])
        lean = (1e-6 * np.trace(normal) / len(normal) + 1e-9) * np.eye(len(normal))
        solution = np.linalg.solve(normal + lean, design.T @ (weight * wanted))
        rest = wanted - design @ solution
    step: NDArray[np.float64] = np.clip(solution[:-2] / max(0.1, solution[-2]), -3, 3)
    return step


def _remaining(level: _Level, matrix: Matrix) -> tuple[NDArray[np.float64], Mask]:
    """What is left at each point after the best gain and offset, and which points exist."""
    values, inside, _ = _sample(level, matrix)
    if int(inside.sum()) < _MIN_POINTS:
        return np.zeros(len(inside)), np.zeros_like(inside)
    here, there = values[inside, 0], level.fixed[inside, 0]
    around = here - here.mean()
    power = float(around @ around)
    gain = float(around @ there) / power if power > 1e-6 * len(here) else 1.0
    return level.fixed[:, 0] - gain * (values[:, 0] - here.mean()) - there.mean(), inside


def _spread(level: _Level, matrix: Matrix) -> float:
    rest, inside = _remaining(level, matrix)
    return max(0.5, 1.4826 * float(np.median(np.abs(rest[inside])))) if inside.any() else 1.0


def _cost(level: _Level, matrix: Matrix, spread: float) -> float:
    """Mean Tukey loss under `matrix`; a point that falls outside costs most."""
    rest, inside = _remaining(level, matrix)
    loss = 1 - np.clip(1 - (rest / (_TUKEY * spread)) ** 2, 0, None) ** 3
    return float(np.where(inside, loss, 1.0).mean()) if len(loss) else 1.0


def _agreement(level: _Level, matrix: Matrix) -> float:
    """Correlation of gradients over all points; those that fall outside agree in nothing."""
    if len(level.points) < _MIN_POINTS:
        return 0.0
    values, inside, back = _sample(level, matrix)
    moving = np.where(inside[:, None], values[:, 1:] @ back[:2, :2], 0)
    fixed = level.fixed[:, 1:]
    power = float(np.sqrt((fixed**2).sum() * (moving**2).sum()))
    return float((fixed * moving).sum()) / power if power > 1e-6 else 0.0
