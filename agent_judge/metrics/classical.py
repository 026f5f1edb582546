"""The classical columns: L1, L2, PSNR and SSIM, in the whole picture, in the target and around it.

They stand beside every protocol and never enter a level: they show how poorly they track it. All
are sums over bands of rows, so that the largest picture takes no more memory than a small one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from agent_judge.images import RGB
from agent_judge.metrics.pair import Mask, bands, check_pair

_WHITE = 255
_SSIM_WINDOW_PX = 7
_HALO_PX = _SSIM_WINDOW_PX // 2
_FIGURES = ("l1", "l2", "psnr", "ssim")
COLUMNS = tuple(f"{name}{where}" for where in ("", "_inside", "_outside") for name in _FIGURES)
"""`l1, l2, psnr, ssim` of the whole picture, then the same inside and outside the target."""


@dataclass(frozen=True, kw_only=True)
class Measures:
    """How far two pictures are apart in one region, all channels alike."""

    l1: float
    """Mean absolute difference of values from 0 to 1: 0 (the same) to 1."""
    l2: float
    """Mean squared difference of values from 0 to 1: 0 (the same) to 1."""
    psnr: float | None
    """`-10 log10(l2)` in dB, higher is closer; None where `l2` is 0: infinite, which JSON cannot
    hold."""
    ssim: float | None
    """Structural similarity, -1 to 1 (the same); None in pictures under 7 px a side, which its
    window does not fit."""


@dataclass(frozen=True, kw_only=True)
class Classical:
    """The classical columns of one pair."""

    whole: Measures
    """Its SSIM is what `skimage.metrics.structural_similarity` gives: it leaves out a border of
    3 px, where the window sticks out of the picture. The two below take the border in."""
    inside: Measures | None
    """In the target; None where no target is known or it is empty."""
    outside: Measures | None
    """Around the target; None where no target is known or it covers everything."""

    def columns(self) -> dict[str, float | None]:
        """Flat, for a table, under `COLUMNS`; None for a region that is not there too."""
        values = [
            None if measures is None else getattr(measures, name)
            for measures in (self.whole, self.inside, self.outside)
            for name in _FIGURES
        ]
        return dict(zip(COLUMNS, values, strict=True))


@dataclass
class _Sums:
    """Of one region, over the bands so far."""

    pixels: int = 0
    absolute: int = 0
    squared: int = 0
    ssim: list[float] = field(default_factory=list)
    ssim_pixels: int = 0

    def add(self, absolute: NDArray[np.uint8]) -> None:
        """Absolute differences of pixels, shape (..., 3)."""
        self.pixels += absolute.size // 3
        self.absolute += int(absolute.sum(dtype=np.int64))
        self.squared += int((absolute.astype(np.uint32) ** 2).sum(dtype=np.int64))

    def add_ssim(self, values: NDArray[np.float64]) -> None:
        """SSIM of pixels, shape (..., 3)."""
        self.ssim.append(float(values.sum()))
        self.ssim_pixels += values.size // 3

    def measures(self) -> Measures | None:
        if not self.pixels:
            return None
        l2 = self.squared / (3 * self.pixels * _WHITE**2)
        return Measures(
            l1=self.absolute / (3 * self.pixels * _WHITE),
            l2=l2,
            psnr=10 * math.log10(1 / l2) if l2 else None,
            ssim=math.fsum(self.ssim) / (3 * self.ssim_pixels) if self.ssim_pixels else None,
        )


def classical(source: RGB, edited: RGB, target: Mask | None) -> Classical:
    """L1, L2, PSNR and SSIM of a pair, in the whole picture, inside and outside the target.

    Args:
        source: uint8 RGB, shape (H, W, 3).
        edited: the same frame, shape (H, W, 3).
        target: bool, shape (H, W); None where no target is known: then for the whole picture only.

    Raises:
        ValueError: shapes or types do not fit.

    Example:
        >>> grey = np.full((8, 8, 3), 100, np.uint8)
        >>> found = classical(grey, grey + np.uint8(51), None)
        >>> found.whole.l1, round(found.whole.l2, 6), round(found.whole.psnr, 2), found.inside
        (0.2, 0.04, 13.98, None)
    """
    check_pair(source, edited, target)
    height, width = source.shape[:2]
    whole, inside, outside = _Sums(), _Sums(), _Sums()
    for rows in bands(height, width):
        absolute = np.where(
            edited[rows] > source[rows], edited[rows] - source[rows], source[rows] - edited[rows]
        )
        whole.add(absolute)
        if target is not None:
            inside.add(absolute[target[rows]])
            outside.add(absolute[~target[rows]])
        if min(height, width) < _SSIM_WINDOW_PX:
            continue
        similar = _ssim(source, edited, rows)
        whole.add_ssim(_without_border(similar, rows, height))
        if target is not None:
            inside.add_ssim(similar[target[rows]])
            outside.add_ssim(similar[~target[rows]])
    measures = whole.measures()
    assert measures is not None, "a picture without pixels was let in"
    return Classical(whole=measures, inside=inside.measures(), outside=outside.measures())


def _ssim(source: RGB, edited: RGB, rows: slice) -> NDArray[np.float64]:
    """scikit-image's map of some rows, as it is in the map of the whole picture."""
    from skimage.metrics import structural_similarity  # takes half a second to import

    top = max(0, rows.start - _HALO_PX)
    seen = slice(top, rows.stop + _HALO_PX)
    _, found = structural_similarity(
        source[seen], edited[seen], win_size=_SSIM_WINDOW_PX, channel_axis=2, full=True
    )
    similar: NDArray[np.float64] = found[rows.start - top :][: rows.stop - rows.start]
    return similar


def _without_border(similar: NDArray[np.float64], rows: slice, height: int) -> NDArray[np.float64]:
    """What of a band lies as far from every edge of the picture as the window reaches."""
    top = max(0, _HALO_PX - rows.start)
    bottom = min(rows.stop, height - _HALO_PX) - rows.start
    return similar[top:bottom, _HALO_PX:-_HALO_PX]
