"""The pictures of one criterion, kept outside the graph's state and encoded at most once.

The graph's state and the messages hold only keys (`picture:KEY`); pixels stay here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agent_judge.images import encode_png

_SCHEME = "picture:"


class BlobSink(Protocol):
    """Where evidence pictures are kept for good."""

    def put_blob(self, sha256: str, data: bytes) -> None:
        """Keep bytes under their sha256; a second time is free."""


@dataclass(frozen=True)
class Album:
    """Pictures by key: `source`, `edited`, `reference`, or the sha256 of an evidence picture."""

    sink: BlobSink | None = None
    """None: evidence pictures live as long as the album."""
    _pixels: dict[str, NDArray[np.uint8]] = field(default_factory=dict)
    _png: dict[str, bytes] = field(default_factory=dict)
    _digests: dict[str, str] = field(default_factory=dict)
    _renderings: dict[tuple[str, Hashable], str] = field(default_factory=dict)

    def show(self, name: str, pixels: NDArray[np.uint8]) -> str:
        """Put a prepared picture in under its name; returns its URL for a message."""
        self._pixels[name] = pixels
        return _SCHEME + name

    def add_evidence(self, pixels: NDArray[np.uint8]) -> str:
        """Put a tool's picture in, keep its PNG in the sink; returns the PNG's sha256."""
        png = encode_png(pixels)
        sha256 = hashlib.sha256(png).hexdigest()
        self._pixels[sha256] = pixels
        self._png[sha256] = png
        if self.sink is not None:
            self.sink.put_blob(sha256, png)
        return sha256

    def add_sheet(self, urls: Sequence[str], pixels: NDArray[np.uint8]) -> str:
        """Put in a picture made of others, which is no evidence of its own; returns its URL."""
        key = "sheet+" + hashlib.sha256("+".join(urls).encode()).hexdigest()
        self._pixels[key] = pixels
        return _SCHEME + key

    def pixels(self, url: str) -> NDArray[np.uint8]:
        """The pixels behind `picture:KEY`.

        Raises:
            KeyError: no such picture.
        """
        return self._pixels[key_of(url)]

    def png(self, url: str) -> bytes:
        """The picture as PNG bytes, encoded on first use."""
        key = key_of(url)
        if key not in self._png:
            self._png[key] = encode_png(self._pixels[key])
        return self._png[key]

    def digest(self, url: str) -> str:
        """sha256 of a picture's size and pixels: the same whatever it is called."""
        key = key_of(url)
        if key not in self._digests:
            pixels = self._pixels[key]
            digest = hashlib.sha256(repr(pixels.shape).encode())
            digest.update(np.ascontiguousarray(pixels).data)
            self._digests[key] = digest.hexdigest()
        return self._digests[key]

    def rendering(
        self, url: str, form: Hashable, render: Callable[[NDArray[np.uint8]], str]
    ) -> str:
        """A picture as text for a wire, rendered once per form."""
        at = (key_of(url), form)
        if at not in self._renderings:
            self._renderings[at] = render(self._pixels[at[0]])
        return self._renderings[at]


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
