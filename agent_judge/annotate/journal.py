"""What raters said, kept line by line: a file that is only ever added to.

A kill at any moment loses nothing that was acknowledged. When a rater changes an opinion the later
line holds, and the earlier one stays to be read.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from io import FileIO
from pathlib import Path
from typing import Any, Self

from agent_judge.errors import InputError
from agent_judge.records import Criterion


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What one rater said about one row, as a whole: it replaces what was said before."""

    by: str
    """The rater."""
    id: str
    """The manifest row's id."""
    answers: Mapping[Criterion, Mapping[str, str]]
    """Answers along each ladder, by question id, as far as they go."""
    levels: Mapping[Criterion, int]
    """Where complete answers lead to."""
    boxes: tuple[tuple[float, float, float, float], ...] = ()
    """Targets that the rater drew, pixels of the upright source."""
    comment: str = ""
    saw_difference: bool = False
    """Whether the rater had the difference of the pictures shown."""
    calibration: bool = False
    """Whether the row was in the calibration round, whose ratings may have been talked over."""
    rubric: str
    """Version of the ladders that were answered."""
    at: str
    """When, in UTC."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The entry that a line holds."""
        return cls(**{**data, "boxes": tuple(tuple(box) for box in data["boxes"])})


class Journal:
    """The entries in a file; one process at a time may hold it."""

    def __init__(self, path: Path, file: FileIO, entries: list[Entry]) -> None:
        self.path = path
        self._file = file
        self._writing = threading.Lock()
        self._latest = {(entry.id, entry.by): entry for entry in entries}

    @classmethod
    def open(cls, path: Path) -> Self:
        """The journal in a file, made when it does not exist.

        Raises:
            InputError: it cannot be written, is in use, or a line of it is no entry.
        """
        try:
            file = path.open("ab", buffering=0)
        except OSError as err:
            raise InputError(f"cannot write {str(path)!r}: {err.strerror}: pass --out") from err
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as err:
            file.close()
            raise InputError(f"{str(path)!r} is in use by another annotate") from err
        try:
            return cls(path, file, _read(path, file))
        except BaseException:
            file.close()
            raise

    def add(self, entry: Entry) -> None:
        """Keep an entry; it is on the disk when this returns. Safe from any thread.

        Raises:
            OSError: it could not be written.
        """
        line = memoryview((json.dumps(asdict(entry), ensure_ascii=False) + "\n").encode())
        with self._writing:
            end = self._file.seek(0, os.SEEK_END)
            try:
                while line:
                    line = line[self._file.write(line) :]
                os.fsync(self._file.fileno())
            except OSError:
                self._file.truncate(end)  # half a line would spoil the next one
                raise
            self._latest[entry.id, entry.by] = entry

    def latest(self) -> list[Entry]:
        """What holds now: the last entry of each rater on each row."""
        with self._writing:
            return list(self._latest.values())

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _read(path: Path, file: FileIO) -> list[Entry]:
    """The entries; a last line that a kill cut short was never acknowledged, and is cut off."""
    entries: list[Entry] = []
    *lines, torn = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            entries.append(Entry.from_json(json.loads(line)))
        except (ValueError, TypeError, KeyError, AttributeError) as err:
            raise InputError(f"{path}:{number}: expected what a rater said: {err}") from err
    if torn:
        file.truncate(sum(len(line) + 1 for line in lines))
    return entries
