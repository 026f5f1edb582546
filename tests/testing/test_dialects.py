"""The judge gets through every dialect; each dialect refuses what it should."""

from typing import Any

import httpx2
import pytest

from agent_judge.graph import run_loop
from agent_judge.testing import (
    Answer,
    ChatRequest,
    LoopbackEndpoint,
    Policy,
    by_turn,
    calls,
    in_turn,
    verdict,
)
from agent_judge.testing.dialects import (
    error_in_200,
    few_images,
    gemini_like,
    ollama_like,
    slow,
    small_body,
    small_context,
    storm,
    strict_openai,
    torn,
    vllm_like,
)
from tests.judges.over_the_wire import a_loop, judge_at

ZOOM = ("zoom_in", {"picture": "source", "box": [60, 40, 70, 50]})
TALK = by_turn(calls(ZOOM, ("difference", {})), calls(ZOOM), "no JSON", verdict("IF", 3))


@pytest.mark.parametrize(
    "policy",
    [
        strict_openai(TALK),
        gemini_like(TALK),
        vllm_like(TALK, tools=True, most_images=3),
        ollama_like(TALK),
        strict_openai(ollama_like(TALK)),
        small_context(TALK, tokens=6500),
        few_images(TALK, most=2),
        small_body(TALK, most_bytes=400_000),
        storm(TALK, times=1),
        torn(TALK),
        error_in_200(TALK),
        slow(TALK, delay_s=0.01),
        few_images(storm(gemini_like(TALK)), most=4),
    ],
    ids=range(13),
)
@pytest.mark.parametrize("model", ["judge", pytest.param("gpt-4o", marks=pytest.mark.slow)])
@pytest.mark.slow
async def test_the_judge_gets_its_verdict_through(policy, model):
    async with judge_at(policy, model=model) as (judge, _):
        assert (await run_loop(a_loop(judge))).level == 3


ASSISTANT = {"role": "assistant", "content": None}
CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
USER = {"role": "user", "content": "u"}
ANSWER = {"role": "tool", "tool_call_id": "a", "content": "t"}


def ask(policy: Policy, **body: Any) -> int:
    """The status of one raw request."""
    with LoopbackEndpoint(policy) as endpoint:
        url = f"{endpoint.base_url}/chat/completions"
        return httpx2.post(url, json={"model": "m", **body}, trust_env=False).status_code


@pytest.mark.parametrize(
    "messages",
    [
        [USER, {**ASSISTANT, "tool_calls": [CALL]}, USER],
        [USER, {**ASSISTANT, "tool_calls": [CALL]}],
        [USER, {**ASSISTANT, "tool_calls": [CALL]}, {**ANSWER, "tool_call_id": "b"}],
        [USER, {**ASSISTANT, "tool_calls": [CALL]}, {**ANSWER, "content": [{"type": "text"}]}],
        [USER, {**ASSISTANT, "tool_calls": [CALL, CALL]}, ANSWER, ANSWER],
        [USER, {**ASSISTANT, "tool_calls": [{**CALL, "id": ""}]}, ANSWER],
        [USER, {**ASSISTANT, "tool_calls": [{**CALL, "function": {"arguments": "{"}}]}, ANSWER],
        [USER, {**ASSISTANT, "tool_calls": [{**CALL, "function": {"arguments": {}}}]}, ANSWER],
        [USER, ANSWER],
        [USER, {"role": "assistant"}],
        [{"role": "owner", "content": "x"}],
    ],
)
@pytest.mark.slow
def test_strict_openai_refuses_a_broken_history(messages):
    assert ask(strict_openai(in_turn("x")), messages=messages) == 400


def test_strict_openai_takes_a_whole_history():
    messages = [USER, {**ASSISTANT, "tool_calls": [CALL]}, ANSWER, USER]
    assert ask(strict_openai(in_turn("x")), messages=messages) == 200


def test_strict_openai_refuses_an_open_schema():
    loose = {"type": "object", "properties": {"a": {"type": "string"}}, "required": []}
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": loose}}
    assert ask(strict_openai(in_turn("x")), messages=[USER], response_format=form) == 400


@pytest.mark.parametrize(("lost", "status"), [(False, 200), (True, 400)])
def test_gemini_like_refuses_a_lost_signature(lost, status):
    policy = gemini_like(in_turn(calls(ZOOM)))
    said = policy(ChatRequest(number=0, body={"messages": []}, headers={}, size_bytes=0))
    assert isinstance(said, Answer)
    assert said.message is not None
    message = {**said.message, "tool_calls": [dict(c) for c in said.message["tool_calls"]]}
    if lost:
        del message["tool_calls"][0]["extra_content"]
    assert ask(policy, messages=[USER, message, {**ANSWER, "tool_call_id": "call_0"}]) == status
