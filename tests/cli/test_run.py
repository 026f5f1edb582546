"""`agent-judge run` as a user meets it: fates, exit codes, resume, kills. Real sockets."""

import json
import os
import signal
import time
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

from agent_judge.images import encode_png
from agent_judge.run import Run
from agent_judge.testing.answers import by_turn, calls, fails, says, verdict
from agent_judge.testing.endpoint import LoopbackEndpoint
from tests.cli.runs import (
    ENV,
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


def test_a_base_url_without_a_model_takes_the_only_one(tmp_path):
    manifest = write_rows(tmp_path, 1)
    with LoopbackEndpoint(level_4, models=("the-one",)) as endpoint:
        host = endpoint.base_url.split("/")[2]
        done = agent_judge(
            "run", manifest, "--out", tmp_path / "run", "--base-url", endpoint.base_url
        )
        assert done.returncode == 0, done.stderr
        n_requests = len(endpoint.requests)
        again = agent_judge(
            "run", manifest, "--out", tmp_path / "run", "--base-url", endpoint.base_url
        )
        assert again.returncode == 0, again.stderr
        assert len(endpoint.requests) == n_requests == 2
    record = records_of(tmp_path / "run")["r0", "IF"]
    assert (record.judge, record.endpoint) == ("the-one", host)


def test_a_base_url_with_several_models_names_them(tmp_path):
    manifest = write_rows(tmp_path, 1)
    with LoopbackEndpoint(level_4, models=("m-one", "m-two")) as endpoint:
        done = agent_judge(
            "run", manifest, "--out", tmp_path / "run", "--base-url", endpoint.base_url
        )
    assert done.returncode == 2
    assert "m-one" in done.stderr
    assert "m-two" in done.stderr


def test_a_bad_reply_gives_no_headline_and_no_lowest_level(tmp_path):
    """Case J03."""
    manifest = write_rows(tmp_path, 2)

    def policy(request):
        if instruction_number(request) == 1:
            return says("LABLE = flawles execution")
        return level_4(request)

    with LoopbackEndpoint(policy) as endpoint:
        agent_judge(
            "run",
            manifest,
            "--out",
            tmp_path / "run",
            "--base-url",
            endpoint.base_url,
            "--criteria",
            "IF",
        )
    run = Run.open(tmp_path / "run")
    records = records_of(tmp_path / "run")
    assert records["r1", "IF"].reason == "unparseable"
    part = run.summary()["overall"]["IF"]
    assert (part["n_scored"], part["n_planned"], part["score_100"]) == (1, 2, None)
    assert (part["worst_100"], part["best_100"]) == (50, 100)


def test_fenced_json_with_prose_is_read_at_once(tmp_path):
    """Case J08."""
    manifest = write_rows(tmp_path, 1)

    def policy(request):
        content = level_4(request).message["content"]
        return says(f"Here it is.\r\n```JSON\r\n{content}\r\n```\r\nThat is all.")

    with LoopbackEndpoint(policy) as endpoint:
        agent_judge("run", manifest, "--out", tmp_path / "run", "--base-url", endpoint.base_url)
        assert len(endpoint.requests) == 2
    assert {r.level for r in records_of(tmp_path / "run").values()} == {4}


@pytest.mark.slow
def test_a_missing_output_is_a_fate_and_never_a_bare_100(tmp_path):
    """Case J16."""
    manifest = write_rows(tmp_path, 4)
    (tmp_path / "edited2.png").unlink()
    with LoopbackEndpoint(level_4) as endpoint:
        done = agent_judge(
            "run",
            manifest,
            "--out",
            tmp_path / "run",
            "--base-url",
            endpoint.base_url,
            "--criteria",
            "IF",
        )
    assert done.returncode == 0, done.stderr
    assert records_of(tmp_path / "run")["r2", "IF"].status == "missing_output"
    part = Run.open(tmp_path / "run").summary()["overall"]["IF"]
    assert (part["n_planned"], part["n_scored"], part["score_100"]) == (4, 3, 100)
    assert part["missing_at_1_100"] == 75
    assert "75.0" in done.stdout
    assert "3/4" in done.stdout


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


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--criteria", "XX"], "expected IF,VC or some of them"),
        (["--protocol", "XX"], "no protocol 'XX'; there are dlebench, "),
        (["--protocol", "multi-reward", "--criteria", "IF"], "following,preserving,quality"),
        (["--set", "judge.max_stepz=3"], "judge.max_stepz"),
        (["--set", "judge.max_steps=lots"], "judge.max_steps"),
        (["--retry", "whatever"], "--retry"),
        (["--mode", "orakel"], "mode"),
        (["--votes", "0"], "votes"),
        (["--config", "nowhere.toml"], "nowhere.toml"),
    ],
)
def test_a_users_mistake_is_one_clear_line(tmp_path, args, told):
    manifest = write_rows(tmp_path, 1)
    done = agent_judge("run", manifest, "--out", tmp_path / "run", *args)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run" / "run.db").exists()


