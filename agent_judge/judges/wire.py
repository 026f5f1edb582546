"""From a request of the loop to the body of an HTTP request.

The conversation stays as it is in the graph; here pictures become bytes, and the endpoint's
manner is applied. Earlier messages are written the same in every turn, so that the provider's
prompt cache finds its prefix.
"""

from __future__ import annotations

import itertools
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent_judge.album import Album
from agent_judge.errors import JudgeError
from agent_judge.judges.base import Message, Request
from agent_judge.judges.endpoint import Profile
from agent_judge.judges.manner import Manner, Sent
from agent_judge.judges.picture import FORMS, LOSSLESS, Form, data_url, fits_as_png, url_of_bytes
from agent_judge.judges.trim import fit_pictures, keep_last_looks, looks_in, pictures_in

_REPLY_FIELDS = frozenset({"role", "content", "tool_calls", "refusal", "name"})
_CALL_FIELDS = frozenset({"id", "type", "function"})
_DETAIL = "detail"
_MARK = secrets.token_hex(16)
"""Stands for a picture until the JSON is written. It leaves no process, so no text can hold it."""
SCHEMA_FLAG = "schema:"
"""Start of the flag that tells the form of answer asked for."""


@dataclass(frozen=True, kw_only=True)
class Letter:
    """A request, ready to be sent."""

    body: bytes
    sent: Sent
    params: Mapping[str, Any]
    """The optional parameters as sent, without messages and tools."""
    flags: frozenset[str]
    """For the record: what was given up, and the form of answer asked for."""
    notes: tuple[str, ...]
    """For the record, in words."""


def write(
    request: Request, manner: Manner, profile: Profile, *, model: str, cap: int | None
) -> Letter:
    """The request as the endpoint takes it.

    Args:
        request: the turn asked for; left as it is.
        manner: what the endpoint is known to take.
        profile: the model's.
        model: its name.
        cap: output tokens, or None for the endpoint's default.

    Raises:
        JudgeError: no encoding fits the endpoint's limit of the body.
    """
    messages = _fewer_pictures(request, manner)
    params = parameters(request, manner, profile, cap)
    size = 0
    for form in FORMS if profile.max_png_mb is not None else (LOSSLESS,):
        pictures = _Pictures(form, request.album, profile)
        written = _messages(messages, pictures, manner, profile)
        content = {"model": model, **params, **_tools(request, manner), "messages": written}
        body = _encode(content, pictures.data)
        if (size := len(body)) <= manner.max_body_bytes:
            trimmed = _count(messages) < _count(request.messages)
            return Letter(
                body=body,
                sent=_sent(messages, params, manner, size),
                params=params,
                flags=_flags(manner, params, trimmed),
                notes=tuple(_notes(manner, params, form, trimmed)),
            )
    raise JudgeError(
        "endpoint_rejected",
        f"the request is {size / 1e6:.1f} MB with its pictures at their smallest, and the endpoint "
        f"takes {manner.max_body_bytes / 1e6:.1f} MB: raise endpoint.max_body_mb if it takes more",
    )


def _flags(manner: Manner, params: Mapping[str, Any], trimmed: bool) -> frozenset[str]:
    schema = manner.schema if "response_format" in params else "none"
    return manner.flags | {SCHEMA_FLAG + schema} | ({"crops_trimmed"} if trimmed else set())


def _notes(manner: Manner, params: Mapping[str, Any], form: Form, trimmed: bool) -> Iterator[str]:
    if form not in FORMS[:2]:
        yield f"pictures sent as {form}: the endpoint takes {manner.max_body_bytes / 1e6:g} MB"
    if trimmed:
        most = "" if manner.max_images is None else f"; it takes {manner.max_images} pictures"
        yield f"evidence reduced for the endpoint: older crops left out or joined{most}"
    if manner.dropped:
        sent = {k: v for k, v in params.items() if k != "response_format"}
        yield f"the endpoint refused {', '.join(sorted(manner.dropped))}; sent were {sent}"


def parameters(
    request: Request, manner: Manner, profile: Profile, cap: int | None
) -> dict[str, Any]:
    """The optional parameters of a request; what the endpoint refused before is left out."""
    params: dict[str, Any] = dict(profile.sampling_params)
    if cap is not None:
        params[manner.token_param] = cap
    if request.tools and not profile.parallel_tools:
        params["parallel_tool_calls"] = False
    if not request.tools or profile.schema_with_tools:
        params |= _response_format(request.answer_schema, manner)
    return {name: value for name, value in params.items() if name not in manner.dropped}


def _response_format(schema: Mapping[str, Any], manner: Manner) -> dict[str, Any]:
    if manner.schema == "none":
        return {}
    if manner.schema == "object":
        return {"response_format": {"type": "json_object"}}
    strict = {"name": "verdict", "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": strict}}


