"""Every record of a run as JSONL, CSV or Parquet: one row per (id, criterion), streamed.

The columns are the fields of `Record` in its order. Lists stay lists in JSONL and Parquet and are
JSON in the cell in CSV; a missing value is null, in CSV an empty cell.
"""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields
from io import TextIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from agent_judge.records import Record
from agent_judge.rubrics.changes import Changes
from agent_judge.rubrics.protocol import Protocol

if TYPE_CHECKING:
    import pyarrow as pa

Format = Literal["jsonl", "csv", "parquet", "junit", "rewards", "classical"]
COLUMNS: tuple[str, ...] = tuple(field.name for field in fields(Record))
"""The columns of every format, in order."""
PARTITIONS = ("editor", "criterion", "mode", "type", "status", "reason", "judge")
"""Columns that Parquet can be partitioned by: those of few different values."""
ENCODING_ERRORS = "backslashreplace"
"""Half a surrogate pair, which JSON can carry and UTF-8 cannot, is written as its escape."""
_EVIDENCE_KEYS = ("tool", "args", "text", "images")
_ROWS_A_GROUP = 1000
_NOTHING = "none"
_UNFINISHED = ".unfinished"  # readers of data sets pass over what begins with a dot


def export_row(record: Record) -> dict[str, Any]:
    """A record as the export's row, as plain JSON types."""
    row = record.to_json()
    row["evidence"] = [{key: one[key] for key in _EVIDENCE_KEYS} for one in row["evidence"]]
    return row


def write_jsonl(records: Iterable[Record], out: TextIOBase) -> None:
    """One JSON object a line."""
    for record in records:
        out.write(_as_json(export_row(record)) + "\n")


def write_csv(records: Iterable[Record], out: TextIOBase) -> None:
    """A header and one line a record; cells with quotes, commas or line breaks are quoted.

    Args:
        records: what to write.
        out: opened with `newline=""`.
    """
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for record in records:
        writer.writerow(_cell(value) for value in export_row(record).values())


def write_parquet(records: Iterable[Record], protocol: Protocol, path: Path) -> None:
    """Typed columns; only the free-form arguments of a tool call are JSON text.

    Args:
        records: what to write.
        protocol: that of the run: a run without records has the same types.
        path: the file.
    """
    import pyarrow.parquet as pq

    schema = parquet_schema(protocol)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for group in _groups(map(_parquet_row, records)):
            writer.write_batch(_batch(group, schema))


def write_partitioned(
    records: Iterable[Record],
    protocol: Protocol,
    folder: str,
    columns: Sequence[str],
    system: object = None,
) -> list[str]:
    """Parquet files as `write_parquet` writes them, in folders like `editor=NAME/criterion=IF`.

    Nothing changes there until all is written; then what lay in a folder that is written to is
    replaced. The columns named by folders are not in the files: readers of such data sets put them
    back.

    Args:
        records: what to write, streamed; a few rows of each folder are held.
        protocol: that of the run.
        folder: made when it does not exist; its name on `system`.
        columns: out of `PARTITIONS`, outermost first.
        system: an fsspec file system; None for this machine's.

    Returns:
        Other files in the folder, which stay: readers take their rows too.

    Raises:
        OSError: it cannot be written.
    """
    import pyarrow.fs as fs
    import pyarrow.parquet as pq

    place = fs.LocalFileSystem() if system is None else fs.PyFileSystem(fs.FSSpecHandler(system))
    schema = parquet_schema(protocol)
    for name in columns:
        schema = schema.remove(schema.get_field_index(name))
    unfinished = f"{folder}/{_UNFINISHED}"
    place.create_dir(unfinished, recursive=True)
    place.delete_dir_contents(unfinished, missing_dir_ok=True)
    written: dict[str, str] = {}
    try:
        with ExitStack() as stack:
            writers: dict[str, pq.ParquetWriter] = {}
            for part, rows in _parts(map(_parquet_row, records), columns):
                if part not in writers:
                    written[f"{folder}/{part}"] = half = f"{unfinished}/{len(written)}"
                    made = pq.ParquetWriter(half, schema, filesystem=place, compression="zstd")
                    writers[part] = stack.enter_context(made)
                writers[part].write_batch(_batch(rows, schema))
        for whole, half in written.items():
            place.create_dir(whole, recursive=True)
            place.delete_dir_contents(whole, missing_dir_ok=True)
            place.move(half, f"{whole}/part-0.parquet")
    finally:
        place.delete_dir(unfinished)
    there = place.get_file_info(fs.FileSelector(folder, recursive=True))
    files = [str(one.path) for one in there if one.type == fs.FileType.File]
    return [file for file in files if file.rpartition("/")[0] not in written]


