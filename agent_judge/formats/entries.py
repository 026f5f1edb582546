"""A benchmark's table as entries, streamed, and which key of an entry holds which column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_judge.errors import InputError
from agent_judge.formats.json_reader import JsonFault, JsonReader
from agent_judge.row_fields import COLUMNS
from agent_judge.row_files import BadRow, read_rows


class BadEntry(ValueError):
    """An entry that gives no row, and why."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One entry of a table."""

    path: Path
    """The table."""
    line: int
    """Where it begins, from 1; the row in Parquet."""
    key: str | None
    """Its key, where the table is one JSON object."""
    value: Any
    """What it holds; a `BadRow` where it cannot be read."""

    def values(self) -> Mapping[str, Any]:
        """What it holds by key.

        Raises:
            BadEntry: it cannot be read, or is no object.
        """
        if isinstance(self.value, BadRow):
            raise BadEntry(self.value.message, self.value.field)
        if not isinstance(self.value, Mapping):
            raise BadEntry(f"expected an object of keys and values, got {self.value!r:.60}")
        return self.value


def read_entries(path: Path) -> Iterator[Entry]:
    """The entries of a table, in its order.

    Args:
        path: .json (one array, or one object of entries by key), .jsonl, .csv or .parquet.

    Raises:
        InputError: the file is missing or of another kind.
    """
    if path.suffix.lower() != ".json":
        for line, row in read_rows(path):
            yield Entry(path=path, line=line, key=None, value=row)
        return
    if not path.is_file():
        raise InputError(f"{str(path)!r}: no such file")
    with JsonReader(path) as reader:
        try:
            is_array = reader.peek() == "["
            for key in reader.elements() if is_array else reader.members():
                reader.peek()
                line = reader.line
                yield Entry(path=path, line=line, key=key, value=reader.value())
            reader.end()
        except JsonFault as err:
            bad = BadRow(message=str(err), ends_file=True)
            yield Entry(path=path, line=reader.line, key=None, value=bad)


class Fields:
    """Which key of a foreign entry holds which column.

    The first key of a column's aliases that an entry has, and that is neither null nor empty,
    holds it. A dot leads into an object: `annotation.bbox`.
    """

    def __init__(self, aliases: Mapping[str, Sequence[str]], mapping: Mapping[str, str]) -> None:
        """Take a format's aliases and the user's own choice (`--map column=key`).

        Raises:
            InputError: the mapping names a column that the format does not read.
        """
        if unknown := sorted(mapping.keys() - aliases.keys()):
            raise InputError(f"--map {unknown[0]}=...: expected one of {', '.join(aliases)}")
        self._keys = {
            column: (mapping[column],) if column in mapping else tuple(keys)
            for column, keys in aliases.items()
        }
        self._chosen = mapping
        self._read: dict[str, str] = {}
        self._seen: dict[str, None] = {}

    def take(self, values: Mapping[str, Any], column: str) -> Any:  # noqa: ANN401
        """The column's value, or None."""
        self._seen |= dict.fromkeys(values)
        key = self._key(values, column)
        if key is None:
            return None
        self._read[key] = column
        return _lookup(values, key)

    def text(self, values: Mapping[str, Any], column: str) -> str:
        """The column's value as text.

        Raises:
            BadEntry: there is none, or it is neither text nor a number.
        """
        found = self.take(values, column)
        keys = " or ".join(self._keys[column])
        if found is None:
            raise BadEntry(f"expected a key {keys}; name another with --map {column}=KEY", column)
        if isinstance(found, bool) or not isinstance(found, str | int | float):
            raise BadEntry(f"expected text in {keys}, got {found!r:.60}", column)
        return str(found)

    def names(self, values: Mapping[str, Any], column: str) -> list[str]:
        """The column's value, one name or a list of them, as a list; empty for none.

        Raises:
            BadEntry: it is neither.
        """
        found = self.take(values, column)
        names = found if isinstance(found, list) else [] if found is None else [found]
        if not all(isinstance(name, str) and name for name in names):
            raise BadEntry(f"expected one name or a list of names, got {found!r:.60}", column)
        return names

    def rest(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The entry's other keys, to be kept beside the columns.

        A key that is named like a column of a manifest, but was not read as one, gets an
        underscore in front: it means something else.
        """
        keys = [self._key(values, column) for column in self._keys]
        read = {key.partition(".")[0] for key in keys if key is not None}
        return {
            f"_{key}" if key in COLUMNS else key: value
            for key, value in values.items()
            if key not in read and value is not None
        }

    def check(self) -> None:
        """Complain of a `--map` whose key no entry had.

        Raises:
            InputError: there is one; the message lists the keys that were found.
        """
        for column, key in self._chosen.items():
            if self._seen and key not in self._read:
                raise InputError(
                    f"--map {column}={key}: no entry has that key; found {', '.join(self._seen)}"
                )

    def summary(self) -> str:
        """The keys that were found, and what each was read as."""
        read = {key.partition(".")[0] for key in self._read}
        kept = ", ".join(key for key in self._seen if key not in read)
        order = list(self._keys)
        found = sorted(self._read.items(), key=lambda pair: order.index(pair[1]))
        taken = ", ".join(f"{key} -> {column}" for key, column in found)
        return "; ".join(part for part in (taken, kept and f"kept: {kept}") if part)

    def _key(self, values: Mapping[str, Any], column: str) -> str | None:
        """The key that holds the column in this entry."""
        return next((k for k in self._keys[column] if _lookup(values, k) not in (None, "")), None)


def _lookup(values: Mapping[str, Any], key: str) -> Any:  # noqa: ANN401
    if key in values:
        return values[key]
    head, dot, tail = key.partition(".")
    inner = values.get(head)
    return _lookup(inner, tail) if dot and isinstance(inner, Mapping) else None
