"""JSONL, CSV and Parquet files as rows of plain values, streamed, each with its line.

A row that cannot be read becomes a `BadRow` and the next one follows, so that one pass finds all
faults. Memory stays flat whatever the file holds.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from agent_judge.errors import InputError
from agent_judge.remote import shown

MAX_LINE_BYTES = 16 << 20
"""A longer line is a fault, and is not read."""
LIST_COLUMNS = frozenset({"boxes", "box_frame", "targets", "labels"})
"""Columns whose cells hold JSON where a file has text only."""

_BOM = b"\xef\xbb\xbf"
_PARQUET_BATCH_ROWS = 2048
_NO_PYTHON_VALUE = (ValueError, OverflowError)
"""What pyarrow raises for a value that Python has no place for: a year 10^6, text that is none."""


@dataclass(frozen=True, kw_only=True)
class BadRow:
    """A row that cannot be read, and why."""

    message: str
    field: str | None = None
    ends_file: bool = False
    """The fault is the file's, not one row's; nothing follows."""


Row: TypeAlias = tuple[int, Mapping[str, Any] | BadRow]
"""(line or row number from 1, values by column)."""


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of a manifest file, by its suffix: .jsonl (.ndjson, .json), .csv or .parquet.

    Raises:
        InputError: the file is missing or of another kind.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{shown(path)!r}: expected a .jsonl, .csv or .parquet file")
    if not path.is_file():
        raise InputError(f"{shown(path)!r}: no such file")
    try:
        yield from reader(path)
    except OSError as err:
        raise InputError(f"{shown(path)!r}: {err.strerror or err}") from err


class _Fault(ValueError):
    """A row's fault, on its way out of a parser's hooks."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


def _lines(path: Path) -> Iterator[tuple[int, str | BadRow]]:
    """The lines of a UTF-8 file without a byte order mark, line ends kept."""
    with path.open("rb") as file:
        number = 0
        while raw := file.readline(MAX_LINE_BYTES):
            number += 1
            if number == 1:
                raw = raw.removeprefix(_BOM)
                if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
                    yield 1, BadRow(message="the file is UTF-16: save it as UTF-8", ends_file=True)
                    return
            if len(raw) >= MAX_LINE_BYTES and not raw.endswith(b"\n"):
                while raw and not raw.endswith(b"\n"):
                    raw = file.readline(MAX_LINE_BYTES)
                yield number, BadRow(message=f"the line is longer than {MAX_LINE_BYTES} bytes")
                continue
            try:
                yield number, raw.decode("utf-8")
            except UnicodeDecodeError as err:
                yield number, BadRow(message=f"not UTF-8 (byte {err.start + 1} of the line)")


def _jsonl(path: Path) -> Iterator[Row]:
    is_first = True
    for number, line in _lines(path):
        if isinstance(line, BadRow):
            yield number, line
        elif text := line.strip():
            if is_first and text == "[":
                message = "the file is one JSON array: write one object a line"
                yield number, BadRow(message=message, ends_file=True)
                return
            is_first = False
            yield number, _json_row(text)


def _json_row(text: str) -> Mapping[str, Any] | BadRow:
    try:
        row = _strict_json(text)
    except _Fault as err:
        return BadRow(message=str(err), field=err.field or _field_of_nan(text))
    except json.JSONDecodeError as err:
        return BadRow(message=f"not JSON: {err.msg} (column {err.colno})")
    except RecursionError:
        return BadRow(message="not JSON that can be read: nested too deep")
    except ValueError as err:  # an integer of thousands of digits
        return BadRow(message=f"not JSON that can be read: {err}")
    if not isinstance(row, dict):
        return BadRow(message=f"expected a JSON object, got {text:.40}")
    return row


def _strict_json(text: str) -> Any:  # noqa: ANN401 - any JSON value
    value = _STRICT_JSON.decode(text)
    if "\\u" in text:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise _Fault("half a surrogate pair is no text") from None
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Fault("the key appears twice", field=twice)
    return row


def _no_constant(name: str) -> float:
    raise _Fault(f"{name} is no JSON number")


def _finite(number: str) -> float:
    value = float(number)
    if math.isinf(value):  # valid JSON, but it could not be written as JSON again
        raise _Fault(f"{number:.40} is larger than any number can be")
    return value


_STRICT_JSON = json.JSONDecoder(
    object_pairs_hook=_unique_keys, parse_constant=_no_constant, parse_float=_finite
)


def _field_of_nan(text: str) -> str | None:
    try:
        row = json.loads(text)
    except (ValueError, RecursionError):  # NaN is not all that is wrong with the line
        return None
    names = row if isinstance(row, dict) else ()
    return next((name for name in names if _has_nan(row[name])), None)


