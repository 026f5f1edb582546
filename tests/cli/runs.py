"""Runs over small manifests, in this process or in one of their own."""

import contextlib
import io
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from agent_judge.images import encode_png
from agent_judge.records import Record
from agent_judge.run import Run
from agent_judge.testing.answers import criterion_of, verdict
from tests.cli.calls import call

AGENT_JUDGE = [sys.executable, "-m", "agent_judge"]
KEYLESS = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "AGENT_JUDGE_"))}
ENV = {**KEYLESS, "OPENAI_API_KEY": "sk-test"}
QUICK = ("--set", "judge.transport_retries=1", "--set", "judge.backoff_max_s=0.01")


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def agent_judge(*args: object) -> Done:
    """The command line in this process: the same entry point, only the start-up is saved."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.dict(os.environ, ENV, clear=True),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = call(*args)
    return Done(code, out.getvalue(), err.getvalue())


def write_rows(folder: Path, n: int, **more) -> Path:
    """A manifest of n rows over n different pairs without boxes."""
    rng = np.random.default_rng(5)
    rows = []
    for index in range(n):
        source = rng.integers(80, 150, (64, 80, 3)).astype(np.uint8)
        edited = source.copy()
        edited[20:30, 20:30] = (240, 10, 10)
        for name, pixels in (("source", source), ("edited", edited)):
            (folder / f"{name}{index}.png").write_bytes(encode_png(pixels))
        rows.append(
            {
                "id": f"r{index}",
                "source": f"source{index}.png",
                "edited": f"edited{index}.png",
                "instruction": f"make square {index} red",
                **more,
            }
        )
    return write_manifest(folder, rows)


def write_manifest(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "manifest.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def rows_of(manifest: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in manifest.read_text(encoding="utf-8").splitlines()]


def records_of(run_dir: Path) -> dict[tuple[str, str], Record]:
    return {(r.id, r.criterion): r for r in Run.open(run_dir).records()}


def level_4(request):
    return verdict(criterion_of(request), 4)


def instruction_number(request) -> int:
    text = json.dumps(request.messages[1])
    return int(text.split("make square ")[1].split(" ")[0])


def start(*args) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*AGENT_JUDGE, *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENV,
    )


def wait_for(condition, timeout_s=60):
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
