"""Two pictures in one frame and a mask on them: checked once, then walked through in bands.

Pictures may have 120 megapixels, and a float copy of one of those takes gigabytes. So whatever is
summed over all pixels is summed band by band.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from agent_judge.images import RGB

Mask = NDArray[np.bool_]
"""True where the target or the edited region is, shape (H, W)."""

_BAND_PIXELS = 500_000
_LEAST_ROWS = 64


def check_pair(source: RGB, edited: RGB, mask: Mask | None = None) -> None:
    """Nothing, where both pictures and the mask are of the right kind and share a frame.

    Args:
        source: uint8 RGB, shape (H, W, 3).
        edited: of the same shape.
        mask: bool, shape (H, W); None where there is none.

    Raises:
        ValueError: one is not; the message says what was expected and what came.
    """
    for name, pixels in (("source", source), ("edited", edited)):
        if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3 or not pixels.size:
            raise ValueError(
                f"{name} must be uint8 of shape (H, W, 3), got {pixels.dtype} of {pixels.shape}"
            )
    if source.shape != edited.shape:
        raise ValueError(
            f"both pictures must have one frame, got source {source.shape}, edited {edited.shape}"
        )
    if mask is not None and (mask.dtype != np.bool_ or mask.shape != source.shape[:2]):
        raise ValueError(
            f"mask must be bool of shape {source.shape[:2]}, got {mask.dtype} of {mask.shape}"
        )


def bands(height: int, width: int) -> Iterator[slice]:
    """Slices of rows, top to bottom, of about half a megapixel each and of nearly equal height.

    Example:
        >>> list(bands(100, 10)), len(list(bands(3000, 4000)))
        ([slice(0, 100, None)], 24)
    """
    rows = max(_LEAST_ROWS, _BAND_PIXELS // width)
    count = -(-height // rows)
    edges = [height * n // count for n in range(count + 1)]
    for top, bottom in itertools.pairwise(edges):
        yield slice(top, bottom)
