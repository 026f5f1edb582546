"""The loopback endpoint behaves as an endpoint, seen through the real client."""

import base64
import warnings

import openai
import pytest

from agent_judge.rubrics.prompts import task_text
from agent_judge.testing import (
    Answer,
    LoopbackEndpoint,
    by_turn,
    calls,
    criterion_of,
    fails,
    in_turn,
    says,
    verdict,
)

HELLO = [{"role": "user", "content": "hello"}]


def client(endpoint, key="k"):
    return openai.OpenAI(base_url=endpoint.base_url, api_key=key, max_retries=0, timeout=5)


def test_scripted_answers_come_in_turn_and_the_last_for_ever():
    policy = in_turn("one", calls(("difference", {})))
    with LoopbackEndpoint(policy) as endpoint, client(endpoint) as api:
        first, second, third = (
            api.chat.completions.create(model="m", messages=HELLO) for _ in range(3)
        )
    assert first.choices[0].message.content == "one"
    assert first.usage.prompt_tokens == 100
    assert second.choices[0].finish_reason == "tool_calls"
    assert third.choices[0].message.tool_calls[0].function.name == "difference"
    assert [r.number for r in endpoint.requests] == [0, 1, 2]
    assert endpoint.requests[0].messages == HELLO


def test_answers_by_turn_follow_each_conversation():
    longer = [*HELLO, {"role": "assistant", "content": "a"}, *HELLO]
    with LoopbackEndpoint(by_turn("first", "second")) as endpoint, client(endpoint) as api:
        said = [
            api.chat.completions.create(model="m", messages=messages).choices[0].message.content
            for messages in (HELLO, longer, HELLO)
        ]
    assert said == ["first", "second", "first"]


def test_models_are_listed_and_a_wrong_key_is_refused():
    with LoopbackEndpoint(in_turn("x"), models=["a", "b"], api_key="right") as endpoint:
        with client(endpoint, "right") as api:
            assert [m.id for m in api.models.list()] == ["a", "b"]
        with client(endpoint, "wrong") as api, pytest.raises(openai.AuthenticationError):
            api.models.list()
    assert endpoint.count == 0


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (fails(400, "bad", param="temperature"), openai.BadRequestError),
        (fails(429, retry_after_s=2), openai.RateLimitError),
        (fails(503), openai.InternalServerError),
        (Answer(message={"content": "half"}, torn=True), openai.APIConnectionError),
        (Answer(body=b"<html>", status=502), openai.InternalServerError),
    ],
)
@pytest.mark.slow
def test_failures_look_like_failures(answer, error):
    with (
        LoopbackEndpoint(in_turn(answer)) as endpoint,
        client(endpoint) as api,
        pytest.raises(error) as raised,
    ):
        api.chat.completions.create(model="m", messages=HELLO)
    if answer.headers:
        assert raised.value.response.headers["Retry-After"] == "2"


def test_a_hanging_answer_ends_when_the_endpoint_stops():
    with (
        LoopbackEndpoint(in_turn(Answer(hangs=True))) as endpoint,
        client(endpoint) as api,
        pytest.raises(openai.APITimeoutError),
    ):
        api.with_options(timeout=0.2).chat.completions.create(model="m", messages=HELLO)


def test_pictures_are_decoded_with_their_labels():
    url = "data:image/png;base64," + base64.b64encode(b"png").decode()
    parts = [
        {"type": "text", "text": "The source picture:"},
        {"type": "image_url", "image_url": {"url": url, "detail": "high"}},
        {"type": "image_url", "image_url": {"url": url}},
    ]
    with LoopbackEndpoint(in_turn("x")) as endpoint, client(endpoint) as api:
        api.chat.completions.create(model="m", messages=[{"role": "user", "content": parts}])
    seen = endpoint.requests[0].pictures
    assert [(p.label, p.mime, p.data, p.detail) for p in seen] == [
        ("The source picture:", "image/png", b"png", "high"),
        ("", "image/png", b"png", None),
    ]


def test_only_the_last_requests_are_kept_where_asked():
    with LoopbackEndpoint(in_turn("x"), keep=1) as endpoint, client(endpoint) as api:
        for _ in range(3):
            api.chat.completions.create(model="m", messages=HELLO)
    assert (endpoint.count, [r.number for r in endpoint.requests]) == (3, [2])


def test_nothing_is_left_open_behind_it():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with LoopbackEndpoint(in_turn(says("x"))) as endpoint, client(endpoint) as api:
            api.chat.completions.create(model="m", messages=HELLO)
    with pytest.raises(RuntimeError, match="not running"):
        _ = endpoint.base_url


def test_a_scripted_verdict_walks_the_ladder():
    message = verdict("VC", 1).message
    assert message is not None
    assert "Scene Collapse" in message["content"]


def test_the_criterion_is_read_from_our_own_prompt():
    task = task_text({"criterion": "VC", "instruction": "Instruction Following"})
    prompt = [{"role": "user", "content": [{"type": "text", "text": task}]}]
    with LoopbackEndpoint(lambda r: criterion_of(r)) as endpoint, client(endpoint) as api:
        reply = api.chat.completions.create(model="m", messages=prompt)
    assert reply.choices[0].message.content == "VC"
