import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from agent_judge.cli.main import VERBS
from agent_judge.store import Store
from tests.cli.calls import call
from tests.report.runs import BINDING, drawn_rows, make_run, plan_rows, save, scored

PROGRAM = (sys.executable, "-m", "agent_judge")


def process(*args: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *args],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **(env or {})},
    )


def test_help_lists_every_verb_and_loads_no_heavy_library():
    code = (
        "import sys\n"
        "from agent_judge.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit as end: print('exit', end.code)\n"
        "print('LOADED', *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    shown, loaded = done.stdout.split("LOADED")
    assert "exit 0" in shown
    assert all(f"\n  {verb} " in shown for verb in VERBS)
    heavy = {"cv2", "torch", "langgraph", "openai", "numpy", "pydantic", "rich", "PIL"}
    assert heavy.isdisjoint(loaded.split())


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_has_its_help(verb, capsys):
    assert call(verb, "--help") == 0
    assert f"Usage: agent-judge {verb}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ((), "Usage"),
        (("nosuchverb",), "No such command"),
        (("show",), "Missing argument"),
        (("show", "nowhere", "x"), "no run in 'nowhere'"),
        (("export", "nowhere", "--format", "xml"), "--format"),
        (("--log-level", "loud", "doctor"), "--log-level 'loud'"),
        (("show", "nowhere", "x", "--log-level"), "--log-level ''"),
    ],
)
def test_usage_and_input_errors_exit_2_without_a_traceback(args, told, capsys):
    assert call(*args) == 2
    shown = capsys.readouterr().err
    assert told in shown
    assert "Traceback" not in shown


def test_error_is_one_line_and_debug_adds_the_traceback(capsys):
    call("show", "nowhere", "x")
    assert capsys.readouterr().err.count("\n") == 1
    for args in (
        ("show", "nowhere", "x", "--log-level", "debug"),
        ("--log-level=debug", "show", "nowhere", "x"),
    ):
        assert call(*args) == 2
        assert "Traceback" in capsys.readouterr().err


@pytest.mark.slow
def test_internal_fault_exits_1_with_one_line_that_says_how_to_see_more(tmp_path):
    broken = tmp_path / "pyarrow"
    broken.mkdir()
    (broken / "__init__.py").write_text("raise KeyError('a\\nb')")
    run = make_run(tmp_path / "run", drawn_rows(tmp_path, 1))
    done = process(
        "export", str(run), "--format", "parquet", "-o", str(tmp_path / "x"),
        env={"PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "KeyError" in done.stderr
    assert "--log-level debug" in done.stderr


@pytest.mark.slow
def test_missing_libgl_is_one_line_with_the_remedy(tmp_path):
    (tmp_path / "cv2.py").write_text(
        "raise ImportError('libGL.so.1: cannot open shared object file: No such file or directory')"
    )
    picture = drawn_rows(tmp_path, 1)[0]["source"]
    done = process(
        "tool", "zoom_in", picture, "--box", "0,0,9,9", env={"PYTHONPATH": str(tmp_path)}
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "libGL.so.1 is missing: apt-get install libgl1" in done.stderr


@pytest.mark.slow
def test_reader_that_leaves_early_is_no_error_message(tmp_path):
    (row,) = drawn_rows(tmp_path, 1)
    with Store.create(tmp_path / "run", BINDING) as store:
        plan_rows(store, [row])
        save(store, scored(row, "IF", explanation=300_000 * "x"))  # more than a pipe holds
    done = subprocess.run(
        ["bash", "-c", f"{' '.join(PROGRAM)} export {tmp_path / 'run'} | head -c 11"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == '{"id": "row'
    assert done.stderr == ""


def test_version_is_that_of_the_distribution(capsys):
    assert call("--version") == 0
    assert capsys.readouterr().out.strip() == f"agent-judge {metadata.version('agent-judge')}"


@pytest.mark.slow
def test_module_and_script_are_the_same_program():
    script = Path(sys.executable).with_name("agent-judge")
    if not script.exists():
        pytest.skip("the package is not installed")
    done = subprocess.run([script, "--help"], capture_output=True, text=True, check=True)
    assert done.stdout == process("--help").stdout
