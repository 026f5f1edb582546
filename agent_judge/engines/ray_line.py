"""What a Ray worker and its driver say to each other about one sample in work.

A worker keeps nothing: records, evidence and paid replies go to the driver as they come, which
alone writes the run folder. Two things it asks: whether a request was paid for before, and whether
the run's caps hold one more.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeAlias

from agent_judge.errors import AgentJudgeError, JudgeError
from agent_judge.judges.budget import Spent
from agent_judge.settle import Judged


@dataclass(frozen=True)
class Picture:
    """An evidence picture to be kept."""

    sha256: str
    png: bytes


@dataclass(frozen=True)
class PaidReply:
    """A reply to be kept, under its request's key."""

    key: str
    reply: Mapping[str, Any]


@dataclass(frozen=True)
class WantedReply:
    """Answered with the reply that was kept under this key, or None."""

    number: int
    key: str


@dataclass(frozen=True)
class Turn:
    """Answered with None when the caps hold one more request, else with why they do not."""

    number: int


@dataclass(frozen=True)
class Paid:
    """The request that a turn was for has come to its end."""

    number: int
    spent: Spent


Said: TypeAlias = Judged | AgentJudgeError | Picture | PaidReply | WantedReply | Turn | Paid
"""What comes from a worker; an error is what ended the sample, and ends the run."""


class Line:
    """The worker's end, one for each sample in work; safe to call from any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._said: asyncio.Queue[Said | None] = asyncio.Queue()
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._numbers = itertools.count()

    def tell(self, said: Said | None) -> None:
        """Send something; None hangs up."""
        self._loop.call_soon_threadsafe(self._said.put_nowait, said)

    async def said(self) -> AsyncIterator[Said]:
        """Everything that was told, in its order, until someone hangs up."""
        while (said := await self._said.get()) is not None:
            yield said

    def answer(self, number: int, answer: Any) -> None:  # noqa: ANN401 - as the question has it
        """What the driver answers; a question that was given up hears nothing."""
        if number in self._asked:
            self._asked[number].set_result(answer)

    async def wanted_reply(self, key: str) -> dict[str, Any] | None:
        """The reply that the run has kept under a key."""
        number = next(self._numbers)
        reply: dict[str, Any] | None = await self._ask(WantedReply(number, key))
        return reply

    @asynccontextmanager
    async def request(self) -> AsyncIterator[Spent]:
        """As `Budget.request`."""
        number = next(self._numbers)
        refusal = await self._ask(Turn(number))
        if refusal is not None:
            raise JudgeError("budget", refusal)
        spent = Spent()
        try:
            yield spent
        finally:
            self.tell(Paid(number, spent))

    async def _ask(self, question: WantedReply | Turn) -> Any:  # noqa: ANN401 - as the question has it
        answer = self._asked[question.number] = self._loop.create_future()
        self.tell(question)
        try:
            return await answer
        finally:
            del self._asked[question.number]


LINE: ContextVar[Line] = ContextVar("line")
"""Of the sample in work: the judge is one for all samples of a worker."""


class FarReplies:
    """The run's `ReplyCache`, as a worker reaches it."""

    async def get(self, key: str) -> dict[str, Any] | None:
        """The reply under a request's key, or None."""
        return await LINE.get().wanted_reply(key)

    def put(self, key: str, reply: Mapping[str, Any]) -> None:
        """Keep a reply under its request's key."""
        LINE.get().tell(PaidReply(key, reply))


class FarBlobs:
    """The run's `BlobSink`, as a worker reaches it."""

    def put_blob(self, sha256: str, data: bytes) -> None:
        """Keep a picture."""
        LINE.get().tell(Picture(sha256, data))


class FarPurse:
    """The run's `Purse`, as a worker reaches it."""

    @asynccontextmanager
    async def request(self) -> AsyncIterator[Spent]:
        """Room for one request."""
        async with LINE.get().request() as spent:
            yield spent