def test_a_manifests_faults_are_told_before_anything_is_judged(tmp_path):
    """Case I18."""
    manifest = write_rows(tmp_path, 2)
    rows = rows_of(manifest)
    write_manifest(tmp_path, [*rows, rows[0], {**rows[1], "id": 7}])
    with LoopbackEndpoint(level_4) as endpoint:
        done = agent_judge(
            "run", manifest, "--out", tmp_path / "run", "--base-url", endpoint.base_url
        )
        assert not endpoint.requests
    assert done.returncode == 2
    assert ":3:" in done.stderr
    assert ":4:" in done.stderr


def test_limit_checks_the_first_rows_only_and_says_so(tmp_path):
    """Case I28's spirit."""
    manifest = write_rows(tmp_path, 3)
    with manifest.open("a", encoding="utf-8") as file:
        file.write("this is no row\n")
    with LoopbackEndpoint(level_4) as endpoint:
        done = agent_judge(
            "run",
            manifest,
            "--out",
            tmp_path / "run",
            "--base-url",
            endpoint.base_url,
            "--limit",
            "2",
        )
    assert done.returncode == 0, done.stderr
    assert "first 2 rows" in done.stdout
    assert len(records_of(tmp_path / "run")) == 4


@pytest.mark.slow
def test_killed_in_the_middle_nothing_is_lost_and_nothing_counted_twice(tmp_path):
    manifest = write_rows(tmp_path, 12)
    out = tmp_path / "run"
    with LoopbackEndpoint(level_4, models=("m",), latency_s=0.1) as endpoint:
        args = ("run", manifest, "--out", out, "--base-url", endpoint.base_url, "--jobs", "2")
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
    manifest = write_rows(tmp_path, 12)
    out = tmp_path / "run"
    with LoopbackEndpoint(level_4, models=("m",), latency_s=0.1) as endpoint:
        args = ("run", manifest, "--out", out, "--base-url", endpoint.base_url, "--jobs", "2")
        with start(*args) as process:
            wait_for(lambda: len(endpoint.requests) >= 5)
            begin = time.monotonic()
            process.send_signal(signal.SIGINT)
            _, stderr = process.communicate(timeout=30)
            assert time.monotonic() - begin < 20
        assert process.returncode == 130
        assert "Traceback" not in stderr
        assert agent_judge(*args).returncode == 0
    assert len(records_of(out)) == 24


def test_a_bad_key_stops_the_run_without_a_headline(tmp_path):
    manifest = write_rows(tmp_path, 12)
    with LoopbackEndpoint(lambda r: fails(401, "bad key"), models=("m",)) as endpoint:
        done = agent_judge(
            "run",
            manifest,
            "--out",
            tmp_path / "run",
            "--base-url",
            endpoint.base_url,
            "--jobs",
            "1",
            *QUICK,
        )
        assert len(endpoint.requests) == 5
    assert done.returncode == 3
    assert "sk-test" not in done.stdout + done.stderr
    assert Run.open(tmp_path / "run").summary()["overall"]["score_100"] is None


def test_tool_calls_over_a_real_socket_reach_a_verdict(tmp_path):
    manifest = write_rows(tmp_path, 1)

    zoom = ("zoom_in", {"picture": "edited", "box": [18, 18, 32, 32]})
    with LoopbackEndpoint(by_turn(calls(zoom, ("difference", {})), verdict("IF", 4))) as endpoint:
        done = agent_judge(
            "run",
            manifest,
            "--out",
            tmp_path / "run",
            "--base-url",
            endpoint.base_url,
            "--criteria",
            "IF",
        )
    assert done.returncode == 0, done.stderr
    record = records_of(tmp_path / "run")["r0", "IF"]
    assert [e.tool for e in record.evidence] == ["zoom_in", "difference"]
    blobs = {p.stem for p in (tmp_path / "run" / "blobs").rglob("*.png")}
    assert {sha for e in record.evidence for sha in e.images} <= blobs


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


def test_a_cap_in_dollars_needs_a_price(tmp_path):
    manifest = write_rows(tmp_path, 1)
    with LoopbackEndpoint(level_4, models=("nobody-knows-me",)) as endpoint:
        done = agent_judge(
            "run",
            manifest,
            "--out",
            tmp_path / "run",
            "--base-url",
            endpoint.base_url,
            "--max-usd",
            "1",
        )
        assert not endpoint.requests
    assert done.returncode == 2
    assert "input_per_mtok" in done.stderr


