"""One turn of the LMM judge over real sockets: retries, refusals, fates, money, the cache."""

import asyncio
import itertools
import json
import threading
import time
from dataclasses import replace

import pytest
from pydantic import SecretStr

from agent_judge.errors import InputError, JudgeError, RunStopped
from agent_judge.judges.base import Ledger, Reply
from agent_judge.judges.transport import only_model
from agent_judge.settings import JudgeSettings
from agent_judge.testing import Answer, ChatRequest, LoopbackEndpoint, fails, in_turn, says, verdict
from tests.judges.over_the_wire import a_request, judge_at

GOOD = verdict("IF", 4)
TOOL = {"type": "function", "function": {"name": "difference", "parameters": {"type": "object"}}}


class Memory:
    """A reply cache in a dict, JSON in and out as the store has it."""

    def __init__(self):
        self.kept: dict[str, str] = {}

    async def get(self, key):
        return json.loads(self.kept[key]) if key in self.kept else None

    def put(self, key, reply):
        self.kept[key] = json.dumps(reply)


async def fate_of(judge, **fields) -> JudgeError:
    with pytest.raises(JudgeError) as raised:
        await judge.reply(a_request(**fields))
    return raised.value


@pytest.mark.parametrize(
    "hiccup",
    [
        fails(503, "judge-4 overloaded, Flawless Execution not available"),
        fails(500),
        fails(529),
        fails(408),
        fails(429),
        Answer(message={"content": "Flawless Execution"}, torn=True),
        Answer(body=b"<html>502 Bad Gateway</html>", status=502),
        Answer(body=b"<html>Flawless Execution</html>"),
        Answer(body={"error": {"message": "upstream", "code": 502}}),
        Answer(body={"error": "overloaded"}),
        Answer(body={"choices": []}),
        Answer(body={"choices": [{"message": None}]}),
        Answer(body=["Flawless Execution"]),
        Answer(body={"detail": "Flawless Execution"}),
        Answer(message={"content": ""}, finish_reason="error"),
        Answer(message={"content": "Flawless"}, finish_reason="abort"),
    ],
)
async def test_what_may_pass_is_tried_again(hiccup):
    ledger = Ledger()
    async with judge_at(in_turn(hiccup, GOOD)) as (judge, endpoint):
        reply = await judge.reply(a_request(ledger=ledger))
    assert "Flawless Execution" in reply.message["content"]
    assert (ledger.attempts, endpoint.count, ledger.tokens_in) == (2, 2, 100)


async def test_what_never_passes_ends_as_transport_with_the_endpoints_own_words():
    """Case J06."""
    told = "judge-4 overloaded, Flawless Execution not available"
    async with judge_at(in_turn(fails(503, told)), transport_retries=3) as (judge, endpoint):
        error = await fate_of(judge)
    assert (error.reason, error.http_status, endpoint.count) == ("transport", 503, 4)
    assert told in str(error)


async def test_no_connection_is_a_transport_fate():
    with LoopbackEndpoint(in_turn(GOOD)) as gone:
        base_url = gone.base_url
    async with judge_at(in_turn(GOOD), transport_retries=1, base_url=base_url) as (judge, _):
        error = await fate_of(judge)
    assert error.reason == "transport"
    assert "no connection" in str(error)


@pytest.mark.parametrize(
    "headers", [{"Retry-After": "0.1"}, {"retry-after-ms": "100"}, {}], ids=["s", "ms", "body"]
)
@pytest.mark.slow
async def test_retry_after_is_waited_out_by_all_workers(headers):
    """Case J33."""
    hurry = {"error": {"message": "slow", "details": [{"retryDelay": "0.1s"}]}}
    refused = Answer(status=429, headers=headers, body=hurry if not headers else {"error": "slow"})
    arrivals: dict[str, list[float]] = {}

    def policy(request: ChatRequest) -> Answer:
        times = arrivals.setdefault(request.messages[-1]["content"], [])
        times.append(time.monotonic())
        return refused if len(times) < 3 else GOOD

    ledgers = [Ledger() for _ in range(4)]
    async with judge_at(policy) as (judge, _):
        workers = [
            a_request(ledger=ledger, messages=[{"role": "user", "content": f"worker {n}"}])
            for n, ledger in enumerate(ledgers)
        ]
        await asyncio.gather(*map(judge.reply, workers))
    assert [ledger.attempts for ledger in ledgers] == [3] * 4
    for times in arrivals.values():
        assert all(later - earlier >= 0.09 for earlier, later in itertools.pairwise(times))


