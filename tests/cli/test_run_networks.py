"""Networks that `agent-judge run` is told to use, and that are not there."""

import pytest

from agent_judge.tools.loaded import device_for
from tests.cli.runs import agent_judge, write_rows

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("setting", ["tools.enhancer=nope", "tools.device=cuda"])
def test_weights_or_a_device_that_are_missing_bind_no_run_folder(tmp_path, setting):
    if setting == "tools.device=cuda" and device_for("auto") == "cuda":
        pytest.skip("this machine has it")
    out = tmp_path / "run"
    done = agent_judge("run", write_rows(tmp_path, 1), "--out", out, "--set", setting)
    assert done.returncode == 2
    assert setting.split("=")[0] in done.stderr
    assert done.stderr.count("\n") == 1
    assert not out.exists()
