"""JSON documents read piece by piece: a benchmark's file may hold gigabytes of masks in one array.

`NaN` and `Infinity`, which Python's own writer puts into such files, are read as null.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from agent_judge.errors import InputError

MAX_VALUE_CHARS = 64 << 20
"""A longer value is refused: nothing that is read whole may fill the memory."""

_CHUNK_BYTES = 1 << 18
_CUT_SHORT = 16
"""An error this close to the end of what was read may come from the cut."""
_NO_SPACE = re.compile(r"[^ \t\r\n]")


class JsonFault(ValueError):
    """The document is broken; nothing behind this can be read."""


class JsonReader:
    """One document, walked with `members` and `elements`, read with `value`.

    Whoever walks a container consumes each of its values before the next.

    Raises:
        JsonFault: from any method, where the text is no JSON; `line` tells where.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file = path.open("rb")
        except OSError as err:
            raise InputError(f"{str(path)!r}: {err.strerror or err}") from err
        self._utf8 = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._at = 0
        self._ended = False
        self.line = 1
        """Line, from 1, of what is read next."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def peek(self) -> str:
        """The next character that is no space; empty at the end of the document."""
        while True:
            if match := _NO_SPACE.search(self._text, self._at):
                self._move(match.start())
                return match[0]
            self._move(len(self._text))
            if not self._fill(_CHUNK_BYTES):
                return ""

    def members(self) -> Iterator[str]:
        """The keys of the object that comes next, each with its value to be read."""
        self._expect("{")
        if self.peek() == "}":
            return self._expect("}")
        while True:
            if self.peek() != '"':
                raise JsonFault(f"not JSON: expected a key in quotes, got {self.peek()!r}")
            key = self.value()
            self._expect(":")
            yield key
            if self._next_of("}"):
                return None

    def elements(self) -> Iterator[None]:
        """Stops at each element of the array that comes next."""
        self._expect("[")
        if self.peek() == "]":
            return self._expect("]")
        while True:
            yield None
            if self._next_of("]"):
                return None

    def value(self) -> Any:  # noqa: ANN401 - any JSON value
        """The value that comes next, whole."""
        self.peek()
        size = _CHUNK_BYTES
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as err:
                if self._is_broken(err):
                    raise JsonFault(f"not JSON: {err.msg}") from err
            except RecursionError as err:
                raise JsonFault("not JSON that can be read: nested too deep") from err
            except ValueError as err:  # a key twice, or an integer of thousands of digits
                raise JsonFault(str(err)) from err
            else:
                # A number may go on behind the cut: 1, 1.5, 1e3.
                if end + _CUT_SHORT <= len(self._text) or self._ended:
                    self._move(end)
                    return value
            if len(self._text) - self._at > MAX_VALUE_CHARS:
                raise JsonFault(f"a value of more than {MAX_VALUE_CHARS >> 20} million characters")
            self._fill(size)
            size *= 2  # so that a long value is parsed few times

    def end(self) -> None:
        """Check that nothing follows."""
        if rest := self.peek():
            raise JsonFault(
                f"not JSON: expected the end of the file, got {rest!r} "
                "(a file with one object a line is a .jsonl file)"
            )

    def _is_broken(self, err: json.JSONDecodeError) -> bool:
        """Whether more text could not mend it."""
        cut = err.pos >= len(self._text) - _CUT_SHORT or err.msg.startswith("Unterminated string")
        return self._ended or not cut

    def _next_of(self, closing: str) -> bool:
        """Step over what follows a value; True at the end of the container."""
        char = self.peek()
        if char not in (",", closing) or not char:
            raise JsonFault(f"not JSON: expected ',' or {closing!r}, got {_named(char)}")
        self._expect(char)
        return char == closing

    def _expect(self, char: str) -> None:
        if (found := self.peek()) != char:
            raise JsonFault(f"not JSON: expected {char!r}, got {_named(found)}")
        self._move(self._at + 1)

    def _move(self, to: int) -> None:
        self.line += self._text.count("\n", self._at, to)
        self._at = to

    def _fill(self, n_bytes: int) -> bool:
        """Read on; False at the end of the file."""
        if self._ended:
            return False
        raw = self._file.read(n_bytes)
        self._ended = not raw
        try:
            text = self._utf8.decode(raw, final=not raw)
        except UnicodeDecodeError as err:
            raise JsonFault("not UTF-8") from err
        self._text = self._text[self._at :] + text
        self._at = 0
        return not self._ended


def _named(char: str) -> str:
    return repr(char) if char else "the end of the file"


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise JsonFault(f"the key {twice!r} appears twice")
    return values


def _null(_: str) -> None:
    return None


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_null)
