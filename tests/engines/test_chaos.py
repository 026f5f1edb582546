"""A Ray run whose workers are killed, whose endpoint goes away and whose disk fails, in turn."""

import resource
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from agent_judge.rubrics.protocol import DEFAULT_CRITERIA, load_ladder
from agent_judge.testing.answers import criterion_of, says, verdict
from agent_judge.testing.endpoint import LoopbackEndpoint
from tests.cli.runs import instruction_number, records_of, start, wait_for, write_rows
from tests.engines.clusters import SLOWEST_S, kill_a_worker

ROWS = 300
PATIENCE = (
    *("--set", "judge.transport_retries=8", "--set", "judge.backoff_max_s=1"),
    *("--max-unscored", "1"),
)


def answer_to(request):
    """What each row is worth, and a model that declines now and then."""
    n = instruction_number(request)
    criterion = criterion_of(request)
    return says(None, refusal="no") if n % 10 == 7 else verdict(criterion, level_of(n, criterion))


def level_of(n: int, criterion: str) -> int:
    return 1 + (n + DEFAULT_CRITERIA.index(criterion)) % 4


def fate_of(n: int, criterion: str) -> tuple[str, object]:
    if n % 10 == 8:
        return "missing_output", None
    if n % 10 == 9:
        return "invalid_image", None
    if n % 10 == 7:
        return "unscored", "refused"
    level = level_of(n, criterion)
    return "scored", load_ladder(criterion).label_of(level)


def wait_while(driver, goes_on) -> None:
    wait_for(lambda: driver.poll() is not None or not goes_on(), timeout_s=SLOWEST_S)
    assert driver.poll() is None, driver.communicate()


def count(run: Path) -> int:
    with closing(sqlite3.connect(run / "run.db")) as db:
        return int(db.execute("SELECT count(*) FROM records").fetchone()[0])


@pytest.mark.slow
def test_every_sample_ends_once_in_its_fate_whatever_fails_meanwhile(tmp_path):
    pytest.importorskip("ray", reason="the extra [ray] is not installed")
    manifest, run = write_rows(tmp_path, ROWS), tmp_path / "run"
    for n in range(ROWS):
        if n % 10 == 8:
            (tmp_path / f"edited{n}.png").unlink()
        elif n % 10 == 9:
            (tmp_path / f"edited{n}.png").write_bytes(b"no picture")
    endpoint = LoopbackEndpoint(answer_to, latency_s=0.05)
    with endpoint:
        call = (
            *("run", manifest, "--out", run, "--mode", "direct", "--judge", "m"),
            *("--base-url", endpoint.base_url, "--engine", "ray", "--jobs", "8", *PATIENCE),
        )
        driver = start(*call)
        for asked in (40, 100):
            wait_while(driver, lambda asked=asked: endpoint.count < asked)
            kill_a_worker(driver.pid)
        wait_while(driver, lambda: endpoint.count < 160)
    time.sleep(1)  # connections are refused
    before = count(run)
    with endpoint:
        wait_while(driver, lambda: count(run) < before + 40)
        full = resource.prlimit(driver.pid, resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
        assert full[1] == resource.RLIM_INFINITY
        _, told = driver.communicate(timeout=SLOWEST_S)
        assert driver.returncode == 2, told
        assert "cannot write to" in told
        assert 0 < count(run) < 2 * ROWS
        again = start(*call)
        wait_while(again, lambda: endpoint.count < 400)
        kill_a_worker(again.pid)
        _, told = again.communicate(timeout=SLOWEST_S)
        assert again.returncode == 0, told
        asked = endpoint.count
    records = records_of(run)
    assert len(records) == count(run) == 2 * ROWS
    assert {
        (int(id_[1:]), criterion): (r.status, r.label or r.reason)
        for (id_, criterion), r in records.items()
    } == {
        (n, criterion): fate_of(n, criterion) for n in range(ROWS) for criterion in DEFAULT_CRITERIA
    }
    judged = sum(r.status not in ("missing_output", "invalid_image") for r in records.values())
    # What was in flight when something failed was asked again, and nothing else was.
    assert judged <= asked < judged + 100
