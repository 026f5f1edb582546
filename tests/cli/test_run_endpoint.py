"""How a whole run ends at endpoints that break: one row's fault, or one line for all."""

import json
from dataclasses import replace

import pytest

from agent_judge.testing.answers import Answer, by_turn, calls, fails, says, verdict
from agent_judge.testing.endpoint import LoopbackEndpoint
from tests.cli.runs import (
    QUICK,
    agent_judge,
    instruction_number,
    level_4,
    records_of,
    write_rows,
)

pytestmark = pytest.mark.slow


def test_the_report_of_a_partial_run_lists_what_was_lost_beside_what_was_judged(tmp_path):
    """Case J14."""
    manifest, out = write_rows(tmp_path, 3), tmp_path / "run"

    def policy(request):
        return fails(500) if instruction_number(request) == 1 else level_4(request)

    with LoopbackEndpoint(policy) as endpoint:
        agent_judge("run", manifest, "--out", out, "--base-url", endpoint.base_url, *QUICK)
    assert agent_judge("report", out).returncode == 0
    summary = json.loads((out / "report" / "summary.json").read_text(encoding="utf-8"))
    assert summary["reasons"] == {"transport": 2}
    assert (summary["overall"]["IF"]["n_scored"], summary["overall"]["IF"]["n_planned"]) == (2, 3)


def test_a_row_that_is_never_answered_ends_by_itself(tmp_path):
    """Case J37."""
    manifest, out = write_rows(tmp_path, 3), tmp_path / "run"

    def policy(request):
        return Answer(hangs=True) if instruction_number(request) == 2 else level_4(request)

    short = ("--set", "judge.request_timeout_s=0.5")
    with LoopbackEndpoint(policy) as endpoint:
        done = agent_judge(
            "run", manifest, "--out", out, "--base-url", endpoint.base_url, *short, *QUICK
        )
    assert done.returncode == 3
    records = records_of(out)
    assert len(records) == 6
    for (id_, _), record in records.items():
        assert (record.reason or record.level) == ("timeout" if id_ == "r2" else 4)


def test_a_server_without_tools_is_found_once_and_no_row_fails_for_it(tmp_path):
    """Case E11."""
    manifest, out = write_rows(tmp_path, 5), tmp_path / "run"
    told = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'

    def policy(request):
        return fails(400, told) if request.tools else level_4(request)

    with LoopbackEndpoint(policy) as endpoint:
        args = ("run", manifest, "--out", out, "--base-url", endpoint.base_url, "--jobs", "1")
        done = agent_judge(*args)
        assert endpoint.count == 1
    assert done.returncode == 2
    assert "--enable-auto-tool-choice" in done.stderr
    assert done.stderr.count("\n") == 1
    assert records_of(out) == {}


def test_a_thought_signature_outlives_the_run_that_it_came_in(tmp_path):
    """Case E24: the first turn is paid once, the second carries its signature in a later run."""
    manifest, out = write_rows(tmp_path, 1), tmp_path / "run"
    signature = {"google": {"thought_signature": "c2lnbmF0dXJl"}}
    signed = calls(("difference", {}))
    assert signed.message is not None
    signed.message["tool_calls"][0]["extra_content"] = signature
    talk = by_turn(signed, verdict("IF", 4))
    args = ("--criteria", "IF", "--judge", "gemini-3-pro", *QUICK)

    def dies(request):
        return fails(500) if request.replies else talk(request)

    def asks_for_it_back(request):
        back = [c.get("extra_content") for m in request.replies for c in m["tool_calls"]]
        return talk(request) if back == [signature] else fails(400, "missing thought_signature")

    for policy in (dies, asks_for_it_back):
        with LoopbackEndpoint(policy) as endpoint:
            agent_judge("run", manifest, "--out", out, "--base-url", endpoint.base_url, *args)
            n_requests = endpoint.count
    assert n_requests == 1
    assert records_of(out)["r0", "IF"].level == 4


def test_thinking_that_ate_the_token_cap_is_no_level_and_says_what_to_raise(tmp_path):
    """Case J10."""
    manifest, out = write_rows(tmp_path, 1), tmp_path / "run"
    spent = replace(says(""), finish_reason="length")
    with LoopbackEndpoint(lambda request: spent) as endpoint:
        cap = ("--set", "judge.max_output_tokens=200")
        done = agent_judge("run", manifest, "--out", out, "--base-url", endpoint.base_url, *cap)
        assert endpoint.count == 2 * 2
    assert done.returncode == 3
    for record in records_of(out).values():
        assert (record.reason, record.level) == ("truncated", None)
        assert "raise judge.max_output_tokens" in record.explanation


def test_votes_are_told_with_their_agreement(tmp_path):
    """Case J22: the three replies are three requests, and a later run sends none."""
    manifest, out = write_rows(tmp_path, 1), tmp_path / "run"
    levels = iter([2, 3, 2])
    args = ("--criteria", "IF", "--votes", "3", "--judge", "m")
    with LoopbackEndpoint(lambda request: verdict("IF", next(levels))) as endpoint:
        for _ in range(2):
            agent_judge("run", manifest, "--out", out, "--base-url", endpoint.base_url, *args)
        assert endpoint.count == 3
    record = records_of(out)["r0", "IF"]
    assert (record.level, record.vote_levels) == (2, (2, 3, 2))
    assert "votes: 2, 3, 2 (2 of 3 agree)" in agent_judge("show", out, "r0").stdout
