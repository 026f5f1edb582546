"""What an endpoint may send in place of an answer: a fate of its own, no fault of ours, no key."""

import gzip
import itertools
import json
import zlib
from base64 import b64encode
from typing import Any
from urllib.parse import quote

import pytest

from agent_judge.errors import InputError
from agent_judge.images import encode_png
from agent_judge.judges.transport import only_model
from agent_judge.records import Sample
from agent_judge.rubrics.protocol import load_ladder
from agent_judge.runner import evaluate, evaluate_many
from agent_judge.settings import JudgeSettings, Settings
from agent_judge.testing.answers import Answer, calls, fails, says, verdict
from agent_judge.testing.endpoint import LoopbackEndpoint
from tests.hostile.raw_endpoint import RawEndpoint
from tests.pictures import backdrop

pytestmark = pytest.mark.slow

KEY = "sk-secret/abc+def=12345"
CHOICE = {"message": verdict("VC", 4).message, "finish_reason": "stop"}
GOOD = {"model": "m", "choices": [CHOICE], "usage": None}
YEAR_S = "31536000"


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pair")
    source = backdrop((80, 60))
    edited = source.copy()
    edited[20:30, 20:30] = (240, 10, 10)
    (folder / "s.png").write_bytes(encode_png(source))
    (folder / "e.png").write_bytes(encode_png(edited))
    return Sample(id="a", source=folder / "s.png", edited=folder / "e.png", instruction="paint it")


def settings_for(base_url, **more):
    judge = {"transport_retries": 1, "backoff_max_s": 0.01, "request_timeout_s": 5, **more}
    return Settings.model_validate(
        {
            "mode": "tool" if "max_steps" in more else "direct",
            "criteria": ["VC"],
            "judge": {"model": "m", "base_url": base_url, "api_key": KEY, **judge},
        }
    )


async def record_of(sample, policy, **more):
    with LoopbackEndpoint(policy) as endpoint:
        (record,) = await evaluate(sample, settings_for(endpoint.base_url, **more))
    return kept(record)


def kept(record):
    """A record as the store would keep it: text that can be stored, without the key."""
    text = json.dumps(record.to_json(), ensure_ascii=False, allow_nan=False)
    assert KEY not in text.encode().decode()
    return record


def replies(body, **fields):
    return lambda request: Answer(body=body, **fields)


NO_ANSWERS: dict[str, Any] = {
    "nothing": b"",
    "a page": f"<html><body>log in {KEY}</body></html>".encode(),
    "a stream": b'data: {"choices": [{"delta": {"content": "x"}}]}\n\ndata: [DONE]\n\n',
    "null": None,
    "a list": [],
    "a text": "x",
    "deep": b"[" * 200_000,
    "no choices": {**GOOD, "choices": None},
    "empty choices": {**GOOD, "choices": []},
    "choices by name": {**GOOD, "choices": {}},
    "a choice that is none": {**GOOD, "choices": [None]},
    "no message": {**GOOD, "choices": [{}]},
    "a text for a message": {**GOOD, "choices": [{"message": "Perfect Consistency"}]},
    "an error's text": {"error": f"boom {KEY}"},
    "an error's number": {"error": 5},
    "an odd code": {"error": {"message": "x", "code": 10**400}},
    "half a surrogate": {"error": {"message": "bad \ud800", "code": "\udfff"}},
}


@pytest.mark.parametrize("name", NO_ANSWERS)
async def test_a_200_without_a_completion_is_a_transport_fault(sample, name):
    body = NO_ANSWERS[name]
    policy = replies(json.dumps(body).encode() if body is None else body)
    record = await record_of(sample, policy)
    assert (record.reason, record.attempts) == ("transport", 2)
    assert "\n" not in record.explanation


@pytest.mark.parametrize("charset", ["base64", "utf-16", "rot13", "nonsense", "utf-8"])
async def test_a_reply_is_utf_8_whatever_its_header_says(sample, charset):
    headers = {"Content-Type": f"application/json; charset={charset}"}
    assert (await record_of(sample, replies(GOOD, headers=headers))).level == 4
    error = {"error": {"message": "no ünï"}}
    record = await record_of(sample, replies(error, headers=headers, status=400))
    assert record.explanation == "HTTP 400: no ünï"