async def test_who_asks_to_come_back_at_once_and_refuses_again_is_given_time():
    times: list[float] = []

    def policy(request: ChatRequest) -> Answer:
        times.append(time.monotonic())
        return fails(429, "slow", retry_after_s=0) if len(times) < 3 else GOOD

    async with judge_at(policy, backoff_max_s=0.1) as (judge, _):
        await judge.reply(a_request())
    assert all(later - earlier >= 0.04 for earlier, later in itertools.pairwise(times))


async def test_a_wait_longer_than_the_sample_has_is_not_waited():
    refusal = fails(429, "come back tomorrow", retry_after_s=86400)
    async with judge_at(in_turn(refusal)) as (judge, endpoint):
        assert (await fate_of(judge)).reason == "transport"
    assert endpoint.count == 1


@pytest.mark.parametrize(
    ("refusal", "reason"),
    [
        (fails(400, "too long", code="context_length_exceeded"), "context_limit"),
        (fails(400, "This model's maximum context length is 8192 tokens."), "context_limit"),
        (fails(400, "prompt is too long: 210000 tokens > 200000 maximum"), "context_limit"),
        (fails(400, "management policy", code="content_filter"), "blocked"),
        (fails(403, "Your input was flagged by moderation"), "blocked"),
        (fails(400, "something is wrong"), "endpoint_rejected"),
        (fails(401, "bad key"), "endpoint_rejected"),
        (fails(404, "The model `judge` does not exist"), "endpoint_rejected"),
        (fails(422, "odd"), "endpoint_rejected"),
        (fails(429, "pay first", code="insufficient_quota"), "endpoint_rejected"),
        (fails(501, "not here"), "endpoint_rejected"),
        (Answer(body={"error": {"message": "no credit", "code": 402}}), "endpoint_rejected"),
    ],
)
async def test_what_stays_refused_is_asked_once_and_told_at_once(refusal, reason):
    """Case J35."""
    async with judge_at(in_turn(refusal)) as (judge, endpoint):
        error = await fate_of(judge)
    assert (error.reason, endpoint.count) == (reason, 1)
    assert refusal.body["error"]["message"] in str(error)


@pytest.mark.parametrize("hangs", [True, False], ids=["never", "late"])
@pytest.mark.slow
async def test_a_request_that_takes_too_long_is_a_timeout(hangs):
    """Case J37."""
    late = Answer(message={"content": "x"}, hangs=hangs, delay_s=0 if hangs else 1)
    async with judge_at(in_turn(late), request_timeout_s=0.2) as (judge, endpoint):
        error = await fate_of(judge)
    assert (error.reason, endpoint.count) == ("timeout", 2)


async def test_parameters_that_are_refused_are_dropped_once_and_for_the_run():
    """Case J38."""

    def policy(request: ChatRequest) -> Answer:
        if "max_tokens" in request.body:
            told = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            return fails(400, told, param="max_tokens", code="unsupported_parameter")
        if request.body.get("temperature", 1) != 1:
            return fails(400, "Only the default (1) value is supported.", param="temperature")
        return GOOD

    ledger = Ledger()
    async with judge_at(policy, max_output_tokens=300) as (judge, endpoint):
        await judge.reply(a_request(ledger=ledger))
        await judge.reply(a_request(ledger=ledger))
    assert endpoint.count == 4
    assert {"dropped:max_tokens", "dropped:temperature"} <= ledger.flags
    assert endpoint.requests[-1].body["max_completion_tokens"] == 300
    assert any("{'max_completion_tokens': 300}" in note for note in ledger.notes)