@pytest.mark.slow
def test_the_run_folder_grows_by_the_pictures_once_and_some_text(tmp_path):
    """Case T22."""
    manifest = write_rows(tmp_path, 1)
    n_steps = 12

    def policy(request):
        step = len(request.replies)
        if step == n_steps:
            return verdict("IF", 4)
        return calls(("zoom_in", {"picture": "source", "box": [step, step, step + 30, step + 20]}))

    out = tmp_path / "run"
    with LoopbackEndpoint(policy) as endpoint:
        done = agent_judge(
            "run",
            manifest,
            "--out",
            out,
            "--base-url",
            endpoint.base_url,
            "--criteria",
            "IF",
            "--set",
            f"judge.max_steps={n_steps}",
        )
    assert done.returncode == 0, done.stderr
    record = records_of(out)["r0", "IF"]
    named = {sha for e in record.evidence for sha in e.images}
    assert len(record.evidence) == n_steps
    files = {path: path.stat().st_size for path in out.rglob("*") if path.is_file()}
    pictures = sum(size for path, size in files.items() if path.suffix == ".png")
    assert {p.stem for p in files if p.suffix == ".png"} >= named
    assert sum(files.values()) - pictures < 400_000


def test_two_returned_model_ids_are_a_warning(tmp_path):
    """Case J20."""
    manifest = write_rows(tmp_path, 2)

    def policy(request):
        month = 6 + instruction_number(request)
        return replace(level_4(request), model=f"judge-2026-0{month}-01")

    with LoopbackEndpoint(policy, models=("judge",)) as endpoint:
        done = agent_judge(
            "run", manifest, "--out", tmp_path / "run", "--base-url", endpoint.base_url
        )
    assert "judge-2026-06-01, judge-2026-07-01" in done.stdout
    record = records_of(tmp_path / "run")["r0", "IF"]
    assert (record.judge, record.judge_returned_model) == ("judge", "judge-2026-06-01")
    assert record.rubric_version.startswith("dlebench-")
    assert len(record.prompt_hash) == 64


def test_a_run_that_is_refused_does_not_bind_its_folder(tmp_path):
    manifest = write_rows(tmp_path, 1)
    out = tmp_path / "run"
    with mock.patch.dict(ENV):
        del ENV["OPENAI_API_KEY"]
        refused = agent_judge("run", manifest, "--out", out, "--judge", "gpt-4.1")
    assert refused.returncode == 2
    assert "OPENAI_API_KEY" in refused.stderr
    assert agent_judge("run", manifest, "--out", out, "--judge", "measured").returncode == 0


def test_a_run_with_nothing_left_says_so(tmp_path):
    manifest = write_rows(tmp_path, 1)
    args = ("run", manifest, "--out", tmp_path / "run", "--judge", "measured")
    assert "stood before" not in agent_judge(*args).stdout
    assert "nothing left to judge: 2 of 2 criteria stood before" in agent_judge(*args).stdout


@pytest.mark.slow
def test_a_judge_sits_an_exam_and_gets_its_card(tmp_path):
    out, cards = tmp_path / "audit", tmp_path / "cards"
    args = ("audit", "--out", out, "--cards", cards, "--rows", "6", "--modes", "oracle")
    done = agent_judge(*args, "--json")
    assert done.returncode == 0, done.stderr
    scores = json.loads(done.stdout)["oracle"]
    assert scores["VC"]["overall"]["n_planned"] == 6
    assert json.loads((out / "scores.json").read_text(encoding="utf-8"))["oracle"] == scores
    [card] = cards.glob("measured*.json")
    assert json.loads(card.read_text(encoding="utf-8"))["judge"] == "measured"
    table = agent_judge(*args).stdout
    assert [line.split()[:2] for line in table.splitlines() if line.startswith("oracle")] == [
        ["oracle", "IF"],
        ["oracle", "VC"],
    ]
    exam = out / "exam" / "manifest.jsonl"
    told = agent_judge("run", exam, "--out", tmp_path / "run", "--limit", "2", "--cards", cards)
    assert "of the planted edits that it scored" in told.stdout
    report = agent_judge("report", tmp_path / "run", "--cards", cards)
    assert report.returncode == 0, report.stderr
    page = (tmp_path / "run" / "report" / "index.html").read_text(encoding="utf-8")
    assert "of the planted edits that it scored" in page
    other = agent_judge(*args, "--seed", "7")
    assert other.returncode == 2
    assert "another exam" in other.stderr