async def test_a_packed_reply_is_unpacked_and_a_torn_one_is_a_transport_fault(sample):
    packed = {"Content-Encoding": "gzip"}
    body = gzip.compress(json.dumps(GOOD).encode())
    assert (await record_of(sample, replies(body, headers=packed))).level == 4
    assert (await record_of(sample, replies(b"{}", headers=packed))).reason == "transport"


def bomb(megabytes: int) -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    return b"".join(packer.compress(b" " * 1_000_000) for _ in range(megabytes)) + packer.flush()


@pytest.mark.parametrize("status", [200, 400])
async def test_a_reply_that_unpacks_without_end_is_cut(sample, status):
    headers = {"Content-Encoding": "gzip"}
    record = await record_of(sample, replies(bomb(40), headers=headers, status=status))
    assert record.reason == "transport"
    assert "longer than 16 MB" in record.explanation


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
ENDLESS = {
    "chunks": itertools.chain([CHUNKED], itertools.repeat(b"10000\r\n" + b" " * 65536 + b"\r\n")),
    "headers": itertools.chain([b"HTTP/1.1 200 OK\r\n"], itertools.repeat(b"X: " + b"x" * 9999)),
}


@pytest.mark.parametrize("name", ENDLESS)
async def test_a_reply_without_end_is_cut(sample, name):
    with RawEndpoint(ENDLESS[name]) as endpoint:
        settings = settings_for(endpoint.base_url, transport_retries=0)
        (record,) = await evaluate(sample, settings)
    assert kept(record).reason == "transport"


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [b"\x00\xff" * 100],
        [b"hello\r\n\r\n"],
        [HEAD],
        [b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n"],
        [b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx"],
        [b"HTTP/1.1 204 No Content\r\n\r\n"],
    ],
)
async def test_what_is_no_http_reply_is_a_transport_fault(sample, parts):
    with RawEndpoint(parts) as endpoint:
        (record,) = await evaluate(sample, settings_for(endpoint.base_url))
    assert (kept(record).reason, record.attempts) == ("transport", 2)


async def test_headers_alone_and_a_tls_greeting_end_in_a_timeout(sample):
    with RawEndpoint([HEAD], hangs_up=False) as endpoint:
        quick = {"request_timeout_s": 0.3, "transport_retries": 0}
        (record,) = await evaluate(sample, settings_for(endpoint.base_url, **quick))
    assert kept(record).reason == "timeout"


async def test_replies_of_information_are_passed_over(sample):
    early = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
    body = json.dumps(GOOD).encode()
    good = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    with RawEndpoint([early, good]) as endpoint:
        (record,) = await evaluate(sample, settings_for(endpoint.base_url))
    assert kept(record).level == 4


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": f"Incorrect API key provided: {KEY}"}},
        json.dumps({"error": {"message": f"bad {KEY}"}}).replace("/", "\\/").encode(),
        f"<html><h1>401</h1>{KEY}</html>".encode(),
        {"error": {"message": f"bad {quote(KEY, safe='')}"}},
        {"error": {"message": f"bad {b64encode(KEY.encode()).decode()}"}},
    ],
)
async def test_a_key_that_comes_back_in_an_error_is_not_kept(sample, body):
    record = await record_of(sample, replies(body, status=401))
    assert record.reason == "endpoint_rejected"
    assert record.explanation.endswith("[API key]")


async def test_a_key_that_comes_back_in_an_answer_is_not_kept(sample):
    content = json.dumps({**answer(), "explanation": f"for {KEY}"})
    body = {**GOOD, "model": KEY, "choices": [{"message": {"content": content}}]}
    escaped = json.dumps(body).replace("/", "\\/").encode()
    record = await record_of(sample, replies(escaped))
    assert (record.level, record.judge_returned_model) == (4, "[API key]")
    assert record.explanation == "for [API key]"


def answer():
    ladder = load_ladder("VC")
    return {"answers": ladder.path_to(4), "anomalies": [], "label": ladder.label_of(4)}


ANSWER = json.dumps(answer())


def message(**fields):
    return {"choices": [{"message": {"content": ANSWER, **fields}}]}


