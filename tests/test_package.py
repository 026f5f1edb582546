"""The package as users get it: light imports, public names, links, sdist and wheel."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import agent_judge

ROOT = Path(__file__).parents[1]
LINKS = ("tools", "rubrics", "oracle")


def in_a_fresh_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return done.stdout.strip()


def test_importing_the_package_loads_no_heavy_library():
    code = (
        "import sys, agent_judge;"
        "print([m for m in ('cv2', 'torch', 'numpy', 'openai', 'langgraph') if m in sys.modules])"
    )
    assert in_a_fresh_python(code) == "[]"


def test_reading_a_run_loads_what_only_some_figures_need_when_they_do():
    code = (
        "import sys, agent_judge.cli.show;"
        "print([m for m in ('cv2', 'scipy', 'openai', 'langgraph') if m in sys.modules])"
    )
    assert in_a_fresh_python(code) == "[]"


@pytest.mark.slow
def test_setting_up_a_run_loads_no_torch():
    code = (
        "import sys, agent_judge;"
        "from agent_judge.engines.bench import bench_of; bench_of(agent_judge.Settings());"
        "print([m for m in ('torch', 'transformers', 'realesrgan') if m in sys.modules])"
    )
    assert in_a_fresh_python(code) == "[]"


def test_no_public_name_is_hidden_by_a_module_of_that_name():
    """Importing a submodule sets it as an attribute of the package, over any lazy name."""
    modules = {path.stem for path in (ROOT / "agent_judge").iterdir()}
    assert not modules & set(agent_judge.__all__)


def test_every_public_name_exists_and_is_listed():
    for name in agent_judge.__all__:
        assert getattr(agent_judge, name).__name__ == name
    assert dir(agent_judge) == sorted(agent_judge.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = agent_judge.nothing


@pytest.mark.parametrize("name", LINKS)
def test_the_links_are_relative_and_lead_to_the_top(name):
    link = ROOT / "agent_judge" / name
    assert link.is_symlink()
    assert str(link.readlink()) == f"../{name}"
    assert link.resolve() == ROOT / name


@pytest.mark.slow
def test_sdist_and_wheel_hold_code_and_data_behind_the_links(tmp_path):
    """The wheel is built from the unpacked sdist, as an installer would."""
    build = "import sys; from hatchling import build as b; print(b.{}(sys.argv[1]))"
    subprocess.run(
        [sys.executable, "-c", build.format("build_sdist"), str(tmp_path)], check=True, cwd=ROOT
    )
    [sdist] = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="fully_trusted")
    [unpacked] = (tmp_path / "unpacked").iterdir()
    subprocess.run(
        [sys.executable, "-c", build.format("build_wheel"), str(tmp_path)], check=True, cwd=unpacked
    )
    [wheel] = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in (
        "agent_judge/tools/difference.py",
        "agent_judge/rubrics/dlebench/instruction_following.toml",
        "agent_judge/rubrics/bpm/protocol.toml",
        "agent_judge/rubrics/forms/ladder_task.md",
        "agent_judge/rubrics/system.md",
        "agent_judge/oracle/crop.py",
        "agent_judge/cli/run.py",
        "agent_judge/py.typed",
        "agent_judge/report/web/vendor/plot.umd.min.js",
        "agent_judge/report/web/vendor/plot.LICENSE",
        "agent_judge/audit/photographs.jsonl",
        "agent_judge/judges/measuring/colour_names.tsv",
    ):
        assert names.count(wanted) == 1
    assert not [name for name in names if name.startswith(LINKS)]
