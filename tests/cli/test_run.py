"""`agent-judge run` as a user meets it: fates, exit codes, words. Real sockets."""

from dataclasses import replace
from unittest import mock

import pytest

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
    write_manifest,
    write_rows,
)


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