@pytest.mark.parametrize(
    "odd",
    [
        {"model": "m\ud800"},
        {"model": 5},
        {"error": None},
        {"choices": [{**CHOICE, "finish_reason": 5}]},
        message(role="system"),
        message(odd=float("inf")),
        message(odd="\udfff"),
        message(content=[{"type": "text", "text": ANSWER}]),
        message(content=json.dumps({**answer(), "explanation": "\ud800"})),
    ],
)
async def test_an_answer_with_odd_company_counts_and_can_be_kept(sample, odd):
    assert (await record_of(sample, replies({**GOOD, **odd}))).level == 4


@pytest.mark.parametrize(
    "usage",
    [
        *(None, [], "x", {"prompt_tokens": -1, "completion_tokens": 1}),
        *({"prompt_tokens": True, "completion_tokens": False}, {"prompt_tokens": 1}),
        {"prompt_tokens": 10**30, "completion_tokens": 1},
        {"prompt_tokens": "7", "completion_tokens": 1.5},
    ],
)
async def test_usage_that_makes_no_sense_is_unknown(sample, usage):
    record = await record_of(sample, replies({**GOOD, "usage": usage}))
    assert (record.level, record.tokens_in, record.tokens_out) == (4, None, None)


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "reasoning_content": json.dumps(answer())},
        {"content": "", "reasoning": "label: Perfect Consistency"},
        {"content": 5},
        {"content": {"text": json.dumps(answer())}},
        {"content": [None, 5, {"type": "image_url"}, {"text": 5}]},
        {"content": [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]},
        {"content": None, "function_call": {"name": "difference", "arguments": "{}"}},
        {"content": None, "tool_calls": "zoom_in"},
    ],
)
async def test_a_message_without_a_spoken_answer_is_asked_again_and_never_scored(sample, message):
    body = {**GOOD, "choices": [{"message": message}]}
    record = await record_of(sample, replies(body))
    assert (record.reason, record.attempts) == ("unparseable", 3)


BOX = [1, 2, 30, 40]


@pytest.mark.parametrize(
    "args",
    [
        '{"picture": "source"}',
        '{"box": [1, 2, 30, 40]}',
        '{"picture": "source", "box": null}',
        '{"picture": 5, "box": [1, 2, 30, 40]}',
        '{"picture": ["source"], "box": [1, 2, 30, 40]}',
        '{"picture": "\\ud800", "box": [1, 2, 30, 40]}',
        '{"picture": "source", "box": [NaN, 2, 30, 40]}',
        '{"picture": "source", "box": [1, 2, 1e400, 40]}',
        '{"picture": "source", "box": [1, 2, 1' + "0" * 400 + ", 40]}",
        '{"picture": "source", "box": [[1], 2, 30, 40]}',
        '{"picture": "source", "box": {"x1": 1}}',
        '{"picture": "source", "box": [900, 900, 990, 990]}',
        '{"picture": "source", "box": [40, 40, 1, 1]}',
        '{"a": ' + "[" * 50_000 + "]" * 50_000 + "}",
        "x" * 100_000,
    ],
)
async def test_a_call_that_cannot_be_done_is_told_and_the_judge_goes_on(sample, args):
    def policy(request):
        return verdict("VC", 4) if request.replies else calls(("zoom_in", args))

    record = await record_of(sample, policy, max_steps=3)
    assert record.level == 4
    assert "error" in json.loads(record.evidence[0].text)


@pytest.mark.parametrize("tool_calls", [[None, 5, {}, {"function": 5}], {"a": 1}, [{"id": 5}]])
async def test_calls_of_nothing_are_answered_under_valid_ids(sample, tool_calls):
    def policy(request):
        return verdict("VC", 4) if request.replies else says(None, tool_calls=tool_calls)

    assert (await record_of(sample, policy, max_steps=3)).level == 4


MANY = range(1000)


async def test_of_a_thousand_calls_eight_are_run_and_all_are_answered(sample):
    def policy(request):
        if not request.replies:
            return calls(
                *(("zoom_in", {"picture": "source", "box": [0, 0, 9, 9 + n]}) for n in MANY)
            )
        answered = [m["tool_call_id"] for m in request.messages if m["role"] == "tool"]
        return verdict("VC", 4) if len(set(answered)) == 1000 else fails(400, "unanswered calls")

    record = await record_of(sample, policy, max_steps=3)
    assert record.level == 4
    assert sum("not run" not in evidence.text for evidence in record.evidence) == 8