def _has_nan(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_nan, value.values()))
    if isinstance(value, list):
        return any(map(_has_nan, value))
    return isinstance(value, float) and not math.isfinite(value)


def _csv(path: Path) -> Iterator[Row]:
    bad: list[tuple[int, BadRow]] = []
    reader = csv.reader(_good_lines(path, bad), strict=True)
    header: list[str] | None = None
    while True:
        number = reader.line_num + 1  # where the record begins: cells may hold line ends
        try:
            cells = next(reader, None)
        except csv.Error as err:
            yield number, BadRow(message=f"not CSV: {err}")
            continue
        yield from bad
        if bad and bad[-1][1].ends_file:
            return
        bad.clear()
        if cells is None:
            return
        if not any(cells):
            continue
        if header is None:
            header = [name.strip() for name in cells]
            fault = _header_fault(header)
            if fault is not None:
                yield number, fault
                return
        elif len(cells) != len(header):
            message = f"{len(cells)} cells, where the header has {len(header)}"
            yield number, BadRow(message=message)
        else:
            pairs = zip(header, cells, strict=True)
            yield number, {name: _cell(name, text) for name, text in pairs if name and text}


def _good_lines(path: Path, bad: list[tuple[int, BadRow]]) -> Iterator[str]:
    """The lines for the CSV reader; a bad one is put aside and stands as an empty line."""
    for number, line in _lines(path):
        if isinstance(line, BadRow):
            bad.append((number, line))
            yield "\n"
        else:
            yield line


def _header_fault(header: list[str]) -> BadRow | None:
    if len(header) == 1 and (";" in header[0] or "\t" in header[0]):
        return BadRow(message="expected columns separated by commas", ends_file=True)
    # A column without a name (an index, empty cells of a spreadsheet) means nothing.
    twice = next((name for name in header if name and header.count(name) > 1), None)
    if twice is not None:
        return BadRow(message="the column appears twice", field=twice, ends_file=True)
    return None


def _cell(name: str, text: str) -> Any:  # noqa: ANN401 - what a row holds
    """A cell of text as a value: list columns hold JSON; what is none stays text, a fault later."""
    if name not in LIST_COLUMNS:
        return text
    try:
        return _strict_json(text)
    except (ValueError, RecursionError):
        return text


def _parquet(path: Path) -> Iterator[Row]:
    import pyarrow as pa  # slow to import, needed here alone
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, pre_buffer=False) as file:
            schema = file.schema_arrow
            twice = next((n for n in schema.names if schema.names.count(n) > 1), None)
            if twice is not None:
                yield 1, BadRow(message="the column appears twice", field=twice, ends_file=True)
                return
            # Bytes are no JSON: they are embedded pictures, the bulk of such files.
            columns = [column.name for column in schema if not _holds_bytes(column.type)]
            number = 0
            for batch in file.iter_batches(_PARQUET_BATCH_ROWS, columns=columns):
                for values in _rows_of(batch):
                    number += 1
                    yield number, values if isinstance(values, BadRow) else _present(values)
    except (pa.ArrowException, OSError) as err:
        message = f"not Parquet that can be read: {' '.join(str(err).split())}"
        yield 1, BadRow(message=message, ends_file=True)


def _holds_bytes(kind: object) -> bool:
    return "binary" in str(kind)


def _rows_of(batch: Any) -> list[Mapping[str, Any] | BadRow]:  # noqa: ANN401 - of pyarrow
    try:
        return list(batch.to_pylist())
    except _NO_PYTHON_VALUE:
        return [_row_by_cells(batch, index) for index in range(batch.num_rows)]


def _row_by_cells(batch: Any, index: int) -> Mapping[str, Any] | BadRow:  # noqa: ANN401 - of pyarrow
    values = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            values[name] = column[index].as_py()
        except _NO_PYTHON_VALUE as err:
            why = " ".join(str(err).split())
            message = f"holds {column.type} that cannot be read: write it as text ({why:.120})"
            return BadRow(message=message, field=name)
    return values


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    """A Parquet row without its nulls: every row has every column there."""
    row = {}
    for name, value in values.items():
        if isinstance(value, str):
            row[name] = _cell(name, value)
        elif (plain := _plain(value)) is not None:
            row[name] = plain
    return row


def _plain(value: Any) -> Any:  # noqa: ANN401 - walks what Parquet may hold
    """The value in JSON types; NaN stands for nothing there, as pandas writes it."""
    if isinstance(value, dict):
        plain = {name: _plain(v) for name, v in value.items()}
        return {name: v for name, v in plain.items() if v is not None}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | None) else str(value)


_READERS: Mapping[str, Callable[[Path], Iterator[Row]]] = {
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), _jsonl),
    ".csv": _csv,
    ".parquet": _parquet,
}
