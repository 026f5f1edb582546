"""Content-addressed pictures of a run: `blobs/ab/<sha256>.png`."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent_judge.errors import StoreError


@dataclass(frozen=True)
class Blobs:
    """A folder of PNG files, each under the sha256 of its bytes."""

    folder: Path

    def put_blob(self, sha256: str, data: bytes) -> None:
        """Keep a picture; a second time is free. Safe from any thread and process.

        A file of another length is none: a full disk or a power cut may have left it.

        Raises:
            StoreError: it cannot be written.
        """
        path = self.path(sha256)
        half = path.with_name(f"{path.name}.{os.getpid()}-{id(data):x}")
        try:
            if path.is_file() and path.stat().st_size == len(data):
                return
            for folder in (self.folder, path.parent):  # never a run folder that was removed
                folder.mkdir(exist_ok=True)
            half.write_bytes(data)
            half.replace(path)
        except OSError as err:
            with suppress(OSError):
                half.unlink(missing_ok=True)
            raise StoreError(f"cannot write to {str(self.folder)!r}: {err.strerror}") from err

    def path(self, sha256: str) -> Path:
        """Where the picture of that hash lies, or would lie."""
        return self.folder / sha256[:2] / f"{sha256}.png"

    def absorb(self, other: Blobs) -> None:
        """Copy every picture of `other`."""
        for path in sorted(other.folder.glob("*/*.png")):
            self.put_blob(path.stem, path.read_bytes())
