"""The LMM judge in the loop, over real sockets: what endpoints do to a tool loop with pictures."""

import io
import itertools
import json

import numpy as np
import pytest
from PIL import Image

from agent_judge.errors import JudgeError
from agent_judge.graph import run_loop
from agent_judge.judges.coordinates import CoordinateSystem
from agent_judge.testing import (
    Answer,
    ChatRequest,
    Policy,
    by_turn,
    calls,
    fails,
    in_turn,
    says,
    verdict,
)
from tests.judges.over_the_wire import a_loop, a_view, judge_at

ZOOM = ("zoom_in", {"picture": "source", "box": [60, 40, 70, 50]})
ZOOM_EDITED = ("zoom_in", {"picture": "edited", "box": [60, 40, 70, 50]})


def checked(check, policy: Policy) -> Policy:
    """A policy whose requests must pass a check, which says what is wrong."""

    def decide(request: ChatRequest) -> Answer | str:
        fault = check(request)
        return fails(400, fault) if fault else policy(request)

    return decide


def zooms(*at: int) -> list[Answer]:
    return [calls(("zoom_in", {"picture": "source", "box": [n, n, n + 9, n + 9]})) for n in at]


def no_picture_outside_user(request: ChatRequest) -> str | None:
    return (
        "pictures only in user messages" if {p.role for p in request.pictures} != {"user"} else None
    )


def tool_answers_follow_their_call(request: ChatRequest) -> str | None:
    messages = request.messages
    for index, message in enumerate(messages):
        wanted = [call["id"] for call in message.get("tool_calls", [])]
        following = messages[index + 1 : index + 1 + len(wanted)]
        if [m.get("tool_call_id") for m in following] != wanted:
            return "each call must be answered right after its message"
        if any(not isinstance(m["content"], str) for m in following):
            return "tool messages must be text"
    return None


async def test_crops_follow_in_a_user_message_behind_all_tool_answers():
    """Cases E01, E03."""
    policy = by_turn(calls(ZOOM, ZOOM_EDITED), verdict("IF", 4))
    policy = checked(tool_answers_follow_their_call, checked(no_picture_outside_user, policy))
    async with judge_at(policy) as (judge, endpoint):
        assert (await run_loop(a_loop(judge))).level == 4
    last = endpoint.requests[-1]
    assert [m["role"] for m in last.messages[2:]] == ["assistant", "tool", "tool", "user"]
    assert len(last.pictures) == 2 + 2
    assert all(picture.label for picture in last.pictures)


@pytest.mark.parametrize("ids", [["call_0", "call_0"], [None, None], ["", ""]])
@pytest.mark.slow
async def test_lost_ids_are_made_up_alike_in_calls_and_answers(ids):
    """Case E05; the same ids come again in the second turn."""
    answer = calls(ZOOM, ("difference", {}))
    assert answer.message is not None
    for call, call_id in zip(answer.message["tool_calls"], ids, strict=True):
        call["id"] = call_id
    policy = checked(tool_answers_follow_their_call, by_turn(answer, answer, verdict("IF", 2)))
    async with judge_at(policy) as (judge, endpoint):
        assert (await run_loop(a_loop(judge))).level == 2
    sent = [c["id"] for m in endpoint.requests[-1].replies for c in m["tool_calls"]]
    assert len(set(sent)) == len(sent) == 4


@pytest.mark.parametrize("arguments", ["", None, "{}", '"{}"'])
@pytest.mark.slow
async def test_no_arguments_run_a_tool_without_required_ones(arguments):
    """Case E07."""
    policy = by_turn(calls(("difference", arguments)), verdict("IF", 4))
    async with judge_at(policy) as (judge, _):
        loop = a_loop(judge)
        await run_loop(loop)
    assert "regions" in json.loads(loop.trace.evidence[0].text)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (("crop_image", {"box": [1, 1, 9, 9]}), "zoom_in"),
        (("zoom_in", '{"picture": "source", "box": [1, 2'), "not valid JSON"),
        (("zoom_in", {"picture": "source", "box": [9, 9, 1, 1]}), "box"),
    ],
)
async def test_a_bad_call_is_answered_so_that_the_judge_can_correct_itself(call, told):
    """Case E09 and its kind."""
    policy = checked(tool_answers_follow_their_call, by_turn(calls(call), verdict("IF", 4)))
    async with judge_at(policy) as (judge, endpoint):
        assert (await run_loop(a_loop(judge))).level == 4
    answer = endpoint.requests[-1].messages[3]
    assert answer["role"] == "tool"
    assert told in answer["content"]


