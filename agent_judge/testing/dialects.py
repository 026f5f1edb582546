"""How real endpoints differ, as wrappers of a policy; they can be put around each other.

    policy = few_images(gemini_like(by_turn(calls(("difference", {})), verdict("VC", 4))), most=4)
    with LoopbackEndpoint(policy) as endpoint: ...

Each refuses what its model refuses, in the words that it uses, and shapes replies as it does.
"""

from __future__ import annotations

import base64
import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from agent_judge.testing.answers import Answer, Policy, as_answer, fails
from agent_judge.testing.request import ChatRequest

Check = Callable[[ChatRequest], Answer | None]
"""Refuses a request, or lets it pass."""

_ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})
_CHARS_PER_TOKEN = 4


def refusing(check: Check, policy: Policy) -> Policy:
    """The policy behind a check: the base of most dialects, and of your own."""

    def decide(request: ChatRequest) -> Answer | str:
        refused = check(request)
        return policy(request) if refused is None else refused

    return decide


def strict_openai(policy: Policy) -> Policy:
    """OpenAI: order of messages, ids, JSON arguments, text-only tools and schema are checked."""

    def check(request: ChatRequest) -> Answer | None:
        if fault := _history_fault(request.messages) or _schema_fault(request.response_format):
            return fails(400, fault)
        if "max_tokens" not in request.body:
            return None
        told = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        return fails(400, told, param="max_tokens", code="unsupported_parameter")

    return refusing(check, policy)


def gemini_like(policy: Policy) -> Policy:
    """Gemini: every tool call carries a signature that must come back; no schema beside tools."""

    def check(request: ChatRequest) -> Answer | None:
        for message in request.replies:
            for call in message.get("tool_calls", []):
                signature = call.get("extra_content", {}).get("google", {}).get("thought_signature")
                if signature != _signature(call):
                    return fails(400, "Function call is missing a thought_signature")
        if request.tools and request.response_format:
            told = "Function calling with a response mime type: 'application/json' is unsupported"
            return fails(400, told)
        return None

    def sign(call: Mapping[str, Any]) -> dict[str, Any]:
        return {**call, "extra_content": {"google": {"thought_signature": _signature(call)}}}

    return _reshaped(refusing(check, policy), sign)


def vllm_like(policy: Policy, *, tools: bool = False, most_images: int | None = None) -> Policy:
    """vLLM: no tools unless the server was started for them, pictures in user messages only."""

    def check(request: ChatRequest) -> Answer | None:
        if request.tools and not tools:
            told = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser'
            return fails(400, f"{told} to be set")
        if any(picture.role != "user" for picture in request.pictures):
            return fails(400, "Input should be a valid string: messages.tool.content")
        return None

    checked = refusing(check, policy)
    return checked if most_images is None else few_images(checked, most=most_images)


def ollama_like(policy: Policy) -> Policy:
    """Ollama: call ids are lost, arguments come as an object, pictures as base64 only."""

    def lose(call: Mapping[str, Any]) -> dict[str, Any]:
        function = dict(call["function"])
        if isinstance(function["arguments"], str):
            function["arguments"] = json.loads(function["arguments"] or "{}")
        return {"id": "", "type": "function", "function": function}

    return _reshaped(policy, lose)


def small_context(policy: Policy, *, tokens: int, per_picture: int = 800) -> Policy:
    """A context of so many tokens; pictures count a flat number each."""

    def check(request: ChatRequest) -> Answer | None:
        used = len(request.text) // _CHARS_PER_TOKEN + per_picture * len(request.pictures)
        if used <= tokens:
            return None
        told = f"This model's maximum context length is {tokens} tokens, but {used} were requested"
        return fails(400, told, code="context_length_exceeded", param="messages")

    return refusing(check, policy)


def few_images(policy: Policy, *, most: int) -> Policy:
    """At most so many pictures in a request."""

    def check(request: ChatRequest) -> Answer | None:
        many = len(request.pictures) > most
        return (
            fails(400, f"At most {most} image(s) may be provided in one request.") if many else None
        )

    return refusing(check, policy)


def small_body(policy: Policy, *, most_bytes: int) -> Policy:
    """A proxy that takes bodies up to a size."""

    def check(request: ChatRequest) -> Answer | None:
        large = request.size_bytes > most_bytes
        return (
            Answer(status=413, body=b"<html>413 Request Entity Too Large</html>") if large else None
        )

    return refusing(check, policy)