@pytest.mark.parametrize(
    ("refuses", "left"),
    [({"json_schema"}, "object"), ({"json_schema", "json_object"}, "none"), (set(), "strict")],
)
async def test_the_schema_is_asked_for_as_strongly_as_the_endpoint_takes(refuses, left):
    def policy(request: ChatRequest) -> Answer:
        asked = (request.response_format or {}).get("type")
        return fails(400, f"response_format {asked} is not supported") if asked in refuses else GOOD

    ledger = Ledger()
    async with judge_at(policy) as (judge, endpoint):
        await judge.reply(a_request(ledger=ledger))
        await judge.reply(a_request(ledger=ledger))
    assert endpoint.count == 2 + len(refuses)
    assert {flag for flag in ledger.flags if flag.startswith("schema:")} == {f"schema:{left}"}


@pytest.mark.parametrize(("model", "asked"), [("gpt-4.1", True), ("some-vlm", False)])
async def test_a_schema_stands_beside_tools_only_where_that_leaves_them_callable(model, asked):
    async with judge_at(in_turn(GOOD), model=model) as (judge, endpoint):
        await judge.reply(a_request(tools=[TOOL]))
        await judge.reply(a_request())
    with_tools, without = endpoint.requests
    assert (with_tools.response_format is not None) is asked
    assert without.response_format is not None


async def test_detail_high_is_dropped_once_where_refused():
    def policy(request: ChatRequest) -> Answer:
        seen = {picture.detail for picture in request.pictures}
        return (
            fails(422, "extra fields not permitted: image_url.detail") if seen != {None} else GOOD
        )

    ledger = Ledger()
    async with judge_at(policy) as (judge, endpoint):
        await judge.reply(a_request(ledger=ledger))
        await judge.reply(a_request(ledger=ledger))
    assert endpoint.requests[0].pictures[0].detail == "high"
    assert endpoint.count == 3
    assert "dropped:detail" in ledger.flags


async def test_reply_fields_that_an_endpoint_will_not_take_back_are_left_out():
    said = {"role": "assistant", "content": "hm", "reasoning_content": "so", "annotations": []}

    def policy(request: ChatRequest) -> Answer:
        odd = any("reasoning_content" in message for message in request.messages)
        return fails(400, "property 'reasoning_content' is unsupported") if odd else GOOD

    ledger = Ledger()
    async with judge_at(policy) as (judge, endpoint):
        await judge.reply(a_request(messages=[said], ledger=ledger))
    assert endpoint.requests[-1].messages[-1] == {
        "role": "assistant",
        "content": "hm",
        "annotations": [],
    }
    assert "dropped:reasoning_content" in ledger.flags


@pytest.mark.parametrize(
    "told",
    [
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "registry.ollama.ai/library/llava:7b does not support tools",
        "No endpoints found that support tool use.",
    ],
)
async def test_an_endpoint_without_tools_stops_the_run_with_the_remedy(told):
    """Case E11."""

    def policy(request: ChatRequest) -> Answer:
        return fails(400, told) if request.tools else GOOD

    async with judge_at(policy) as (judge, endpoint):
        with pytest.raises(InputError, match="--enable-auto-tool-choice"):
            await judge.reply(a_request(tools=[TOOL]))
        await judge.reply(a_request())
    assert endpoint.count == 2


@pytest.mark.parametrize("status", [401, 402, 403, 404])
async def test_fatal_refusals_in_a_row_stop_the_run(status):
    async with judge_at(in_turn(fails(status, "no")), fatal_in_a_row=3) as (judge, endpoint):
        assert [(await fate_of(judge)).http_status for _ in range(2)] == [status, status]
        with pytest.raises(RunStopped, match="3 criteria in a row"):
            await judge.reply(a_request())
        with pytest.raises(RunStopped):
            await judge.reply(a_request())
    assert endpoint.count == 4


@pytest.mark.parametrize(
    "answer",
    [
        fails(429, "pay first", code="insufficient_quota"),
        Answer(status=400, body=[{"error": {"message": "API key not valid", "code": 400}}]),
        fails(400, "Your credit balance is too low"),
        Answer(body={"object": "error", "message": "no credit", "code": 402}),
    ],
)
async def test_a_key_or_account_at_fault_stops_the_run_whatever_its_status(answer):
    async with judge_at(in_turn(answer), fatal_in_a_row=2) as (judge, endpoint):
        assert (await fate_of(judge)).http_status in (401, 402)
        with pytest.raises(RunStopped):
            await judge.reply(a_request())
    assert endpoint.count == 2