def _parts(
    rows: Iterable[dict[str, Any]], columns: Sequence[str]
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Some rows of one folder after the other, each without the columns that name it."""
    waiting: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        part = "/".join(_folder_name(name, row.pop(name)) for name in columns)
        waiting.setdefault(part, []).append(row)
        if len(waiting[part]) == _ROWS_A_GROUP:
            yield part, waiting.pop(part)
    yield from waiting.items()


def _folder_name(column: str, value: str | None) -> str:
    """As everything that reads Hive's data sets takes it.

    Hive's own word for nothing, `__HIVE_DEFAULT_PARTITION__`, is null to readers; but pandas reads
    no column that is null in places, and pyarrow none that is null throughout.
    """
    return f"{column}={quote(value or _NOTHING, safe='')}"


def _batch(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_pylist(rows, schema=schema)


def parquet_schema(protocol: Protocol) -> pa.Schema:
    """The types of the columns; levels are whole numbers where all scales of the protocol are."""
    import pyarrow as pa

    text, number, count = pa.string(), pa.float64(), pa.int64()
    box = pa.list_(number)
    rubrics = protocol.rubrics.values()
    level = count if all(rubric.scale.whole for rubric in rubrics) else number
    target = [("box", box), ("level", level), ("label", text)]
    if any(isinstance(rubric, Changes) for rubric in rubrics):
        target += [("command", text), ("element", text), ("inside_target", pa.bool_())]
    listed: Mapping[str, pa.DataType] = {
        "answers": pa.struct([("question", text), ("answer", text)]),
        "per_target": pa.struct(target),
        "anomalies": pa.struct([("what", text), ("box", box)]),
        "target_boxes": box,
        "vote_levels": level,
        "flags": text,
        "notes": text,
        "evidence": pa.struct(
            [("tool", text), ("args", text), ("text", text), ("images", pa.list_(text))]
        ),
    }
    types: dict[str, pa.DataType] = {
        **{name: pa.list_(item) for name, item in listed.items()},
        **dict.fromkeys(("score_100", "area_pct", "usd", "seconds", "mask_margin_px"), number),
        **dict.fromkeys(("tokens_in", "tokens_out", "attempts"), count),
        "level": level,
    }
    return pa.schema([(name, types.get(name, text)) for name in COLUMNS])


def _parquet_row(record: Record) -> dict[str, Any]:
    row = _without_half_pairs(export_row(record))
    for one in row["evidence"]:
        one["args"] = _as_json(one["args"])
    return dict(row)


def _without_half_pairs(value: Any) -> Any:  # noqa: ANN401 - walks JSON
    if isinstance(value, str):
        return value.encode(errors=ENCODING_ERRORS).decode()
    if isinstance(value, list):
        return [_without_half_pairs(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_half_pairs(item) for key, item in value.items()}
    return value


def _groups(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    while group := list(itertools.islice(rows, _ROWS_A_GROUP)):
        yield group


def _cell(value: Any) -> Any:  # noqa: ANN401 - any JSON type
    return _as_json(value) if isinstance(value, list) else value


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
