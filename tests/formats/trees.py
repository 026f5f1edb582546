"""Small trees in the layouts of benchmarks, and what their import gives."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agent_judge.cli.import_result import Streamed
from agent_judge.errors import AgentJudgeError
from agent_judge.formats.importing import ImportOptions
from agent_judge.manifest import check_manifest, write_manifest

DEFAULTS = ImportOptions()


def lay(folder: Path, names: str | Iterable[str]) -> Path:
    """Empty files, by names with blanks between them; returns the folder."""
    for name in names.split() if isinstance(names, str) else names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return folder


def put(path: Path, value: object) -> Path:
    """A JSON document, or one object a line for a `.jsonl` file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".jsonl":
        assert isinstance(value, list)
        text = "".join(json.dumps(row) + "\n" for row in value)
    else:
        text = json.dumps(value, indent=1)
    path.write_text(text, encoding="utf-8")
    return path


def rows_of(found: Streamed, folder: Path) -> list[dict[str, Any]]:
    """The rows of the manifest that an import writes, which is without a fault."""
    path = folder / "manifest.jsonl"
    write_manifest(path, found)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert check_manifest(path, roots=[f for f in found.folders if f.is_dir()]) == len(rows)
    return rows


def refusal(found: Streamed) -> str:
    """What an import that must not be written says."""
    try:
        list(found)
    except AgentJudgeError as err:
        return str(err)
    raise AssertionError("the import was not refused")
