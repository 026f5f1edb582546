"""What may happen to a run and to its folder from outside: signals, full disks, other hands."""

import shutil
import signal

import pytest

from agent_judge.testing.answers import Answer
from agent_judge.testing.endpoint import LoopbackEndpoint
from tests.cli.runs import agent_judge, level_4, records_of, start, wait_for, write_rows

pytestmark = pytest.mark.slow


def hanging(request):
    return Answer(hangs=True)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("times", [1, 2])
def test_requests_that_hang_do_not_hold_an_interrupted_run(tmp_path, kind, times):
    manifest = write_rows(tmp_path, 3)
    out = tmp_path / "run"
    with LoopbackEndpoint(hanging, models=("m",)) as endpoint:
        args = ("run", manifest, "--out", out, "--base-url", endpoint.base_url)
        with start(*args) as process:
            wait_for(lambda: endpoint.count >= 3)
            process.send_signal(kind)
            if times == 2:
                assert process.stderr is not None
                assert process.stderr.readline().startswith("stopping:")
                process.send_signal(kind)
            stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert ("interrupted: run the same command again" in stderr) == (times == 1)
    assert ("not run yet: 6" in stdout) == (times == 1)
    with LoopbackEndpoint(level_4, models=("m",)) as endpoint:
        done = agent_judge("run", manifest, "--out", out, "--base-url", endpoint.base_url)
    assert done.returncode == 0, done.stderr
    assert len(records_of(out)) == 6


@pytest.mark.parametrize("what", ["folder", "run.db"])
def test_nothing_is_paid_for_into_a_run_folder_that_was_removed(tmp_path, what):
    manifest = write_rows(tmp_path, 8)
    out = tmp_path / "run"

    def removing(request):
        if request.number == 3:
            shutil.rmtree(out) if what == "folder" else (out / what).unlink()
        return level_4(request)

    with LoopbackEndpoint(removing, models=("m",)) as endpoint:
        args = ("run", manifest, "--out", out, "--base-url", endpoint.base_url, "--jobs", "1")
        done = agent_judge(*args)
        assert endpoint.count < 8
    assert (done.returncode, done.stdout.count("score")) == (2, 0)
    assert "was removed" in done.stderr or "No such file" in done.stderr
    assert what == "run.db" or not out.exists()
