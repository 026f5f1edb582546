"""How requests are written for one endpoint, and what is learnt from a request that it refused.

A manner starts from the profile. Each refusal that names something that can be done without
changes it once; it is remembered for the run, so that nothing is refused twice. Whatever is given
up is flagged in the records (`dropped:PARAM`, `schema:...`, `crops_trimmed`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from agent_judge.judges.endpoint import Profile, SchemaStrength, TokenParam
from agent_judge.records import Reason

FOR_GOOD = frozenset({401, 402, 403, 404, 405})
"""Bad key, empty account, unknown model or address: no row of the run would fare better."""
EmptyContent = Literal["text", "null", "left_out"]
"""What stands as content of an assistant message that had none but tool calls."""

_PROXY_LIMIT_BYTES = 950_000  # proxies refuse bodies over 1 MB where nobody raised their default
_WEAKER: Mapping[SchemaStrength, SchemaStrength] = {"strict": "object", "object": "none"}
_NEXT_EMPTY: Mapping[EmptyContent, EmptyContent] = {"text": "null", "null": "left_out"}
_OTHER_TOKEN_PARAM: Mapping[str, TokenParam] = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}

_CONTEXT = re.compile(
    r"context[_ ](?:length|window|size)|maximum context|(?:prompt|input) is too long"
    r"|too many (?:input )?tokens|(?:input|prompt|context).{0,40}exceed.{0,60}(?:tokens|context)"
    r"|exceeds? the (?:available )?context",
    re.IGNORECASE,
)
_TOO_MANY_IMAGES = re.compile(
    r"(?:at most|too many|too much|max\w*|limit|exceed\w*|up to)\b.{0,60}\b(?:images?|media)\b"
    r"|\bimages?\b.{0,40}(?:at most|max\w*|limit|allowed|exceed)"
    r"|limit-mm-per-prompt",
    re.IGNORECASE,
)
_OF_ONE_IMAGE = re.compile(r"\d ?(?:[KM]i?B|bytes|px|pixels)\b|dimension|resolution|\bsize\b", re.I)
_TOO_LARGE = re.compile(
    r"(?:request|payload|body|entity|image|content)\b.{0,40}\btoo (?:large|big)"
    r"|exceed\w* .{0,40}\b(?:\d+ ?[KM]i?B|bytes|size limit|maximum size)|length limit exceeded"
    r"|(?:maximum|max) (?:body|request|payload|image|file)? ?size",
    re.IGNORECASE,
)
_BLOCKED = re.compile(
    r"content[_ ](?:filter|policy|management)|responsible ?ai|moderation|safety (?:system|filter)"
    r"|flagged|prohibited[_ ]content",
    re.IGNORECASE,
)
_NO_TOOLS = re.compile(
    r"enable-auto-tool-choice|tool-call-parser"
    r"|(?:does not|doesn't|do not|don't|no) support (?:for )?(?:tool|function)"
    r"|(?:tools?|tool use|tool calling|function calling)\W{1,3}(?:is|are) not (?:supp|avail|enab)"
    r"|no endpoints found that support tool",
    re.IGNORECASE,
)
_TOOLS_UNDECLARED = re.compile(r"must (?:define|include|provide) .?tools|tools= param", re.I)
_EMPTY_CONTENT = re.compile(
    r"\bcontent\b.{0,80}(?:null|none|empty|required|missing|string|at least 1|non-?whitespace)"
    r"|(?:null|none|empty|missing|required)\b.{0,60}\bcontent\b",
    re.IGNORECASE,
)
_SCHEMA = re.compile(
    r"response.?format|mime.?type|json_schema|structured output|guided|grammar", re.IGNORECASE
)


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """An error that sending the same again would not mend."""

    status: int
    message: str
    """The endpoint's own words."""
    code: str = ""
    param: str = ""

    def __str__(self) -> str:
        return f"HTTP {self.status}: {self.message}" if self.status else self.message


@dataclass(frozen=True, kw_only=True)
class Sent:
    """What was in the request that came back refused."""

    params: Collection[str]
    """Names of the body's optional parameters."""
    size_bytes: int
    images: int
    tool_pictures: int
    """User messages with pictures of tools."""
    empty_contents: bool
    """Whether an assistant message without content was in it."""
    reply_fields: Collection[str] = ()
    """Fields of replayed assistant messages that no standard knows."""


@dataclass(frozen=True, kw_only=True)
class Manner:
    """How requests are written from here on."""

    schema: SchemaStrength
    token_param: TokenParam
    max_images: int | None
    max_body_bytes: int
    dropped: frozenset[str] = field(default_factory=frozenset)
    """Parameters and message fields that the endpoint refused."""
    keep_looks: int | None = None
    """How many of the last tool turns keep their pictures; None: all."""
    empty_content: EmptyContent = "text"
    declare_tools: bool = False
    """Tools called earlier are declared also where none may be called any more."""
    shrunk: bool = False
    """Whether a body was refused for its size."""

    @classmethod
    def of(cls, profile: Profile) -> Manner:
        """The manner in which a run starts."""
        return cls(
            schema=profile.schema,
            token_param=profile.token_param,
            max_images=profile.max_images,
            max_body_bytes=round(profile.max_body_mb * 1e6),
        )

    @property
    def flags(self) -> frozenset[str]:
        """For the record: what was given up."""
        return frozenset(f"dropped:{name}" for name in self.dropped)