def _tools(request: Request, manner: Manner) -> dict[str, Any]:
    if request.tools:
        return {"tools": list(request.tools)}
    if not manner.declare_tools:
        return {}
    calls = [call for message in request.messages for call in message.get("tool_calls") or ()]
    names = dict.fromkeys(call["function"]["name"] for call in calls)
    called = [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
        for name in names
    ]
    return {"tools": called, "tool_choice": "none"} if called else {}


def _fewer_pictures(request: Request, manner: Manner) -> Sequence[Message]:
    messages = request.messages
    if manner.keep_looks is not None:
        messages = keep_last_looks(messages, manner.keep_looks)
    if manner.max_images is not None:
        messages = fit_pictures(messages, manner.max_images, request.album)
    return messages


def _messages(
    messages: Sequence[Message], pictures: _Pictures, manner: Manner, profile: Profile
) -> list[Message]:
    written: list[Message] = []
    for message in messages:
        if message.get("role") == "assistant":
            written.append(_replayed(message, manner))
        elif pictures_in(message):
            shown = pictures.in_place(message["content"], manner)
            if profile.images_in_tool_messages and written and written[-1]["role"] == "tool":
                text = {"type": "text", "text": written[-1]["content"]}
                written[-1] = {**written[-1], "content": [text, *shown]}
            else:
                written.append({**message, "content": shown})
        else:
            written.append(message)
    return written


def _replayed(message: Message, manner: Manner) -> Message:
    """An assistant message as it came, but for nulls and what the endpoint refused to get back."""
    kept = {k: v for k, v in message.items() if v is not None and k not in manner.dropped}
    if "tool_calls" in kept and manner.dropped:
        kept["tool_calls"] = [
            {k: v for k, v in call.items() if k not in manner.dropped}
            for call in kept["tool_calls"]
        ]
    if not kept.get("content"):
        kept.pop("content", None)
        if manner.empty_content != "left_out":
            kept["content"] = "" if manner.empty_content == "text" else None
    return kept


@dataclass(frozen=True)
class _Pictures:
    """The pictures of one body.

    They are put into its JSON afterwards: as text they would be escaped anew in every turn.
    """

    form: Form
    album: Album
    profile: Profile
    data: list[bytes] = field(default_factory=list)
    """Data URLs in the order in which they stand in the body."""

    def in_place(self, parts: Sequence[Mapping[str, Any]], manner: Manner) -> list[dict[str, Any]]:
        """The parts of a message with a mark in place of each reference, all in one encoding."""
        urls = [part["image_url"]["url"] for part in parts if part.get("type") == "image_url"]
        # One encoding for all pictures of a message: its noise must be no difference between them.
        too_large = self.form == LOSSLESS and not all(map(self._fits, urls))
        form = FORMS[1] if too_large else self.form
        self.data.extend(self._data_url(url, form) for url in urls)
        detail = {} if _DETAIL in manner.dropped else {_DETAIL: "high"}
        marked = {"type": "image_url", "image_url": {"url": _MARK, **detail}}
        return [marked if part.get("type") == "image_url" else dict(part) for part in parts]

    def _fits(self, url: str) -> bool:
        if self.profile.max_png_mb is None:
            return True
        most_bytes, convention = self.profile.max_png_mb * 1e6, self.profile.convention
        return self.album.rendering(
            url, ("fits", convention), lambda pixels: fits_as_png(pixels, most_bytes, convention)
        )

    def _data_url(self, url: str, form: Form) -> bytes:
        convention = self.profile.convention

        def render(pixels: NDArray[np.uint8]) -> bytes:
            size_wh = (pixels.shape[1], pixels.shape[0])
            if form == LOSSLESS and convention.shown_wh(size_wh) == size_wh:
                return url_of_bytes(self.album.png(url), form).encode()
            return data_url(pixels, form, convention).encode()

        return self.album.rendering(url, (form, convention), render)


def _encode(body: Mapping[str, Any], pictures: Sequence[bytes]) -> bytes:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    # a lone surrogate has no place on a wire
    between = text.encode("utf-8", "replace").split(_MARK.encode())
    return b"".join(itertools.chain(*itertools.zip_longest(between, pictures, fillvalue=b"")))


def _sent(
    messages: Sequence[Message], params: Mapping[str, Any], manner: Manner, size: int
) -> Sent:
    replies = [m for m in messages if m.get("role") == "assistant"]
    calls = [call for reply in replies for call in reply.get("tool_calls") or ()]
    fields = {k for reply in replies for k in reply} - _REPLY_FIELDS
    fields |= {k for call in calls for k in call} - _CALL_FIELDS
    detail = [] if _DETAIL in manner.dropped else [_DETAIL]
    return Sent(
        params=[*params, *detail],
        size_bytes=size,
        images=_count(messages),
        tool_pictures=len(looks_in(messages)),
        empty_contents=any(not reply.get("content") for reply in replies),
        reply_fields=fields - manner.dropped,
    )


def _count(messages: Sequence[Message]) -> int:
    return sum(len(pictures_in(message)) for message in messages)
