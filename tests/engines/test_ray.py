"""Runs by Ray workers: the same records, one purse, one breaker, one Ctrl-C."""

import importlib.util
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from agent_judge.rubrics.protocol import DEFAULT_CRITERIA
from agent_judge.testing.answers import fails
from agent_judge.testing.endpoint import LoopbackEndpoint
from tests.cli.runs import (
    AGENT_JUDGE,
    ENV,
    QUICK,
    agent_judge,
    instruction_number,
    level_4,
    records_of,
    wait_for,
    write_rows,
)
from tests.engines.clusters import SLOWEST_S, cluster, kill_a_worker

DEMO = Path(__file__).parents[2] / "eval_data" / "demo" / "manifest.jsonl"
PRICED = ("--set", "prices.m={input_per_mtok=1000, output_per_mtok=0}")
"""A reply of the loopback endpoint costs 0.1 USD."""


@pytest.fixture(scope="module")
def existing():
    pytest.importorskip("ray", reason="the extra [ray] is not installed")
    with tempfile.TemporaryDirectory(prefix="ray") as folder, cluster(Path(folder)) as found:
        yield found


@pytest.fixture
def env(existing):
    return existing[0]


def begin(*args, env=None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*AGENT_JUDGE, "run", *map(str, args), "--engine", "ray"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENV | (env or {}),
    )


def at(endpoint, manifest, run, *more):
    where = ("--judge", "m", "--base-url", endpoint.base_url, "--mode", "direct")
    return manifest, "--out", run, *where, *QUICK, *more


@pytest.mark.slow
def test_two_workers_of_a_cluster_of_their_own_judge_as_this_process_does(tmp_path):
    pytest.importorskip("ray", reason="the extra [ray] is not installed")
    call = (DEMO, "--judge", "measured", "--limit", "4", "--max-unscored", "1", "--out")
    driver = begin(*call, tmp_path / "ray", "--jobs", "2")
    told, faults = driver.communicate()
    assert (driver.returncode, faults) == (0, "")
    assert "ray" not in told.lower().replace(str(tmp_path / "ray"), "")
    assert agent_judge("run", *call, tmp_path / "local").returncode == 0

    def judged(run):
        return {key: r.to_json() | {"seconds": 0} for key, r in records_of(run).items()}

    def kept(run):
        return sorted(path.name for path in (run / "blobs").glob("*/*.png"))

    assert judged(tmp_path / "ray") == judged(tmp_path / "local")
    assert kept(tmp_path / "ray") == kept(tmp_path / "local")


@pytest.mark.slow
def test_all_workers_spend_out_of_one_purse(env, tmp_path):
    manifest = write_rows(tmp_path, 20)
    with LoopbackEndpoint(level_4, latency_s=0.02) as endpoint:
        capped = (*PRICED, "--max-usd", "1.05", "--jobs", "6")
        driver = begin(*at(endpoint, manifest, tmp_path / "run", *capped), env=env)
        told, faults = driver.communicate()
        assert driver.returncode == 3, faults
        assert "not run yet" in told
        assert endpoint.count == 10
        # The next invocation has a purse of its own, and what was paid for is not asked again.
        again = begin(*at(endpoint, manifest, tmp_path / "run", *PRICED), env=env)
        again.communicate()
        assert endpoint.count == 40
    assert {r.level for r in records_of(tmp_path / "run").values()} == {4}


@pytest.mark.slow
def test_a_sample_that_takes_its_workers_along_ends_alone_and_holds_up_no_other(existing, tmp_path):
    manifest = write_rows(tmp_path, 3)
    env, head = existing

    def deadly(request):
        if instruction_number(request) == 1:
            kill_a_worker(head)
        return level_4(request)

    with LoopbackEndpoint(deadly) as endpoint:
        call = (*at(endpoint, manifest, tmp_path / "run", "--jobs", "1"), "--max-unscored", "1")
        driver = begin(*call, env=env)
        _, faults = driver.communicate()
    assert driver.returncode == 0
    assert faults.count("a Ray worker was lost") == 5
    ends = {key: r.level or r.reason for key, r in records_of(tmp_path / "run").items()}
    assert ends == {
        (f"r{n}", criterion): "internal_error" if n == 1 else 4
        for n in range(3)
        for criterion in DEFAULT_CRITERIA
    }