async def test_a_success_between_fatal_refusals_starts_the_count_again():
    no = fails(401, "no")
    script = [no, no, GOOD, no, no, GOOD]
    async with judge_at(in_turn(*script), fatal_in_a_row=3) as (judge, _):
        for answer in script:
            if answer is no:
                await fate_of(judge)
            else:
                await judge.reply(a_request())


async def test_the_key_appears_in_no_error_even_if_the_endpoint_sends_it_back():
    key = "sk-very-secret-123456"
    echo = fails(401, f"Incorrect API key provided: {key}")
    async with judge_at(in_turn(echo), api_key=key) as (judge, endpoint):
        error = await fate_of(judge)
        assert key not in str(error)
        assert "[API key]" in str(error)
        assert key not in repr(judge.__dict__["_settings"])
        assert endpoint.requests[0].headers["authorization"] == f"Bearer {key}"


async def test_a_cut_off_reply_is_tried_once_with_twice_the_cap_and_both_are_paid():
    """Case J10."""
    cut = Answer(message={"content": ""}, finish_reason="length")
    ledger, cache = Ledger(), Memory()
    async with judge_at(in_turn(cut), max_output_tokens=100, cache=cache) as (judge, endpoint):
        reply = await judge.reply(a_request(ledger=ledger))
    assert reply.finish_reason == "length"
    assert [r.body["max_tokens"] for r in endpoint.requests] == [100, 200]
    assert (ledger.attempts, ledger.tokens_in) == (2, 200)
    assert not cache.kept, "a failure is no answer"


async def test_without_a_cap_a_cut_off_reply_is_not_asked_again():
    cut = Answer(message={"content": ""}, finish_reason="length")
    async with judge_at(in_turn(cut)) as (judge, endpoint):
        await judge.reply(a_request())
    assert endpoint.count == 1


async def test_replies_come_from_the_cache_with_their_cost_and_without_a_request():
    cache, first, second = Memory(), Ledger(), Ledger()
    prices = {"judge": {"input_per_mtok": 10, "output_per_mtok": 100}}
    async with judge_at(in_turn(fails(500), GOOD), cache=cache, prices=prices) as (judge, end):
        fresh = await judge.reply(a_request(ledger=first))
        again = await judge.reply(a_request(ledger=second))
    assert end.count == 2
    assert again == fresh
    assert replace(second, replayed=0) == first
    assert second.replayed == 2
    assert first.usd == pytest.approx(100 * 10 / 1e6 + 10 * 100 / 1e6)


async def test_what_several_ask_at_once_is_paid_for_once():
    def policy(request: ChatRequest) -> Answer:
        return replace(GOOD, delay_s=0.1) if request.number else fails(400, "odd")

    async with judge_at(policy, cache=Memory()) as (judge, endpoint):
        asked = (judge.reply(a_request(asker=str(n))) for n in range(4))
        came = await asyncio.gather(*asked, return_exceptions=True)
    replies = [reply for reply in came if isinstance(reply, Reply)]
    assert replies == [replies[0]] * 3
    assert endpoint.count == 2, "a failure is no answer: the next one asks again, and nobody else"


async def test_votes_and_rounds_have_replies_of_their_own():
    """Case J22."""
    cache = Memory()
    async with judge_at(in_turn(GOOD), cache=cache) as (judge, endpoint):
        for vote, round_ in ((0, 0), (1, 0), (0, 1), (1, 0)):
            await judge.reply(a_request(vote=vote, round=round_))
    assert endpoint.count == 3


@pytest.mark.parametrize(
    "bad",
    [
        says(None, refusal="no"),
        *(
            Answer(message={"content": "x"}, finish_reason=reason)
            for reason in ("content_filter", "content_filter: RECITATION", "SAFETY", "refusal")
        ),
        Answer(message={"content": "x"}, finish_reason="MAX_TOKENS"),
    ],
)
async def test_refusals_blocks_and_cut_offs_are_not_kept_as_answers(bad):
    cache = Memory()
    async with judge_at(in_turn(bad), cache=cache) as (judge, _):
        await judge.reply(a_request())
    assert not cache.kept


