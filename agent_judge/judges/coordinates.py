"""The box codec: between canonical pixels and the convention in which a judge writes boxes.

Canonical: float `[x1, y1, x2, y2]` in pixels of the upright original picture. Every crossing
between the two happens here and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from agent_judge.records import Box

CoordinateSystem = Literal["shown_pixels", "xyxy_1000", "yxyx_1000"]
_SUFFIX = "box_px"
_FAR_AWAY = 1e9  # no picture reaches there; NaN and endless integers fail the comparison

_REACH = 0.1
"""How far a box may reach over the border, as a share of the picture's side."""


@dataclass(frozen=True, kw_only=True)
class Convention:
    """How one judge writes boxes."""

    system: CoordinateSystem = "shown_pixels"
    max_side_px: int | None = None
    """Pictures are shown with their longer side at most this; None: as they are."""
    max_short_side_px: int | None = None
    """The same for the shorter side."""
    patch_px: int = 32
    max_patches: int | None = None
    """Pictures are shown in at most so many square patches of `patch_px`."""
    min_side_px: int = 1
    """Smaller pictures are enlarged until their shorter side is this."""

    def shown_scale(self, size_wh: tuple[int, int]) -> float:
        """Shown pixels per canonical pixel for a picture of `size_wh`.

        At most 1 but for pictures below `min_side_px`: a picture is sent at the size that the
        endpoint really uses, so that its pixels and the judge's are the same.

        Example:
            >>> Convention(max_side_px=2000, max_short_side_px=750).shown_scale((4000, 3000))
            0.25
            >>> Convention(min_side_px=28).shown_scale((100, 14))
            2.0
        """
        longer, shorter = max(size_wh), min(size_wh)
        scale = 1.0
        if self.max_side_px is not None:
            scale = min(scale, self.max_side_px / longer)
        if self.max_short_side_px is not None:
            scale = min(scale, self.max_short_side_px / shorter)
        if self.max_patches is not None:
            scale = min(scale, _scale_into_patches(size_wh, self.patch_px, self.max_patches))
        return max(scale, self.min_side_px / shorter)

    def shown_wh(self, size_wh: tuple[int, int]) -> tuple[int, int]:
        """Width and height at which a picture of `size_wh` is shown."""
        scale = self.shown_scale(size_wh)
        return max(1, round(size_wh[0] * scale)), max(1, round(size_wh[1] * scale))

    def decode(self, numbers: Sequence[float], size_wh: tuple[int, int]) -> Box:
        """The canonical box that the judge means.

        Args:
            numbers: four numbers in this convention.
            size_wh: canonical size of the picture that they refer to.

        Raises:
            ValueError: not four finite numbers with positive extent.
        """
        if len(numbers) != 4 or not all(
            isinstance(n, int | float) and not isinstance(n, bool) and abs(n) < _FAR_AWAY
            for n in numbers
        ):
            raise ValueError(f"expected four numbers, got {str(list(numbers))[:80]}")
        a, b, c, d = (float(n) for n in numbers)
        if self.system == "yxyx_1000":
            a, b, c, d = b, a, d, c
        per_x, per_y = self._units(size_wh)
        return Box(a / per_x, b / per_y, c / per_x, d / per_y)

    def reader(self, size_wh: tuple[int, int]) -> Callable[[Sequence[float]], Box | None]:
        """`decode` for one picture, its boxes clipped to it: None for one that is no place in it.

        That is a box outside it, but also one that reaches far over its border or is smaller than
        a pixel: it is written in another convention, and what is left of it would be a guess.

        Args:
            size_wh: canonical size of the picture.
        """

        def read(numbers: Sequence[float]) -> Box | None:
            box = self.decode(numbers, size_wh)
            x, y = _REACH * size_wh[0], _REACH * size_wh[1]
            far = min(box.x1, size_wh[0] - box.x2) < -x or min(box.y1, size_wh[1] - box.y2) < -y
            tiny = box.width < 1 and box.height < 1
            return None if far or tiny else box.clip(size_wh)

        return read

    def encode(self, box: Box, size_wh: tuple[int, int]) -> list[float]:
        """The box as the judge would write it."""
        per_x, per_y = self._units(size_wh)
        x1, y1, x2, y2 = box.x1 * per_x, box.y1 * per_y, box.x2 * per_x, box.y2 * per_y
        return [y1, x1, y2, x2] if self.system == "yxyx_1000" else [x1, y1, x2, y2]

    def is_canonical(self, size_wh: tuple[int, int]) -> bool:
        """Whether the judge writes canonical pixels for this picture."""
        return self.system == "shown_pixels" and self.shown_scale(size_wh) == 1.0

    def annotate(self, data: Any, size_wh: tuple[int, int]) -> Any:  # noqa: ANN401 - JSON in, JSON out
        """A tool's reply with every `..box_px` repeated as the judge would write it.

        Only where that differs: `box_px` [12, 30, 40, 50] gains a twin `box` in the judge's own
        convention, rounded to a tenth.
        """
        if isinstance(data, Mapping):
            out = {key: self.annotate(value, size_wh) for key, value in data.items()}
            if not self.is_canonical(size_wh):
                for key, value in data.items():
                    if key.endswith(_SUFFIX) and value is not None:
                        own = self.encode(Box(*value), size_wh)
                        out[key.removesuffix("_px")] = [round(n, 1) for n in own]
            return out
        if isinstance(data, Sequence) and not isinstance(data, str):
            return [self.annotate(value, size_wh) for value in data]
        return data

    def in_words(self, size_wh: tuple[int, int]) -> str:
        """The sentence of the prompt that tells the judge how to write boxes."""
        if self.system == "xyxy_1000":
            return (
                "Write boxes as [x1, y1, x2, y2] from 0 to 1000, "
                "relative to the width and height of the full picture."
            )
        if self.system == "yxyx_1000":
            return (
                "Write boxes as [y1, x1, y2, x2] from 0 to 1000, "
                "relative to the height and width of the full picture."
            )
        width, height = self.shown_wh(size_wh)
        return (
            f"Write boxes as [x1, y1, x2, y2] in pixels of the full picture as you see it, "
            f"{width} wide and {height} high; x runs to the right, y down."
        )

    def _units(self, size_wh: tuple[int, int]) -> tuple[float, float]:
        if self.system == "shown_pixels":
            shown = self.shown_wh(size_wh)
            return shown[0] / size_wh[0], shown[1] / size_wh[1]
        return 1000 / size_wh[0], 1000 / size_wh[1]


def patches(size_wh: tuple[int, int], patch_px: int) -> int:
    """How many square patches cover a picture.

    Example:
        >>> patches((100, 50), 32)
        8
    """
    return math.ceil(size_wh[0] / patch_px) * math.ceil(size_wh[1] / patch_px)


@lru_cache(maxsize=4096)
def _scale_into_patches(size_wh: tuple[int, int], patch_px: int, most: int) -> float:
    """The largest scale up to 1 at which the picture takes at most `most` patches."""
    width, height = size_wh
    scale = min(1.0, math.sqrt(most * patch_px**2 / (width * height)))
    shown = round(width * scale), round(height * scale)
    while patches(shown, patch_px) > most and scale > 0:
        scale = (max(shown) - 1) / max(size_wh)
        shown = max(1, round(width * scale)), max(1, round(height * scale))
    return scale
