"""A run folder that is run again: what stands, what is judged anew. Real sockets."""

import os
import signal
from contextlib import contextmanager

import numpy as np
import pytest

from agent_judge.images import encode_png
from agent_judge.run import Run
from agent_judge.testing.answers import fails, says
from agent_judge.testing.endpoint import LoopbackEndpoint
from tests.cli.runs import (
    QUICK,
    agent_judge,
    instruction_number,
    level_4,
    records_of,
    rows_of,
    start,
    wait_for,
    write_manifest,
    write_rows,
)


@pytest.mark.slow
def test_a_lost_request_does_not_lose_the_run(tmp_path):
    """Cases J14, J06: 500 for one row, and its error text names a level."""
    manifest = write_rows(tmp_path, 3)

    def policy(request):
        if instruction_number(request) == 1:
            return fails(503, "judge-4 overloaded, Flawless Execution not available")
        return level_4(request)

    with LoopbackEndpoint(policy) as endpoint:
        done = agent_judge(
            "run", manifest, "--out", tmp_path / "run", "--base-url", endpoint.base_url, *QUICK
        )
    records = records_of(tmp_path / "run")
    assert done.returncode == 3, done.stderr
    assert records["r1", "IF"].reason == "transport"
    assert records["r1", "IF"].level is None
    assert {records[f"r{i}", "VC"].level for i in (0, 2)} == {4}
    assert "transport: 2 (such as r1: " in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_resume_judges_exactly_what_was_lost(tmp_path):
    """Case J24: and the figures are those of a fresh run."""
    manifest = write_rows(tmp_path, 2)

    def failing(request):
        return fails(500) if instruction_number(request) == 1 else level_4(request)

    out = tmp_path / "run"
    with LoopbackEndpoint(failing, models=("m",)) as endpoint:
        agent_judge("run", manifest, "--out", out, "--base-url", endpoint.base_url, *QUICK)
    lost = records_of(out)["r1", "IF"].attempts
    with LoopbackEndpoint(level_4, models=("m",)) as endpoint:
        done = agent_judge("run", manifest, "--out", out, "--base-url", endpoint.base_url, *QUICK)
        assert {instruction_number(r) for r in endpoint.requests} == {1}
    assert done.returncode == 0, done.stderr
    assert Run.open(out).summary()["overall"]["score_100"] == 100
    assert records_of(out)["r1", "IF"].attempts == lost + 1 == 3


@pytest.mark.slow
def test_changed_pictures_and_instructions_are_judged_again(tmp_path):
    """Case J28."""
    manifest = write_rows(tmp_path, 2)
    out = tmp_path / "run"

    def judged_now() -> set[int]:
        with LoopbackEndpoint(level_4, models=("m",)) as endpoint:
            agent_judge("run", manifest, "--out", out, "--base-url", endpoint.base_url)
            return {instruction_number(r) for r in endpoint.requests}

    assert judged_now() == {0, 1}
    assert judged_now() == set()
    pixels = np.zeros((64, 80, 3), np.uint8)
    (tmp_path / "edited1.png").write_bytes(encode_png(pixels))
    assert judged_now() == {1}
    os.utime(tmp_path / "edited0.png", (1, 1))
    assert judged_now() == set()
    rows = rows_of(manifest)
    rows[0]["instruction"] = "make square 7 red"
    write_manifest(tmp_path, rows)
    assert judged_now() == {7}
    rows[0]["labels"] = [{"by": "me", "IF": 4}]
    write_manifest(tmp_path, rows)
    assert judged_now() == set()


@pytest.mark.slow
def test_rejudge_and_retry_open_a_round_and_keep_the_old_one(tmp_path):
    manifest = write_rows(tmp_path, 2)
    out = tmp_path / "run"
    with LoopbackEndpoint(lambda r: says("no"), models=("m",)) as endpoint:
        agent_judge("run", manifest, "--out", out, "--base-url", endpoint.base_url)
    with LoopbackEndpoint(level_4, models=("m",)) as endpoint:
        base = ("run", manifest, "--out", out, "--base-url", endpoint.base_url)
        agent_judge(*base)
        assert not endpoint.requests
        agent_judge(*base, "--retry", "unparseable")
        assert len(endpoint.requests) == 4
        agent_judge(*base, "--rejudge", "r1")
        assert len(endpoint.requests) == 6
        unknown = agent_judge(*base, "--rejudge", "r9")
        assert unknown.returncode == 2
        assert "r9" in unknown.stderr
    rounds = Run.open(out).store.rounds("r1", "IF")
    assert [s.record.reason or s.record.level for s in rounds] == ["unparseable", 4, 4]
    assert "rejudged" in records_of(out)["r1", "IF"].flags


