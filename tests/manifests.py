"""Rows of manifests, the files that hold them, and the faults that are found in them."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agent_judge.errors import ManifestError
from agent_judge.manifest import check_manifest

ROW = {"id": "a", "source": "s.png", "edited": "e.png", "instruction": "paint the cup red"}
FULL = {
    **ROW,
    "item": "cup",
    "reference": "r.png",
    "type": "color",
    "boxes": [[300, 200, 314, 210], [1.5, 2, 3, 4]],
    "box_format": "xyxy",
    "box_frame": [600, 400],
    "targets": ["the cup", "the saucer"],
    "editor": "model-x",
    "source_caption": "a table",
    "edited_caption": "a table with a red cup",
    "labels": [{"by": "ann", "IF": 3, "VC": 4, "why": "shade"}, {"by": "bob", "IF": 1, "VC": None}],
}


def jsonl(folder: Path, *rows: Any, name: str = "m.jsonl") -> Path:
    path = folder / name
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def faults(path: Path, **options: Any) -> list[tuple[int | None, str | None, str]]:
    with pytest.raises(ManifestError) as caught:
        check_manifest(path, **options)
    return [(fault.line, fault.field, fault.message) for fault in caught.value.faults]


def cells(row: dict[str, Any]) -> dict[str, str]:
    return {k: v if isinstance(v, str) else json.dumps(v) for k, v in row.items()}


def csv_text(*rows: dict[str, Any]) -> str:
    names = list(dict.fromkeys(itertools.chain(*rows)))
    lines = [names, *([cells(row).get(name, "") for name in names] for row in rows)]
    quoted = [",".join('"' + c.replace('"', '""') + '"' for c in line) for line in lines]
    return "\n".join(quoted) + "\n"


def as_csv(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "m.csv"
    path.write_text(csv_text(*rows), encoding="utf-8")
    return path


def as_parquet(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "m.parquet"
    pq.write_table(pa.Table.from_pylist([{**dict.fromkeys(FULL), **row} for row in rows]), path)
    return path


def as_parquet_of_text(folder: Path, *rows: dict[str, Any]) -> Path:
    return as_parquet(folder, *(cells(row) for row in rows))
