"""The pictures of one criterion, kept outside the graph's state and encoded at most once.

The graph's state and the messages hold only keys (`picture:KEY`); pixels stay here.
"""

from __future__ import annotations

import hashlib
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
