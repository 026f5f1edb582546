"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_LONGEST_NAME = 200  # of the unfinished file's: what is added must fit too


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A path to write to, which takes the place of `path` only when all went well.

    A device or a pipe is written to as it comes, and stays. So does a link: its file is replaced.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    place = Path(os.path.realpath(path))
    unfinished = place.with_name(f".{place.name[:_LONGEST_NAME]}.{os.getpid()}")
    try:
        yield unfinished
        unfinished.replace(place)
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
