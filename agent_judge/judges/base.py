"""What a judge is: something that takes a conversation and gives the next assistant message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from agent_judge.album import Album
from agent_judge.judges.coordinates import Convention

Message = dict[str, Any]
"""One message in the form of OpenAI Chat Completions. Pictures are `image_url` parts whose URL is
`picture:KEY`, a reference into the album; a judge that sends them over a wire puts bytes there."""
NEEDS_LMM = "needs_lmm"
"""How the embedded judge begins its refusal when pixels cannot decide. Its message also has a field
of this name, set to true, which no model can write: what a model says never becomes this reason."""


@dataclass(kw_only=True)
class Ledger:
    """What one criterion has cost so far; it survives a judge that fails."""

    attempts: int = 0
    """Requests sent, all retries, those behind replies out of the cache included."""
    replayed: int = 0
    """Of `attempts`, those behind replies out of the cache: paid for in an earlier invocation."""
    tokens_in: int | None = 0
    """None once a reply came without usage."""
    tokens_out: int | None = 0
    usd: float | None = 0.0
    """None when the price or the usage of a reply is unknown."""
    models: list[str] = field(default_factory=list)
    """Model ids that the endpoint returned, in order of first sight."""
    flags: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    def count(self, tokens: tuple[int, int] | None, usd: float | None) -> None:
        """Add one reply's usage; None for what the endpoint did not say."""
        if tokens is None or self.tokens_in is None or self.tokens_out is None:
            self.tokens_in = self.tokens_out = None
        else:
            self.tokens_in += tokens[0]
            self.tokens_out += tokens[1]
        self.usd = None if usd is None or self.usd is None else self.usd + usd


@dataclass(frozen=True, kw_only=True)
class Request:
    """One turn asked of a judge."""

    messages: Sequence[Message]
    """System, user with the pictures, then every turn so far, verbatim."""
    tools: Sequence[Mapping[str, Any]]
    """Tool schemas on offer in this turn (OpenAI `tools` entries); empty for none."""
    rubric_version: str
    """Of the protocol that the question belongs to."""
    answer_schema: Mapping[str, Any]
    """JSON schema of the final answer."""
    album: Album
    """Where `picture:KEY` leads."""
    ledger: Ledger
    """The judge adds what it spends."""
    vote: int = 0
    round: int = 0
    """Each rejudge or retry by the user opens a new round; part of the cache key with `vote`."""
    asker: str = ""
    """Row and criterion that it is asked for. Another's reply may serve, but it cost that one."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the judge said."""

    message: Message
    """The assistant message as it came, unknown fields included."""
    finish_reason: str | None = None


class ReplyCache(Protocol):
    """Where replies are kept, so that nothing is paid for twice."""

    async def get(self, key: str) -> dict[str, Any] | None:
        """The reply under a request's key, or None."""

    def put(self, key: str, reply: Mapping[str, Any]) -> None:
        """Keep a reply that came under its request's key."""


class Judge(Protocol):
    """A judge, remote or embedded."""

    @property
    def name(self) -> str:
        """As asked for by the user."""

    @property
    def endpoint(self) -> str:
        """`host[:port]`, empty when embedded."""

    @property
    def convention(self) -> Convention:
        """How this judge writes boxes."""

    async def reply(self, request: Request) -> Reply:
        """The next assistant message.

        Raises:
            JudgeError: none could be had; the reason is the fate of the criterion.
            RunStopped: the endpoint fails for good.
        """

    async def close(self) -> None:
        """Let go of connections."""