def adapt(manner: Manner, refusal: Refusal, sent: Sent) -> Manner | None:
    """The manner that heeds a refusal; None where nothing can be done without.

    Args:
        manner: the one in which the refused request was written.
        refusal: what came back.
        sent: what the request held.
    """
    text = f"{refusal.code} {refusal.message}"
    if _BLOCKED.search(text):
        return None
    if (most := _most_images(text, sent)) is not None:
        return replace(manner, max_images=most)
    if _TOOLS_UNDECLARED.search(text):
        return None if manner.declare_tools else replace(manner, declare_tools=True)
    if _CONTEXT.search(text):
        return _shorter(manner, sent)
    if refusal.status == 413 or _TOO_LARGE.search(text) or _lost_on_the_way(refusal, sent):
        return _smaller(manner, sent)
    return (
        _without_param(manner, refusal, sent)
        or _other_content(manner, text, sent)
        or _without_field(manner, refusal, sent)
    )


def lacks_tools(refusal: Refusal) -> bool:
    """Whether the endpoint says that it cannot call tools."""
    return bool(_NO_TOOLS.search(refusal.message))


def reason_of(refusal: Refusal) -> Reason:
    """The fate of a criterion whose request was refused for good."""
    text = f"{refusal.code} {refusal.message}"
    if _BLOCKED.search(text):
        return "blocked"
    if _CONTEXT.search(text):
        return "context_limit"
    return "endpoint_rejected"


def is_final(status: int, message: str) -> bool:
    """Whether an error that looks passing (a 5xx) says itself that it will stay.

    Example:
        >>> is_final(500, "too many images in the message, max allowed is 16")
        True
        >>> is_final(500, "internal error")
        False
    """
    known = (_CONTEXT, _NO_TOOLS, _TOO_MANY_IMAGES)
    return status >= 500 and any(pattern.search(message) for pattern in known)


def _most_images(text: str, sent: Sent) -> int | None:
    """The limit in an error about the number of pictures: the largest number below what was sent.

    Endpoints word it in a dozen ways, some of them naming both numbers.
    """
    if sent.images < 2 or not _TOO_MANY_IMAGES.search(text) or _OF_ONE_IMAGE.search(text):
        return None
    numbers = [int(n) for n in re.findall(r"(?<![\w.])\d{1,4}(?![\w.]*\w)", text)]
    return max((n for n in numbers if 0 < n < sent.images), default=sent.images // 2)


def _lost_on_the_way(refusal: Refusal, sent: Sent) -> bool:
    """Some gateways answer 404 to a body over their limit."""
    return (
        refusal.status == 404
        and sent.size_bytes > _PROXY_LIMIT_BYTES
        and "model" not in refusal.message.casefold()
    )


def _smaller(manner: Manner, sent: Sent) -> Manner | None:
    if manner.shrunk and sent.size_bytes <= manner.max_body_bytes:
        return None  # smaller pictures were tried
    limit = min(sent.size_bytes // 2, _PROXY_LIMIT_BYTES)
    return replace(manner, max_body_bytes=limit, shrunk=True)


def _shorter(manner: Manner, sent: Sent) -> Manner | None:
    if sent.tool_pictures < 2:
        return None
    return replace(manner, keep_looks=1)


def _without_param(manner: Manner, refusal: Refusal, sent: Sent) -> Manner | None:
    name = next((p for p in sent.params if _names(refusal, p)), None)
    if name is None and "response_format" in sent.params and _SCHEMA.search(refusal.message):
        name = "response_format"
    if name is None:
        return None
    if name == "response_format":
        return replace(manner, schema=_WEAKER[manner.schema])
    if name in _OTHER_TOKEN_PARAM and not manner.dropped & set(_OTHER_TOKEN_PARAM):
        other = _OTHER_TOKEN_PARAM[name]
        return replace(manner, token_param=other, dropped=manner.dropped | {name})
    return replace(manner, dropped=manner.dropped | {name})


def _names(refusal: Refusal, param: str) -> bool:
    """Whether the error is about this parameter, by its `param` or in its words."""
    if refusal.param:
        last = re.split(r"[.\[\]]+", refusal.param.strip("]"))
        return param in (refusal.param, last[0], last[-1])
    # "use max_completion_tokens instead" names the remedy last
    first = re.search(r"\b(?:max_completion_tokens|max_tokens)\b", refusal.message)
    if first and param in _OTHER_TOKEN_PARAM:
        return first.group() == param
    return re.search(rf"\b{re.escape(param)}\b", refusal.message) is not None


def _other_content(manner: Manner, text: str, sent: Sent) -> Manner | None:
    if not sent.empty_contents or not _EMPTY_CONTENT.search(text):
        return None
    following = _NEXT_EMPTY.get(manner.empty_content)
    return replace(manner, empty_content=following) if following else None


def _without_field(manner: Manner, refusal: Refusal, sent: Sent) -> Manner | None:
    about = f"{refusal.param} {refusal.message}"
    named = {f for f in sent.reply_fields if re.search(rf"\b{re.escape(f)}\b", about)}
    return replace(manner, dropped=manner.dropped | named) if named else None
