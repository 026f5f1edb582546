"""Where the pictures of a report are: inside its folder, or where the run keeps them.

A report that can be handed on holds its pictures. Ten thousand rows' full-size pictures and crops
are gigabytes, though; past `PACK_LIMIT_BYTES` they are shown from where they are.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from agent_judge.images import DAMAGE, FORMATS, quiet_pillow

PACK_LIMIT_BYTES = 150_000_000
"""Pictures up to this size together are put into the report's folder."""
FOLDER = "pictures"
_QUALITY = 92
_SHOWN = frozenset({".png", ".jpg", ".jpeg", ".webp", ".gif", ".avif", ".bmp"})
"""Suffixes that every browser shows."""


def total_bytes(paths: Iterable[Path]) -> int:
    """The size of the files that exist, each counted once."""
    return sum(path.stat().st_size for path in set(paths) if path.is_file())


def is_shown_by_browsers(path: Path) -> bool:
    """Whether a browser shows the file as it is, judged by its name."""
    return path.suffix.lower() in _SHOWN


@lru_cache(maxsize=1024)
def size_in_header(path: Path) -> tuple[int, int] | None:
    """Width and height of a picture as its header says, None without one; it is not decoded."""
    if not path.is_file():  # a pipe would block for ever
        return None
    try:
        with quiet_pillow(), Image.open(path, formats=FORMATS) as image:
            return image.size
    except (*DAMAGE, Image.DecompressionBombError):
        return None


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """Gives pictures their address in a report."""

    building: Path
    """The folder in which the report is being written."""
    final: Path
    """The folder in which it will lie."""
    packed: bool
    """Whether pictures are copied into the report."""
    _placed: dict[Path, str] = field(default_factory=dict)
    _placing: threading.Lock = field(default_factory=threading.Lock)

    def url(self, path: Path) -> str | None:
        """The address of a picture file as seen from `index.html`; None when it does not exist.

        Safe from any thread.
        """
        with self._placing:
            if path not in self._placed:
                if not path.is_file():
                    return None
                self._placed[path] = self._copy(path) if self.packed else self._link(path)
            return self._placed[path]

    def write_jpeg(self, origin: Path, pixels: NDArray[np.uint8]) -> str:
        """Put a picture into the report that was made from the file `origin`; its address."""
        target = self._target(origin, ".frame.jpg")
        Image.fromarray(pixels).save(target, "JPEG", quality=_QUALITY)
        return f"{FOLDER}/{target.name}"

    def _copy(self, path: Path) -> str:
        target = self._target(path, path.suffix.lower())
        shutil.copyfile(path, target)
        return f"{FOLDER}/{target.name}"

    def _target(self, origin: Path, suffix: str) -> Path:
        name = hashlib.sha256(str(origin).encode(errors="surrogateescape")).hexdigest()[:20]
        folder = self.building / FOLDER
        folder.mkdir(exist_ok=True)
        return folder / f"{name}{suffix}"

    def _link(self, path: Path) -> str:
        return quote(
            os.path.relpath(path.resolve(), self.final.resolve()), errors="surrogateescape"
        )
