"""What a tool is: what it looks at, what it answers, and what the judge is told of it.

A tool is a pure function on arrays (tested alone) and a small frozen dataclass that offers it to
the judge. All pictures of one look share the source's pixel frame.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from agent_judge.records import Box, PictureName

RGB = NDArray[np.uint8]
"""uint8 RGB, shape (H, W, 3)."""
_Result = TypeVar("_Result")


@dataclass(frozen=True, kw_only=True, eq=False)
class View:
    """The prepared pictures that the judge and its tools look at, all in the source's frame."""

    source: RGB
    edited: RGB
    reference: RGB | None = None
    masked: tuple[Box, ...] = ()
    """Rectangles painted white in every picture, pixels of the source; tools leave them out."""
    shown: tuple[PictureName, ...] | None = None
    """The pictures that are shown and can be asked for; None for all that exist."""
    _results: dict[Callable[[View], Any], Any] = field(default_factory=dict, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @property
    def size_wh(self) -> tuple[int, int]:
        """Width and height that all three pictures share."""
        height, width = self.source.shape[:2]
        return width, height

    @property
    def names(self) -> tuple[PictureName, ...]:
        """The pictures that are shown here."""
        if self.shown is not None:
            return self.shown
        two: tuple[PictureName, ...] = ("source", "edited")
        return two if self.reference is None else (*two, "reference")

    def picture(self, name: PictureName) -> RGB:
        """The named picture.

        Raises:
            KeyError: there is no such picture here.
        """
        pictures = {"source": self.source, "edited": self.edited, "reference": self.reference}
        pixels = pictures[name]
        if pixels is None:
            raise KeyError(name)
        return pixels

    def once(self, work: Callable[[View], _Result]) -> _Result:
        """What `work` makes of this view, worked out once however many ask, from any thread.

        Args:
            work: a function of the module, not one made for the call: it is the key.
        """
        with self._lock:
            if work not in self._results:
                self._results[work] = work(self)
            result: _Result = self._results[work]
            return result


@dataclass(frozen=True, kw_only=True)
class ToolPicture:
    """A picture in a tool's reply."""

    label: str
    """Text that stands before it: the picture's name and its pixel box."""
    pixels: RGB
    native: RGB | None = None
    """The same part at its picture's own resolution, where `pixels` were resized; it is not
    shown."""


@dataclass(frozen=True, kw_only=True)
class ToolReply:
    """What a tool answers. The judge gets `data` as JSON text and the pictures after it."""

    data: Mapping[str, Any]
    """JSON types only; every box is under a key that ends in `box_px`."""
    pictures: tuple[ToolPicture, ...] = ()


class Tool(Protocol):
    """A tool as the loop uses it."""

    @property
    def name(self) -> str:
        """The name that the judge calls."""

    @property
    def description(self) -> str:
        """Prompt text: the coordinate convention and what comes back."""

    def parameters(self, view: View) -> dict[str, Any]:
        """JSON schema of the arguments; only pictures that exist are offered."""

    def __call__(self, view: View, args: Mapping[str, Any]) -> ToolReply:
        """Do it. `args` fit the schema; boxes are canonical pixels `[x1, y1, x2, y2]`.

        Raises:
            ToolError: it could not be done; the message is told to the judge.
        """


def whereabouts(box: Box, size_wh: tuple[int, int]) -> str:
    """Where the box's centre lies, in words.

    Example:
        >>> whereabouts(Box(10, 30, 14, 50), (100, 100))
        '12% from left, 40% from top'
    """
    width, height = size_wh
    x, y = (box.x1 + box.x2) / 2 / width, (box.y1 + box.y2) / 2 / height
    return f"{x:.0%} from left, {y:.0%} from top"