async def test_signatures_of_the_assistant_message_come_back():
    """Case E24."""
    signed = calls(ZOOM)
    assert signed.message is not None
    signature = {"google": {"thought_signature": "c2lnbmF0dXJl"}}
    signed.message["tool_calls"][0]["extra_content"] = signature

    def unsigned(request: ChatRequest) -> str | None:
        back = [c.get("extra_content") for m in request.replies for c in m["tool_calls"]]
        return None if all(b == signature for b in back) else "missing a thought_signature"

    policy = checked(unsigned, by_turn(signed, verdict("IF", 4)))
    async with judge_at(policy, model="gemini-3-pro") as (judge, _):
        assert (await run_loop(a_loop(judge))).level == 4


@pytest.mark.parametrize(
    ("told", "is_refused"),
    [
        ("content must not be null", lambda m: "content" in m and m["content"] is None),
        ("content is a required field", lambda m: "content" not in m),
        (
            "text content blocks must contain non-empty text: content",
            lambda m: m.get("content") == "",
        ),
    ],
)
async def test_empty_content_is_written_as_the_endpoint_takes_it(told, is_refused):
    """Case E12."""

    def check(request: ChatRequest) -> str | None:
        return told if any(is_refused(m) for m in request.replies) else None

    async with judge_at(checked(check, by_turn(calls(ZOOM), verdict("IF", 4)))) as (judge, _):
        assert (await run_loop(a_loop(judge))).level == 4


async def test_tools_of_the_history_are_declared_where_an_endpoint_wants_them():
    """The turn after a bad answer offers no tools; Claude refuses tool messages without any."""

    def check(request: ChatRequest) -> str | None:
        bare = request.replies and not request.tools
        return "Requests which include `tool_use` blocks must define `tools`." if bare else None

    policy = checked(check, by_turn(calls(ZOOM), "no JSON", verdict("IF", 4)))
    async with judge_at(policy, model="claude-sonnet-4-5") as (judge, endpoint):
        assert (await run_loop(a_loop(judge))).level == 4
    last = endpoint.requests[-1]
    assert (last.tool_names, last.body["tool_choice"]) == (["zoom_in"], "none")


@pytest.mark.parametrize("most", [1, 2, 3, 4])
@pytest.mark.slow
async def test_few_pictures_a_request_reduce_evidence_and_say_so(most):
    """Case E14."""

    def check(request: ChatRequest) -> str | None:
        many = len(request.pictures) > most
        return f"At most {most} image(s) may be provided in one request." if many else None

    policy = checked(check, by_turn(*zooms(9, 30, 60), verdict("IF", 3)))
    async with judge_at(policy) as (judge, endpoint):
        loop = a_loop(judge)
        assert (await run_loop(loop)).level == 3
    assert "crops_trimmed" in loop.trace.ledger.flags
    assert any("evidence reduced" in note for note in loop.trace.ledger.notes)
    refused = [r for r in endpoint.requests if len(r.pictures) > most]
    assert len(refused) == 1, "a limit is learnt once"


async def test_a_full_context_is_mended_by_leaving_out_old_crops():
    full = fails(400, "maximum context length is 4096 tokens", code="context_length_exceeded")
    talk = by_turn(*zooms(9, 30, 60), verdict("IF", 3))

    def policy(request: ChatRequest) -> Answer | str:
        return full if len(request.pictures) > 4 else talk(request)

    async with judge_at(policy) as (judge, endpoint):
        loop = a_loop(judge)
        assert (await run_loop(loop)).level == 3
    assert "crops_trimmed" in loop.trace.ledger.flags
    assert len([r for r in endpoint.requests if len(r.pictures) > 4]) == 1


@pytest.mark.parametrize(
    ("system", "box"),
    [
        ("shown_pixels", [1200, 300, 1240, 330]),
        ("xyxy_1000", [750, 250, 775, 275]),
        ("yxyx_1000", [250, 750, 275, 775]),
    ],
)
async def test_a_box_means_the_same_place_in_every_convention(system: CoordinateSystem, box):
    """Case E21."""
    policy = by_turn(calls(("zoom_in", {"picture": "source", "box": box})), verdict("IF", 4))
    endpoint = {"coordinates": system, "max_side_px": 1600}
    async with judge_at(policy, endpoint=endpoint) as (judge, loopback):
        loop = a_loop(judge, view=a_view((1600, 1200)))
        await run_loop(loop)
    x1, y1, x2, y2 = loop.trace.evidence[0].args["box"]
    assert abs((x1 + x2) / 2 - 1220) < 0.02 * 1600
    assert abs((y1 + y2) / 2 - 315) < 0.02 * 1200
    told = loopback.requests[-1].messages[3]["content"]
    assert "box_px" in told


