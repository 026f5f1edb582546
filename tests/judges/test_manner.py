"""What is learnt from a refusal; the words are those that endpoints really use."""

from dataclasses import replace

import pytest

from agent_judge.judges.endpoint import Profile
from agent_judge.judges.manner import Manner, Refusal, Sent, adapt, is_final, lacks_tools, reason_of

START = Manner.of(Profile())
SENT = Sent(
    params=["temperature", "max_tokens", "parallel_tool_calls", "response_format", "detail"],
    size_bytes=4_000_000,
    images=120,
    tool_pictures=3,
    empty_contents=True,
    reply_fields={"reasoning_content", "index"},
)


def refusal(message, status=400, **fields):
    return Refusal(status=status, message=message, **fields)


@pytest.mark.parametrize(
    ("told", "sent", "most"),
    [
        ("At most 2 image(s) may be provided in one request.", 5, 2),
        ("Too many images in request: 11 provided, but supports a maximum of 10 images.", 11, 10),
        ("Exceeded maximum number of images (50) allowed in the request.", 51, 50),
        ("Too many images in request. Max is 10.", 12, 10),
        ("too many images and documents: 120 + 0 > 100", 120, 100),
        ("Too much media: 0 document pages + 107 images > 100", 107, 100),
        ("request contains 52 images, exceeding the maximum of 50 allowed per request", 52, 50),
        ("You set image=2 (or defaulted to 1) in `--limit-mm-per-prompt`, but passed 3", 3, 2),
        ("This model supports up to 5 images", 8, 5),
        ("messages.14.content.2: too many images", 6, 3),
    ],
)
def test_the_limit_of_pictures_is_read_from_any_wording(told, sent, most):
    changed = adapt(START, refusal(told), replace(SENT, images=sent))
    assert changed == replace(START, max_images=most)


@pytest.mark.parametrize(
    ("told", "status"),
    [
        ("Request Entity Too Large", 413),
        ("", 413),
        ("Request exceeds the maximum size", 413),
        ("messages.1.content.1.image.source.base64: image exceeds 5 MB maximum: 6 > 5 bytes", 400),
        ("Failed to buffer the request body: length limit exceeded", 400),
        ("request body too large", 400),
        ("Request payload size exceeds the limit: 20971520 bytes.", 400),
        ("Cannot POST /v1/chat/completions: Not Found", 404),
    ],
)
def test_a_body_too_large_is_tried_once_below_what_proxies_take(told, status):
    changed = adapt(START, refusal(told, status), SENT)
    assert changed == replace(START, max_body_bytes=950_000, shrunk=True)
    assert adapt(changed, refusal(told, status), replace(SENT, size_bytes=900_000)) is None


@pytest.mark.parametrize(
    "told",
    [
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
        "request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it",
        "the request exceeds the available context size. try increasing the context size",
        "Context size has been exceeded.",
        "Requested tokens (2285) exceed context window of 2048",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "Input is too long for requested model.",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ],
)
def test_a_full_context_leaves_out_old_crops_once_then_is_the_reason(told):
    changed = adapt(START, refusal(told), SENT)
    assert changed == replace(START, keep_looks=1)
    assert adapt(changed, refusal(told), replace(SENT, tool_pictures=1)) is None
    assert reason_of(refusal(told)) == "context_limit"
    assert is_final(500, told)


@pytest.mark.parametrize(
    ("told", "param", "dropped"),
    [
        ("'temperature' does not support 0 with this model.", "temperature", "temperature"),
        ("Unsupported parameter: temperature", "", "temperature"),
        ("'parallel_tool_calls' is not supported with this model.", "", "parallel_tool_calls"),
        ('[{"loc": ["body", "temperature"], "msg": "Extra inputs"}]', "", "temperature"),
        ("Unknown parameter", "messages[1].content[2].image_url.detail", "detail"),
        ("'messages.2' : property 'reasoning_content' is unsupported", "", "reasoning_content"),
    ],
)
def test_a_refused_parameter_is_dropped(told, param, dropped):
    changed = adapt(START, refusal(told, param=param), SENT)
    assert changed == replace(START, dropped=frozenset({dropped}))
    assert changed.flags == {f"dropped:{dropped}"}


@pytest.mark.parametrize("param", ["max_tokens", ""])
def test_the_token_parameter_is_renamed_before_it_is_dropped(param):
    told = (
        "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    )
    changed = adapt(START, refusal(told, param=param), SENT)
    assert changed is not None
    assert changed.token_param == "max_completion_tokens"
    other = replace(SENT, params=["max_completion_tokens"])
    told = "Unrecognized request argument supplied: max_completion_tokens"
    again = adapt(changed, refusal(told), other)
    assert again is not None
    assert again.dropped == {"max_tokens", "max_completion_tokens"}


@pytest.mark.parametrize(
    "told",
    [
        "Function calling with a response mime type: 'application/json' is unsupported",
        "it has a mimeType parameter with value application/json, which is not supported",
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported.",
        "This response_format type is unavailable now",
        "Structured outputs are not supported by this model",
    ],
)
def test_a_refused_form_of_answer_is_weakened_step_by_step(told):
    steps, manner = [], START
    while changed := adapt(manner, refusal(told), replace(SENT, params=["response_format"])):
        manner = changed
        steps.append(manner.schema)
        if manner.schema == "none":
            break
    assert steps == ["object", "none"]


def test_empty_content_goes_from_text_to_null_to_left_out():
    told = refusal("Invalid value for 'content': expected a string, got null.", param="messages[2]")
    manner, forms = START, []
    while changed := adapt(manner, told, SENT):
        manner = changed
        forms.append(manner.empty_content)
    assert forms == ["null", "left_out"]


@pytest.mark.parametrize(
    "told",
    [
        "The response was filtered due to the prompt triggering Azure's content management policy",
        "Your request was rejected as a result of our safety system",
        "Input was flagged by moderation",
    ],
)
def test_a_filter_is_no_reason_to_change_anything(told):
    assert adapt(START, refusal(told), SENT) is None
    assert reason_of(refusal(told)) == "blocked"


@pytest.mark.parametrize("told", ["Bad request", "something is wrong", "Invalid image"])
def test_what_names_nothing_is_not_guessed_at(told):
    assert adapt(START, refusal(told), SENT) is None
    assert reason_of(refusal(told)) == "endpoint_rejected"


@pytest.mark.parametrize(
    ("told", "lacks"),
    [
        ("registry.ollama.ai/library/llava does not support tools", True),
        ('"auto" tool choice requires --enable-auto-tool-choice', True),
        ("No endpoints found that support tool use. To learn more", True),
        ("`tool calling` is not supported with this model", True),
        ("tools[0].function.name is invalid", False),
        ("internal error", False),
    ],
)
def test_an_endpoint_without_tools_is_known_by_its_words(told, lacks):
    assert lacks_tools(refusal(told)) is lacks
