"""Which files a manifest may name: those in its folder or in a root that the user allowed.

A manifest may come from someone else, and what it names is sent to a judge. So symlinks and `..`
are followed before the answer. A root may be a URL: then URLs below it are allowed, and so are
paths relative to a manifest that lies there; no other URL is ever fetched.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from agent_judge import remote
from agent_judge.errors import InputError
from agent_judge.remote import is_url, place_of, url_of

_MAX_PATH_BYTES, _MAX_NAME_BYTES = 4095, 255
"""What Linux takes; other systems take less."""
_MAX_DEPTH = 200  # of folders looked at one by one
_KEPT = 1 << 16
"""Manifests have millions of paths in few folders, or few paths in millions of rows."""


class Roots:
    """The folder that relative paths start at, and every folder that a path may lie in."""

    def __init__(self, folder: Path, allowed: Sequence[Path] = ()) -> None:
        """Take the manifest's folder and the `--root` folders.

        Raises:
            InputError: a root is no folder.
        """
        for root in allowed:
            if url_of(root) is None and not root.is_dir():
                raise InputError(f"--root {str(root)!r}: no such folder")
        self._folder = str(folder.absolute())
        self._place = os.path.realpath(remote.PLACE) + "/"
        roots = [os.path.realpath(root).rstrip("/") + "/" for root in (folder, *allowed)]
        self._inside = tuple(root for root in roots if not root.startswith(self._place))
        self._far = tuple(root for root in roots if root.startswith(self._place))
        self._real = lru_cache(_KEPT)(self._follow)
        self._known = lru_cache(_KEPT)(self._locate)

    def path(self, text: str) -> Path:
        """The file that a manifest means by `text`; it need not exist.

        Raises:
            ValueError: it lies outside, or is no path; the message says what to do.
        """
        return Path(self.check(text))

    def check(self, text: str) -> str:
        """The same file as text: a `Path` takes as long to make as all checks together.

        Raises:
            ValueError: as `path`.
        """
        return self._known(text)

    def _locate(self, text: str) -> str:
        if "\0" in text or not text.strip():
            raise ValueError(f"expected a path, got {text!r:.80}")
        if text.startswith("data:"):
            raise ValueError(f"expected a path or the URL of a file, got {text!r:.80}")
        full = self._full(text)
        if _is_too_long(full):
            raise ValueError(f"{text!r:.80} is longer than a path can be")
        real = self._follow(full)
        # Copies of other URLs are nobody's to name, though they lie in a folder of this machine.
        if not real.startswith(self._far if real.startswith(self._place) else self._inside):
            kind = "URL" if is_url(text) else "DIR"
            raise ValueError(
                f"{text!r} leads outside the manifest's folder: "
                f"allow the folder it lies in with --root {kind}"
            )
        return full

    def _full(self, text: str) -> str:
        if is_url(text):
            return str(place_of(text))
        full = text if text.startswith("/") else f"{self._folder}/{text}"
        url = url_of(full)
        return full if url is None else str(place_of(url))

    def _follow(self, path: str) -> str:
        """`os.path.realpath`, but each folder is looked at once."""
        folder, _, name = path.rpartition("/")
        if not folder or name in ("", ".", "..") or path.count("/") > _MAX_DEPTH:
            return os.path.realpath(path)
        real = f"{self._real(folder)}/{name}"
        is_link = os.path.islink(real)  # noqa: PTH114 - a Path costs more than the look
        return os.path.realpath(real) if is_link else real


def _is_too_long(path: str) -> bool:
    if len(path) <= _MAX_NAME_BYTES and path.isascii():
        return False
    raw = os.fsencode(path)
    return len(raw) > _MAX_PATH_BYTES or max(map(len, raw.split(b"/"))) > _MAX_NAME_BYTES
