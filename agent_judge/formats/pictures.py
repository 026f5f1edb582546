"""The pictures below a folder, by name without suffix: what every importer matches against.

Names are looked up, never counted off: one missing file would shift every pair behind it. Only
files that were found in the folder are ever returned, so no name can lead out of it.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from agent_judge.errors import InputError
from agent_judge.images import SUFFIXES


class Pictures:
    """The pictures of a folder by their names, and which of them were asked for."""

    def __init__(self, folder: Path, kind: str, *, nested: bool = False) -> None:
        """Look at the folder once.

        Args:
            folder: where the pictures lie.
            kind: what a message calls one of them: `source`, `output`, `mask`.
            nested: look into its folders too. Names then are paths relative to `folder`;
                otherwise the last part of a name counts alone.

        Raises:
            InputError: there is no such folder.
        """
        if not folder.is_dir():
            raise InputError(f"{str(folder)!r}: no such folder")
        self.folder = folder.absolute()
        self.kind = kind
        self._nested = nested
        self._stems: dict[str, list[Path]] = defaultdict(list)
        self._others: list[Path] = []
        self._asked: set[str] = set()
        for path in sorted(_files(self.folder) if nested else self.folder.iterdir()):
            if path.name.startswith("."):
                continue
            if path.suffix.lower() in SUFFIXES:
                self._stems[self._key(path.relative_to(self.folder).as_posix())].append(path)
            else:
                self._others.append(path)
        suffixes = Counter(path.suffix for paths in self._stems.values() for path in paths)
        self._suffix = max(suffixes, key=suffixes.__getitem__, default=".png")

    @property
    def n_pictures(self) -> int:
        """How many pictures there are."""
        return sum(map(len, self._stems.values()))

    def find(self, name: str) -> Path | None:
        """The picture named so, with or without its suffix.

        Raises:
            ValueError: several have that name, or it leads out of the folder.
        """
        key = self._key(name)
        self._asked.add(key)
        paths = self._stems.get(key, [])
        matching = [path for path in paths if path.name == PurePosixPath(name).name] or paths
        if len(matching) > 1:
            names = ", ".join(path.name for path in paths)
            raise ValueError(f"several {self.kind}s have the stem {key!r}: {names}")
        return matching[0] if matching else None

    def expected(self, name: str) -> Path:
        """Where a missing picture would be."""
        suffix = PurePosixPath(name).suffix
        return self.folder / f"{self._key(name)}{suffix if suffix in SUFFIXES else self._suffix}"

    def has(self, name: str) -> bool:
        """Whether there is a picture named so; asking this way leaves it unasked for."""
        return self._key(name) in self._stems

    def path(self, name: str) -> str:
        """The picture named so, or where it would be.

        Raises:
            ValueError: several have that name, or it leads out of the folder.
        """
        return str(self.find(name) or self.expected(name))

    def like(self, name: str) -> str:
        """A hint to a picture whose name differs in case or spaces, or nothing."""
        plain = self._key(name).strip().casefold()
        near = [paths[0].name for stem, paths in self._stems.items() if stem.casefold() == plain]
        return f" (there is {near[0]!r})" if near else ""

    def unused(self) -> Iterator[str]:
        """Pictures that nobody asked for, relative to the folder."""
        for stem, paths in self._stems.items():
            if stem not in self._asked:
                yield from (path.relative_to(self.folder).as_posix() for path in paths)

    def others(self) -> Iterator[Path]:
        """Visible files that are no pictures by their suffix."""
        yield from self._others

    def _key(self, name: str) -> str:
        text = name.replace("\\", "/").removeprefix(f"{self.folder.as_posix()}/")
        path = PurePosixPath(text.lstrip("/"))
        if not self._nested:
            path = PurePosixPath(path.name)
        if ".." in path.parts:
            raise ValueError(f"{name!r} leads out of {str(self.folder)!r}")
        known = path.suffix.lower() in SUFFIXES
        return str(path.with_suffix("")) if known else str(path)


def _files(folder: Path) -> Iterator[Path]:
    """Every file below, through links too, each folder once."""
    seen = set()
    for root, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(root)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        yield from (Path(root, name) for name in names)
