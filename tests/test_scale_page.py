"""The snippets of docs/scale.md: they parse, and their commands run and merge to a whole run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from tests.cli.runs import ENV, records_of, write_rows

PAGE = (Path(__file__).parents[1] / "docs" / "scale.md").read_text(encoding="utf-8")
SHELL_ENV = {**ENV, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
OURS = "--judge measured --max-unscored 1"
ROWS = 3


def block(heading: str) -> str:
    """The code under a line of text."""
    found = re.search(rf"^{heading}.*?\n```\w*\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert found, heading
    return found[1]


def kubernetes():
    return yaml.safe_load(block("Kubernetes"))["spec"]


def actions():
    return yaml.safe_load(block("GitHub Actions"))["jobs"]


def runs_in(job) -> list[str]:
    return [step["run"] for step in job["steps"] if "agent-judge" in step.get("run", "")]


def sh(command: str, folder: Path, **variables: object) -> None:
    """Run a snippet as its system would, with the embedded judge in place of a model."""
    command = re.sub(r"--judge MODEL( --base-url URL)?( --jobs \d+)?", OURS, command)
    command = re.sub(r"(agent-judge run \S+ --out \S+ --shard \S+)$", rf"\1 {OURS}", command)
    env = SHELL_ENV | {name: str(value) for name, value in variables.items()}
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, (command, done.stderr)


def test_the_snippets_parse():
    script = block("Slurm")
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    assert script.startswith("#!/bin/bash\n#SBATCH --array=1-64 ")
    spec = kubernetes()
    [container] = spec["template"]["spec"]["containers"]
    assert spec["completions"] == spec["parallelism"] == 64
    assert container["command"] == ["sh", "-c"]
    [command] = container["args"]
    assert "/64 " in command
    subprocess.run(["sh", "-n"], input=command, text=True, check=True)
    assert actions()["merge"]["needs"] == "judge"


@pytest.mark.slow
def test_slurms_commands_judge_every_row_once(tmp_path):
    write_rows(tmp_path, ROWS)
    for n in (1, 2):
        sh(block("Slurm"), tmp_path, SLURM_ARRAY_TASK_ID=n, SLURM_ARRAY_TASK_COUNT=2)
    [after] = re.findall(r"depends on the array: `(.*?)`", PAGE)
    sh(after, tmp_path)
    assert len(records_of(tmp_path / "merged")) == 2 * ROWS
    assert (tmp_path / "merged" / "report" / "index.html").is_file()


@pytest.mark.slow
def test_kubernetes_counts_from_0_and_its_command_from_1(tmp_path):
    write_rows(tmp_path, ROWS)
    [container] = kubernetes()["template"]["spec"]["containers"]
    command = container["args"][0].replace("/data", str(tmp_path)).replace("/64", "/2")
    for n in (0, 1):
        sh(command, tmp_path, JOB_COMPLETION_INDEX=n)
    parts = [records_of(tmp_path / "runs" / str(n)) for n in (0, 1)]
    assert len(parts[0] | parts[1]) == len(parts[0]) + len(parts[1]) == 2 * ROWS


@pytest.mark.slow
def test_actions_shards_are_those_that_it_merges(tmp_path):
    write_rows(tmp_path, ROWS)
    jobs = actions()
    [run] = runs_in(jobs["judge"])[1:]
    for n in jobs["judge"]["strategy"]["matrix"]["shard"]:
        sh(run.replace("${{ matrix.shard }}", str(n)), tmp_path)
    [merge] = runs_in(jobs["merge"])[1:]
    sh(merge, tmp_path)
    assert len(records_of(tmp_path / "merged")) == 2 * ROWS
