"""The pictures of one conversation, kept outside the graph's state and encoded at most once.

The graph's state and the messages hold only keys (`picture:KEY`); pixels stay here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from agent_judge.images import encode_png

_SCHEME = "picture:"
_PNG = "png"
_Made = TypeVar("_Made")


class BlobSink(Protocol):
    """Where evidence pictures are kept for good."""

    def put_blob(self, sha256: str, data: bytes) -> None:
        """Keep bytes under their sha256; a second time is free."""


class Renderings:
    """What was made of pictures, each thing once; pictures are told apart by identity."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[NDArray[np.uint8], dict[Hashable, Any]]] = {}
        """With the picture itself, so that its `id` stays its own."""

    def get(
        self, pixels: NDArray[np.uint8], form: Hashable, make: Callable[[NDArray[np.uint8]], _Made]
    ) -> _Made:
        """What `make` gives for a picture; asked once for each form."""
        _, made = self._of.setdefault(id(pixels), (pixels, {}))
        if form not in made:
            made[form] = make(pixels)
        result: _Made = made[form]
        return result


@dataclass(frozen=True)
class Album:
    """Pictures by key: `source`, `edited`, `reference`, or the sha256 of an evidence picture."""

    sink: BlobSink | None = None
    """None: evidence pictures live as long as the album."""
    prepared: Renderings = field(default_factory=Renderings)
    """What was made of the prepared pictures: conversations about one row share it, because they
    show the same pictures. Evidence is each conversation's own, and goes with it."""
    _own: Renderings = field(default_factory=Renderings)
    _shown: set[str] = field(default_factory=set)
    """Keys of the prepared pictures."""
    _pixels: dict[str, NDArray[np.uint8]] = field(default_factory=dict)

    def show(self, name: str, pixels: NDArray[np.uint8]) -> str:
        """Put a prepared picture in under its name; returns its URL for a message."""
        self._pixels[name] = pixels
        self._shown.add(name)
        return url_of(name)

    def add_evidence(self, pixels: NDArray[np.uint8]) -> str:
        """Put a tool's picture in, keep its PNG in the sink; returns the PNG's sha256."""
        png = self._own.get(pixels, _PNG, encode_png)
        sha256 = hashlib.sha256(png).hexdigest()
        self._pixels[sha256] = pixels
        if self.sink is not None:
            self.sink.put_blob(sha256, png)
        return sha256

    def add_sheet(self, urls: Sequence[str], pixels: NDArray[np.uint8]) -> str:
        """Put in a picture made of others, which is no evidence of its own; returns its URL."""
        key = "sheet+" + hashlib.sha256("+".join(urls).encode()).hexdigest()
        self._pixels[key] = pixels
        return url_of(key)

    def pixels(self, url: str) -> NDArray[np.uint8]:
        """The pixels behind `picture:KEY`.

        Raises:
            KeyError: no such picture.
        """
        return self._pixels[key_of(url)]

    def png(self, url: str) -> bytes:
        """The picture as PNG bytes, encoded on first use."""
        return self.rendering(url, _PNG, encode_png)

    def digest(self, url: str) -> str:
        """sha256 of a picture's size and pixels: the same whatever it is called."""
        return self.rendering(url, "digest", _digest)

    def rendering(
        self, url: str, form: Hashable, render: Callable[[NDArray[np.uint8]], _Made]
    ) -> _Made:
        """What `render` makes of a picture, rendered once per form."""
        key = key_of(url)
        made = self.prepared if key in self._shown else self._own
        return made.get(self._pixels[key], form, render)


def _digest(pixels: NDArray[np.uint8]) -> str:
    digest = hashlib.sha256(repr(pixels.shape).encode())
    digest.update(np.ascontiguousarray(pixels).data)
    return digest.hexdigest()


def url_of(key: str) -> str:
    """The URL of a picture for a message: `picture:KEY`."""
    return _SCHEME + key


def key_of(url: str) -> str:
    """The key in a picture's URL.

    Raises:
        KeyError: not a URL of an album.
    """
    if not url.startswith(_SCHEME):
        raise KeyError(url)
    return url.removeprefix(_SCHEME)