def test_another_mode_on_the_same_folder_is_refused_by_name(tmp_path):
    manifest = write_rows(tmp_path, 1)
    assert agent_judge("run", manifest, "--out", tmp_path / "run", "--mode", "tool").returncode in (
        0,
        3,
    )
    done = agent_judge("run", manifest, "--out", tmp_path / "run", "--mode", "direct")
    assert done.returncode == 2
    assert "mode was 'tool', now 'direct'" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@contextmanager
def unhurried(tmp_path, out):
    """An endpoint that takes its time, and the command that judges twelve rows there."""
    manifest = write_rows(tmp_path, 12)
    with LoopbackEndpoint(level_4, models=("m",), latency_s=0.1) as endpoint:
        to = ("--base-url", endpoint.base_url, "--jobs", "2")
        yield endpoint, ("run", manifest, "--out", out, *to)


@pytest.mark.slow
def test_killed_in_the_middle_nothing_is_lost_and_nothing_counted_twice(tmp_path):
    out = tmp_path / "run"
    with unhurried(tmp_path, out) as (endpoint, args):
        with start(*args) as process:
            wait_for(lambda: len(endpoint.requests) >= 8)
            process.kill()
        kept = records_of(out)
        assert 2 <= len(kept) < 24
        done = agent_judge(*args)
        n_requests = len(endpoint.requests)
    assert done.returncode == 0, done.stderr
    records = records_of(out)
    assert len(records) == 24
    assert {r.level for r in records.values()} == {4}
    assert all(records[key] == record for key, record in kept.items())
    assert n_requests <= 24 + 2  # what was in flight when the axe fell


@pytest.mark.slow
def test_ctrl_c_ends_cleanly_and_the_run_can_go_on(tmp_path):
    out = tmp_path / "run"
    with unhurried(tmp_path, out) as (endpoint, args):
        with start(*args) as process:
            wait_for(lambda: len(endpoint.requests) >= 5)
            process.send_signal(signal.SIGINT)
            _, stderr = process.communicate(timeout=30)
        assert process.returncode == 130
        assert "Traceback" not in stderr
        assert agent_judge(*args).returncode == 0
    assert len(records_of(out)) == 24


@pytest.mark.slow
def test_a_cap_ends_in_a_valid_partial_run_that_can_go_on(tmp_path):
    manifest = write_rows(tmp_path, 6)
    out = tmp_path / "run"
    price = 'prices."m"={input_per_mtok=1, output_per_mtok=1}'
    with LoopbackEndpoint(level_4, models=("m",)) as endpoint:
        args = ("run", manifest, "--out", out, "--base-url", endpoint.base_url, "--set", price)
        agent_judge(*args, "--limit", "1")
        cost = sum(r.usd or 0 for r in records_of(out).values())
        assert cost > 0
        done = agent_judge(*args, "--max-usd", str(cost * 2.2), "--jobs", "1")
        assert done.returncode == 3, done.stderr
        kept = records_of(out)
        assert sum(r.usd or 0 for r in kept.values()) <= cost * 3.2
        assert "not run" in done.stdout
        assert {r.reason for r in kept.values()} == {None, "budget"}
        assert agent_judge(*args).returncode == 0
    assert {r.level for r in records_of(out).values()} == {4}
    assert len(records_of(out)) == 12


def test_a_run_with_nothing_left_says_so(tmp_path):
    manifest = write_rows(tmp_path, 1)
    args = ("run", manifest, "--out", tmp_path / "run", "--judge", "measured")
    assert "stood before" not in agent_judge(*args).stdout
    assert "nothing left to judge: 2 of 2 criteria stood before" in agent_judge(*args).stdout