@pytest.mark.slow
def test_an_endpoint_that_refuses_for_good_stops_all_workers(env, tmp_path):
    manifest = write_rows(tmp_path, 60)
    with LoopbackEndpoint(lambda _: fails(401, "bad key")) as endpoint:
        driver = begin(*at(endpoint, manifest, tmp_path / "run", "--jobs", "4"), env=env)
        _, faults = driver.communicate()
        assert endpoint.count < 30
    assert driver.returncode == 3
    assert faults.startswith("stopped: 127.0.0.1")


@pytest.mark.slow
def test_ctrl_c_lets_samples_in_flight_end_and_the_same_command_goes_on(env, tmp_path):
    manifest, run = write_rows(tmp_path, 40), tmp_path / "run"
    with LoopbackEndpoint(level_4, latency_s=0.1) as endpoint:
        driver = begin(*at(endpoint, manifest, run), env=env)
        wait_for(lambda: endpoint.count > 20, SLOWEST_S)
        driver.send_signal(signal.SIGINT)
        _, faults = driver.communicate()
        assert driver.returncode == 130, faults
        assert len(records_of(run)) == endpoint.count < 80
        again = begin(*at(endpoint, manifest, run), env=env)
        _, faults = again.communicate()
        assert (again.returncode, faults) == (0, "")
        assert len(records_of(run)) == endpoint.count == 80


@pytest.mark.slow
def test_a_worker_that_lacks_weights_ends_the_run_at_once(env, tmp_path):
    manifest = write_rows(tmp_path, 2)
    lost = ("--set", "tools.enhancer=lost.pth")
    driver = begin(manifest, "--out", tmp_path / "run", *lost, env=env)
    _, faults = driver.communicate()
    assert driver.returncode == 2
    assert "a Ray worker cannot be set up: " in faults
    assert "lost.pth" in faults
    assert faults.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("127.0.0.1:1", "no Ray cluster at"),
        ("ray://somewhere:10001", "ray://, is not used"),
        ("somewhere", "expected HOST:PORT"),
    ],
)
@pytest.mark.slow
def test_an_address_without_a_cluster_is_one_line(tmp_path, address, told):
    pytest.importorskip("ray", reason="the extra [ray] is not installed")
    done = begin(DEMO, "--out", tmp_path / "run", "--ray-address", address)
    _, faults = done.communicate()
    assert (done.returncode, faults.count("\n")) == (2, 1)
    assert told in faults


@pytest.mark.slow
def test_a_port_of_something_else_is_one_line(tmp_path):
    """Ray's own dashboard, for example: Ray would try for minutes, past any Ctrl-C."""
    pytest.importorskip("ray", reason="the extra [ray] is not installed")
    with LoopbackEndpoint(level_4) as web:
        address = web.base_url.removeprefix("http://").removesuffix("/v1")
        done = begin(DEMO, "--out", tmp_path / "run", "--ray-address", address)
        _, faults = done.communicate(timeout=SLOWEST_S)
    assert (done.returncode, faults.count("\n")) == (2, 1)
    assert "something else listens there" in faults


def test_an_address_of_ray_without_its_engine_is_refused(tmp_path):
    done = agent_judge("run", DEMO, "--out", tmp_path / "run", "--ray-address", "host:6379")
    assert done.returncode == 2
    assert done.stderr == "agent-judge: --ray-address is of --engine ray: name that too\n"
    assert not (tmp_path / "run").exists()


def test_without_ray_one_line_names_the_extra(tmp_path, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name == "ray" else find(name, *rest),
    )
    done = agent_judge("run", DEMO, "--out", tmp_path / "run", "--engine", "ray")
    assert done.returncode == 2
    assert done.stderr == "agent-judge: --engine ray needs Ray: pip install 'agent-judge[ray]'\n"
    assert not (tmp_path / "run").exists()
