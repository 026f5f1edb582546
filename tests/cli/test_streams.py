"""Standard streams that are closed, full or without a reader: no run is lost by them."""

import subprocess
import sys

import pytest

from tests.cli.runs import ENV, agent_judge, records_of, write_rows

pytestmark = pytest.mark.slow

PROGRAM = f"{sys.executable} -m agent_judge"


def shell(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=120, check=False, env=ENV
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judged")
    manifest = write_rows(folder, 1, editor="é漢")
    agent_judge("run", manifest, "--out", folder / "run", "--judge", "measured")
    return folder / "run"


@pytest.mark.slow
def test_a_run_without_any_stream_is_a_run(tmp_path):
    manifest = write_rows(tmp_path, 1)
    done = shell(f"{PROGRAM} run {manifest} --out {tmp_path / 'run'} <&- >&- 2>&-")
    assert done.returncode == 0
    assert len(records_of(tmp_path / "run")) == 2


def judging(run):
    return f"{PROGRAM} run {run.parent / 'manifest.jsonl'} --out {run}"


@pytest.mark.parametrize("verb", ["export", "run"])
def test_a_full_disk_behind_the_output_is_one_clear_line(run, verb):
    command = judging(run) if verb == "run" else f"{PROGRAM} export {run}"
    done = shell(f"{command} > /dev/full")
    assert done.returncode == 2
    assert done.stderr == "agent-judge: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("stderr", ["/dev/full", "&-", ">(true)"])
def test_an_error_that_nobody_can_read_keeps_its_exit_code(tmp_path, stderr):
    done = shell(f"{PROGRAM} show {tmp_path} x 2>{stderr}")
    assert done.returncode == 2


def test_a_reader_that_leaves_a_table_early_is_told_by_the_exit_code(run):
    done = shell(f"{judging(run)} | true; exit ${{PIPESTATUS[0]}}")
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize(
    ("verb", "shown"),
    [("show {} r0", r"\xe9\u6f22"), ("export {}", "é漢"), ("export {} --format csv", "é漢")],
)
def test_no_locale_ends_a_command_for_a_letter_that_it_lacks(run, verb, shown):
    """What is data stays UTF-8; what a person reads is written with numbers."""
    bare = "LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 PYTHONIOENCODING=ascii"
    done = shell(f"{bare} {PROGRAM} {verb.format(run)}")
    assert (done.returncode, done.stderr) == (0, "")
    assert shown in done.stdout