@pytest.mark.parametrize("ending", ["STOP", "eos", "stop_sequence", "whatever comes"])
async def test_what_came_whole_is_paid_for_once_however_its_end_is_called(ending):
    cache = Memory()
    answer = Answer(message={"content": "x"}, finish_reason=ending)
    async with judge_at(in_turn(answer), cache=cache) as (judge, endpoint):
        assert await judge.reply(a_request()) == await judge.reply(a_request())
    assert endpoint.count == 1


async def test_missing_usage_is_said_and_makes_the_sums_unknown():
    silent = Answer(message={"role": "assistant", "content": "x"}, usage=None)
    ledger = Ledger()
    async with judge_at(in_turn(GOOD, silent)) as (judge, _):
        await judge.reply(a_request(ledger=ledger))
        await judge.reply(a_request(ledger=ledger))
    assert (ledger.tokens_in, ledger.tokens_out, ledger.usd) == (None, None, None)
    assert "the endpoint reported no usage" in ledger.notes


async def test_every_model_id_that_came_back_is_kept():
    """Case J20."""
    answers = [Answer(message={"content": "x"}, model=f"judge-2026-0{n}-01") for n in (6, 7)]
    ledger = Ledger()
    async with judge_at(in_turn(*answers)) as (judge, _):
        await judge.reply(a_request(ledger=ledger))
        await judge.reply(a_request(ledger=ledger))
    assert ledger.models == ["judge-2026-06-01", "judge-2026-07-01"]


async def test_a_reply_that_cannot_be_stored_is_made_storable():
    body = b'{"choices": [{"message": {"content": "a\\ud800b", "x": NaN}}]}'
    async with judge_at(in_turn(Answer(body=body))) as (judge, _):
        reply = await judge.reply(a_request())
    assert reply.message == {"role": "assistant", "content": "a?b", "x": None}


@pytest.mark.slow
async def test_more_requests_than_an_endpoint_bears_all_get_through():
    in_flight, guard = 0, threading.Lock()

    def policy(request: ChatRequest) -> Answer:
        nonlocal in_flight
        with guard:
            in_flight += 1
        time.sleep(0.02)
        with guard:
            many, in_flight = in_flight > 4, in_flight - 1
        return fails(429, "too many requests") if many else GOOD

    async with judge_at(policy, transport_retries=50) as (judge, endpoint):
        await asyncio.gather(*(judge.reply(a_request()) for _ in range(24)))
    assert endpoint.count < 24 * 5


async def test_the_only_model_of_an_endpoint_is_found():
    with LoopbackEndpoint(in_turn(GOOD), models=["only-one"]) as endpoint:
        assert await only_model(JudgeSettings(base_url=endpoint.base_url)) == "only-one"


@pytest.mark.parametrize(
    "end",
    ["/", "/chat/completions", "/chat/completions/", "/chat/completions?api-version=1", "/?a"],
)
async def test_an_address_and_a_key_are_taken_as_people_paste_them(end):
    with LoopbackEndpoint(in_turn(GOOD), models=["m"], api_key="sk-1") as endpoint:
        settings = JudgeSettings(base_url=endpoint.base_url + end, api_key=SecretStr("sk-1\n"))
        assert await only_model(settings) == "m"


@pytest.mark.parametrize("models", [[], ["a", "b"]])
async def test_several_models_are_listed_and_none_is_taken(models):
    told = "a, b" if models else "none"
    with (
        LoopbackEndpoint(in_turn(GOOD), models=models) as endpoint,
        pytest.raises(InputError, match=told),
    ):
        await only_model(JudgeSettings(base_url=endpoint.base_url))


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"base_url": "127.0.0.1:8000"}, "http"),
        ({"base_url": "file:///etc/passwd"}, "http"),
        ({}, "OPENAI_API_KEY"),
        ({"api_key": "sk-\u00e9"}, "paste it again"),
        ({"api_key": "sk one"}, "paste it again"),
    ],
)
async def test_an_endpoint_that_cannot_be_meant_is_an_input_error(fields, told):
    with pytest.raises(InputError, match=told):
        await only_model(JudgeSettings(**fields))