def storm(policy: Policy, *, times: int = 2, retry_after_s: float | None = None) -> Policy:
    """Every conversation's turn is refused so many times with a 429 before it is answered."""
    return _stumbling(policy, fails(429, "rate limit reached", retry_after_s=retry_after_s), times)


def torn(policy: Policy, *, times: int = 1) -> Policy:
    """The connection breaks in the middle of the first replies of every turn."""
    return _stumbling(
        policy, Answer(message={"role": "assistant", "content": ""}, torn=True), times
    )


def error_in_200(policy: Policy, *, times: int = 1, code: int = 502) -> Policy:
    """The first replies of every turn are a 200 with an error inside, as routers send it."""
    body = {"error": {"message": "Provider returned error", "code": code}}
    return _stumbling(policy, Answer(body=body), times)


def slow(policy: Policy, *, delay_s: float) -> Policy:
    """Every reply takes this much longer."""

    def decide(request: ChatRequest) -> Answer:
        answer = as_answer(policy(request))
        return replace(answer, delay_s=answer.delay_s + delay_s)

    return decide


def _stumbling(policy: Policy, stumble: Answer, times: int) -> Policy:
    seen: Counter[str] = Counter()
    lock = threading.Lock()

    def decide(request: ChatRequest) -> Answer | str:
        with lock:
            seen[request.digest] += 1
            early = seen[request.digest] <= times
        return stumble if early else policy(request)

    return decide


def _reshaped(policy: Policy, reshape: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Policy:
    """The policy with each tool call of its replies changed."""

    def decide(request: ChatRequest) -> Answer:
        answer = as_answer(policy(request))
        message = answer.message or {}
        if not message.get("tool_calls"):
            return answer
        calls = [dict(reshape(call)) for call in message["tool_calls"]]
        return replace(answer, message={**message, "tool_calls": calls})

    return decide


def _signature(call: Mapping[str, Any]) -> str:
    function = call["function"]
    return base64.b64encode(f"{function['name']} {function['arguments']}".encode()).decode()


def _history_fault(messages: list[dict[str, Any]]) -> str | None:
    """What OpenAI would refuse in a conversation."""
    waiting: list[str] = []
    for index, message in enumerate(messages):
        at, role = f"messages.[{index}]", message.get("role")
        if role not in _ROLES:
            return f"Invalid value: '{role}' for {at}.role"
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                return f"{at}: 'tool' must be a response to a preceding message with 'tool_calls'"
            waiting.remove(message["tool_call_id"])
            if not isinstance(message.get("content"), str):
                return f"Invalid {at}.content: tool messages take text only"
            continue
        if waiting:
            return f"An assistant message with 'tool_calls' must be followed by tool messages: {at}"
        if "content" not in message and not message.get("tool_calls"):
            return f"Missing required parameter: '{at}.content'"
        calls = message.get("tool_calls") or []
        waiting = [call.get("id") for call in calls]
        if fault := next(filter(None, map(_call_fault, calls)), None):
            return f"{at}: {fault}"
        if len(set(waiting)) != len(waiting):
            return f"{at}: duplicate tool call ids"
    return f"tool calls without an answer: {waiting}" if waiting else None


def _call_fault(call: Mapping[str, Any]) -> str | None:
    function = call.get("function", {})
    if not isinstance(call.get("id"), str) or not call["id"]:
        return "tool call without an id"
    if call.get("type") != "function" or not isinstance(function.get("arguments"), str):
        return "tool call with arguments that are no text"
    try:
        return None if isinstance(json.loads(function["arguments"]), dict) else "no JSON object"
    except ValueError:
        return "tool call arguments are no valid JSON"


def _schema_fault(response_format: Mapping[str, Any] | None) -> str | None:
    if not response_format or response_format.get("type") != "json_schema":
        return None
    return _loose_object(response_format["json_schema"]["schema"])


def _loose_object(node: object) -> str | None:
    """What strict mode refuses in a schema: an object that leaves something open."""
    if isinstance(node, list):
        return next(filter(None, map(_loose_object, node)), None)
    if not isinstance(node, Mapping):
        return None
    if node.get("type") == "object":
        names = list(node.get("properties", {}))
        if node.get("additionalProperties") is not False or node.get("required") != names:
            return f"Invalid schema for response_format: 'required' must hold all of {names}"
    return next(filter(None, map(_loose_object, node.values())), None)