@pytest.mark.parametrize(
    ("retry_after", "requests"),
    [
        (YEAR_S, 3),
        ("9" * 400, 3),
        ("Mon, 01 Jan 2103 00:00:00 GMT", 3),
        ("Mon, 01 Jan 2001 00:00:00 GMT", 6),
        ("Mon, 99999999999999 Jan 99999999999 00:00:00 GMT", 6),
        ("-5", 6),
        ("nan", 6),
        ("soon", 6),
        ("", 6),
    ],
)
async def test_nobody_waits_for_a_retry_after_that_the_sample_cannot_live_to(
    sample, retry_after, requests
):
    headers = {"Retry-After": retry_after, "Date": "Mon, 01 Jan 2024 00:00:00 GMT"}
    answered = Answer(status=429, headers=headers, body={"error": {"message": "slow down"}})
    samples = [Sample(**{**vars(sample), "id": str(n)}) for n in range(3)]
    with LoopbackEndpoint(lambda request: answered) as endpoint:
        settings = settings_for(endpoint.base_url)
        records = [kept(record) async for record in evaluate_many(samples, settings)]
    assert [record.reason for record in records] == ["transport"] * 3
    assert endpoint.count == requests
    if requests == 3:
        assert "longer than judge.sample_timeout_s" in records[0].explanation


@pytest.mark.parametrize(
    "base_url",
    [
        *("http://", "host:8000/v1", "ftp://host/v1", "http://[::1/v1", "http://h:70000/v1"),
        *("http://h:abc/v1", "http://h/\n/v1", "http://\u202eh/v1", "javascript:alert(1)"),
    ],
)
async def test_an_address_that_is_none_is_the_users_fault(sample, base_url):
    with pytest.raises(InputError, match=r"judge\.base_url"):
        await evaluate(sample, settings_for(base_url))


async def test_a_key_in_the_place_of_the_address_is_not_shown(sample):
    with pytest.raises(InputError) as caught:
        await evaluate(sample, settings_for(KEY))
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "listed", [None, [], {"data": None}, {"data": "x"}, {"data": [None, {}, {"id": 5}]}, "<html>"]
)
async def test_a_list_of_models_that_is_none_is_the_users_fault(listed):
    body = json.dumps(listed).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with RawEndpoint([head + body]) as endpoint:
        settings = JudgeSettings(base_url=endpoint.base_url)
        with pytest.raises(InputError, match="name a model"):
            await only_model(settings)


PASSWORD = "s3cr3t@x"
WITH_PASSWORD = "bob:s3cr3t%40x@"
BASIC = "Ym9iOnMzY3IzdEB4"


async def test_credentials_in_the_address_reach_the_endpoint_and_nobody_else(sample):
    echo = fails(400, f"who are {WITH_PASSWORD} and {PASSWORD} and {BASIC}?")
    with LoopbackEndpoint(lambda r: echo) as endpoint:
        address = endpoint.base_url.replace("://", f"://{WITH_PASSWORD}")
        (record,) = await evaluate(sample, settings_for(address))
        host = endpoint.base_url.split("/")[2]
        assert endpoint.requests[0].headers["authorization"] == f"Basic {BASIC}"
    assert (record.reason, record.endpoint) == ("endpoint_rejected", host)
    assert record.explanation.count("[API key]") == 3
    assert not any(form in json.dumps(record.to_json()) for form in ("s3cr3t", BASIC))


@pytest.mark.parametrize(
    "address",
    [f"htp://{WITH_PASSWORD}host/v1", f"http://{WITH_PASSWORD}[::g/v1", "http://bob:s3cr3t/1@h/v1"],
)
async def test_an_address_that_is_none_is_told_without_its_password(sample, address):
    with pytest.raises(InputError, match=r"judge\.base_url") as caught:
        await evaluate(sample, settings_for(address))
    assert "s3cr3t" not in str(caught.value)
    assert caught.value.__cause__ is None
