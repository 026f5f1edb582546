"""A chat request as the loopback endpoint got it, its pictures decoded from their data URLs."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class ShownPicture:
    """A picture of a request."""

    label: str
    """The text part that stands before it; empty when none does."""
    mime: str
    """As declared in the data URL."""
    data: bytes
    role: str
    """Of the message that carries it."""
    detail: str | None = None


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """One `POST /v1/chat/completions`."""

    number: int
    """From 0, in order of arrival."""
    body: Mapping[str, Any]
    """The request's JSON."""
    headers: Mapping[str, str]
    """Names in lower case."""
    size_bytes: int
    """Of the body on the wire."""
    digest: str = field(default="", repr=False)
    """sha256 of the body: tells whether the very same body came twice."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation, oldest first."""
        return list(self.body.get("messages", []))

    @property
    def tools(self) -> list[dict[str, Any]]:
        """Tools on offer; empty for none."""
        return list(self.body.get("tools") or [])

    @property
    def tool_names(self) -> list[str]:
        """Their names."""
        return [tool["function"]["name"] for tool in self.tools]

    @property
    def response_format(self) -> Mapping[str, Any] | None:
        """As asked for."""
        return self.body.get("response_format")

    @property
    def replies(self) -> list[dict[str, Any]]:
        """The assistant messages so far: how many turns this conversation has had."""
        return [m for m in self.messages if m.get("role") == "assistant"]

    @property
    def text(self) -> str:
        """All text of the conversation, tool messages included."""
        return "\n".join(text for message in self.messages for text in _texts(message))

    @property
    def pictures(self) -> list[ShownPicture]:
        """Every picture, in order.

        Raises:
            ValueError: a picture that is no base64 data URL.
        """
        return [picture for message in self.messages for picture in _pictures(message)]


def _texts(message: Mapping[str, Any]) -> list[str]:
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    return [part["text"] for part in parts if part.get("type") == "text"]


def _pictures(message: Mapping[str, Any]) -> list[ShownPicture]:
    content = message.get("content")
    found, label = [], ""
    for part in content if isinstance(content, list) else []:
        if part.get("type") == "image_url":
            mime, data = decode_data_url(part["image_url"]["url"])
            found.append(
                ShownPicture(
                    label=label,
                    mime=mime,
                    data=data,
                    role=str(message.get("role")),
                    detail=part["image_url"].get("detail"),
                )
            )
        label = part.get("text", "")
    return found


def decode_data_url(url: str) -> tuple[str, bytes]:
    """Declared type and bytes of a base64 data URL.

    Raises:
        ValueError: it is none.
    """
    head, comma, data = url.partition(",")
    if not comma or not head.startswith("data:") or not head.endswith(";base64"):
        raise ValueError(f"no base64 data URL: {url[:60]!r}")
    try:
        return head[len("data:") : -len(";base64")], base64.b64decode(data, validate=True)
    except binascii.Error as err:
        raise ValueError(f"broken base64 in a data URL: {err}") from err