async def test_shown_pixels_are_those_of_the_picture_as_it_was_sent():
    policy = by_turn(
        calls(("zoom_in", {"picture": "source", "box": [600, 150, 620, 165]})), verdict("IF", 4)
    )
    async with judge_at(policy, endpoint={"max_side_px": 800}) as (judge, loopback):
        loop = a_loop(judge, view=a_view((1600, 1200)))
        await run_loop(loop)
    assert loop.trace.evidence[0].args["box"] == [1200, 300, 1240, 330]
    first = Image.open(io.BytesIO(loopback.requests[0].pictures[0].data))
    assert first.size == (800, 600)
    assert "800 wide and 600 high" in loopback.requests[0].text


@pytest.mark.parametrize("box", [[100, 50, 106, 59], [0, 60, 160, 63]])
async def test_small_and_narrow_crops_are_taken_by_vision_processors(box):
    """Case E20."""

    def check(request: ChatRequest) -> str | None:
        for picture in request.pictures:
            width, height = Image.open(io.BytesIO(picture.data)).size
            if min(width, height) < 28 or max(width, height) / min(width, height) > 200:
                return f"image of {width}x{height} is too small or too narrow"
        return None

    policy = by_turn(calls(("zoom_in", {"picture": "source", "box": box})), verdict("IF", 4))
    async with judge_at(checked(check, policy)) as (judge, _):
        assert (await run_loop(a_loop(judge))).level == 4


async def test_the_declared_type_is_that_of_the_bytes():
    """Case E17."""

    def check(request: ChatRequest) -> str | None:
        for picture in request.pictures:
            kind = (Image.open(io.BytesIO(picture.data)).format or "").lower()
            if picture.mime != f"image/{kind}":
                return f"declared {picture.mime}, but it is {kind}"
        return None

    policy = checked(check, by_turn(calls(ZOOM), verdict("IF", 4)))
    async with judge_at(policy) as (judge, _):
        assert (await run_loop(a_loop(judge, view=a_view((900, 700), noise=True)))).level == 4


async def test_a_body_too_large_is_sent_again_once_with_smaller_pictures():
    """Case E16."""

    def check(request: ChatRequest) -> Answer | None:
        return fails(413, "Request Entity Too Large") if request.size_bytes > 1_000_000 else None

    def policy(request: ChatRequest) -> Answer | str:
        return check(request) or verdict("IF", 4)

    async with judge_at(policy) as (judge, endpoint):
        loop = a_loop(judge, view=a_view((700, 700), noise=True), tools=())
        assert (await run_loop(loop)).level == 4
    assert endpoint.count == 2
    assert any("pictures sent as" in note for note in loop.trace.ledger.notes)


async def test_a_body_that_stays_too_large_is_a_named_reason_and_never_sent_twice():
    async with judge_at(in_turn(fails(413, "too large"))) as (judge, endpoint):
        with pytest.raises(JudgeError, match="too large") as raised:
            await run_loop(a_loop(judge, view=a_view((500, 500), noise=True), tools=()))
    assert raised.value.reason == "endpoint_rejected"
    assert endpoint.count == 2
    assert len({r.digest for r in endpoint.requests}) == 2


async def test_the_size_is_checked_before_sending():
    limit = {"max_body_mb": 0.2}
    async with judge_at(in_turn(verdict("IF", 4)), endpoint=limit) as (judge, endpoint):
        await run_loop(a_loop(judge, view=a_view((500, 500), noise=True), tools=()))
    assert [r.size_bytes <= 200_000 for r in endpoint.requests] == [True]


async def test_every_turn_begins_with_the_bytes_of_the_turn_before():
    policy = by_turn(calls(ZOOM), calls(ZOOM_EDITED), verdict("IF", 4))
    async with judge_at(policy) as (judge, endpoint):
        await run_loop(a_loop(judge))
    texts = [json.dumps(r.messages)[:-1] for r in endpoint.requests]
    for earlier, later in itertools.pairwise(texts):
        assert later.startswith(earlier)
    assert len({json.dumps(r.tools) for r in endpoint.requests}) == 1


async def test_the_measured_profile_sends_the_very_same_pixels():
    view = a_view((2100, 300), noise=True)
    async with judge_at(in_turn(verdict("IF", 4)), model="agent-judge-measured-1") as (judge, end):
        await run_loop(a_loop(judge, view=view))
    for picture, pixels in zip(end.requests[0].pictures, (view.source, view.edited), strict=True):
        assert np.array_equal(np.asarray(Image.open(io.BytesIO(picture.data))), pixels)


@pytest.mark.parametrize("moved", [True, False])
async def test_pictures_go_into_tool_messages_only_where_the_profile_says_so(moved):
    policy = by_turn(calls(ZOOM), verdict("IF", 4))
    async with judge_at(policy, endpoint={"images_in_tool_messages": moved}) as (judge, endpoint):
        await run_loop(a_loop(judge))
    roles = [picture.role for picture in endpoint.requests[-1].pictures]
    assert roles == ["user", "user", "tool" if moved else "user"]


async def test_broken_json_is_asked_again_a_bounded_number_of_times():
    """Case J02."""
    broken = '{"label": "Wrong Action", "why": "colour is "red""}'
    async with judge_at(in_turn(broken)) as (judge, endpoint):
        with pytest.raises(JudgeError) as raised:
            await run_loop(a_loop(judge))
    assert raised.value.reason == "unparseable"
    assert endpoint.count == 1 + 2
    assert "cannot be read" in endpoint.requests[1].text


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (says(None, refusal="I will not."), "refused"),
        (says("I am sorry, I cannot help with this image."), "refused"),
        (Answer(message={"content": None}, finish_reason="content_filter"), "blocked"),
        (Answer(message={"content": None}, finish_reason="PROHIBITED_CONTENT"), "blocked"),
        (Answer(message={"content": "No."}, finish_reason="refusal"), "refused"),
        (Answer(message={"content": ""}, finish_reason="length"), "truncated"),
        (Answer(message={"content": "Wrong Action"}, finish_reason="MAX_TOKENS"), "truncated"),
        (says(""), "unparseable"),
    ],
)
async def test_a_reply_without_a_verdict_is_its_own_reason_and_never_a_level(answer, reason):
    """Cases J10, J13."""
    async with judge_at(in_turn(answer)) as (judge, _):
        with pytest.raises(JudgeError) as raised:
            await run_loop(a_loop(judge))
    assert raised.value.reason == reason


@pytest.mark.parametrize("ending", ["MALFORMED_FUNCTION_CALL", "function_call_filter: x"])
async def test_a_call_that_its_server_could_not_read_may_be_made_again(ending):
    lost = Answer(message={"content": ""}, finish_reason=ending)
    async with judge_at(by_turn(lost, calls(ZOOM), verdict("IF", 3))) as (judge, endpoint):
        loop = a_loop(judge)
        assert (await run_loop(loop)).level == 3
    assert "could not be read" in endpoint.requests[1].text
    assert [evidence.tool for evidence in loop.trace.evidence] == ["zoom_in"]


@pytest.mark.parametrize("role", ["model", "user", None])
async def test_a_reply_is_the_assistants_whatever_role_it_came_under(role):
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    call = dict(calls(ZOOM).message or {}, role=role, content=[picture])
    policy = checked(
        tool_answers_follow_their_call, in_turn(Answer(message=call), verdict("IF", 3))
    )
    async with judge_at(policy) as (judge, endpoint):
        assert (await run_loop(a_loop(judge))).level == 3
    assert [m["role"] for m in endpoint.requests[1].messages[2:]] == ["assistant", "tool", "user"]


async def test_a_call_that_nobody_offered_leaves_the_history_valid():
    policy = checked(tool_answers_follow_their_call, by_turn(calls(ZOOM), verdict("IF", 3)))
    async with judge_at(policy) as (judge, _):
        assert (await run_loop(a_loop(judge, tools=()))).level == 3


async def test_a_label_without_answers_counts_and_is_flagged():
    async with judge_at(in_turn("**Wrong-Action**")) as (judge, _):
        loop = a_loop(judge)
        assert (await run_loop(loop)).level == 2
    assert "label_only" in loop.trace.ledger.flags
