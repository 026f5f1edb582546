"""Hard caps on what a run spends: a request is begun only where the caps hold it.

Going by the dearest request so far: while none has come back, one is under way at a time. What an
endpoint does not report cannot be capped, so a capped run ends at the first reply without usage.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

from agent_judge.errors import JudgeError


@dataclass(kw_only=True)
class Spent:
    """What one request turned out to cost; the caller fills it in."""

    tokens: int | None = 0
    """In and out; None where the endpoint did not say."""
    usd: float | None = 0.0
    """None where usage or price is unknown."""


class Purse(Protocol):
    """Who allows requests that cost something: a budget, or the way to one."""

    def request(self) -> AbstractAsyncContextManager[Spent]:
        """Room for one request; what it cost is read from the `Spent` at the end.

        Raises:
            JudgeError: reason `budget`: the caps hold no further request.
        """


@dataclass(kw_only=True)
class Budget:
    """The caps of one run and what is left of them."""

    max_usd: float | None = None
    max_tokens: int | None = None
    _usd: float = field(default=0.0, init=False)
    _tokens: int = field(default=0, init=False)
    _dearest_usd: float = field(default=0.0, init=False)
    _most_tokens: int = field(default=0, init=False)
    _under_way: int = field(default=0, init=False)
    _replies: int = field(default=0, init=False)
    _blind: str | None = field(default=None, init=False)
    """What the endpoint does not report, though it is capped."""
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition, init=False)

    @asynccontextmanager
    async def request(self) -> AsyncIterator[Spent]:
        """Room for one request; what it cost is read from the yielded `Spent` at the end.

        Raises:
            JudgeError: reason `budget`: the caps hold no further request.
        """
        if self.max_usd is None and self.max_tokens is None:
            yield Spent()
            return
        async with self._changed:
            await self._changed.wait_for(lambda: self._fits() or not self._under_way)
            if not self._fits():
                raise JudgeError("budget", self._told())
            self._under_way += 1
        spent = Spent()
        try:
            yield spent
        finally:
            async with self._changed:
                self._under_way -= 1
                self._enter(spent)
                self._changed.notify_all()

    def dearest(self) -> Spent:
        """What a request may have cost that nobody can tell of any more."""
        return Spent(tokens=self._most_tokens, usd=self._dearest_usd)

    def _fits(self) -> bool:
        if self._blind or (self._under_way and not self._replies):
            return False
        n = self._under_way + 1
        return _holds(self.max_usd, self._usd, n * self._dearest_usd) and _holds(
            self.max_tokens, self._tokens, n * self._most_tokens
        )

    def _enter(self, spent: Spent) -> None:
        if self.max_usd is not None and spent.usd is None:
            self._blind = "cost"
        if self.max_tokens is not None and spent.tokens is None:
            self._blind = "tokens"
        self._replies += bool(spent.tokens or spent.usd)
        self._usd += spent.usd or 0.0
        self._tokens += spent.tokens or 0
        self._dearest_usd = max(self._dearest_usd, spent.usd or 0.0)
        self._most_tokens = max(self._most_tokens, spent.tokens or 0)

    def _told(self) -> str:
        if self._blind:
            return f"the endpoint does not report {self._blind}, so the cap cannot be kept"
        caps = []
        if self.max_usd is not None:
            caps.append(f"{self._usd:.4f} of {self.max_usd:g} USD")
        if self.max_tokens is not None:
            caps.append(f"{self._tokens} of {self.max_tokens} tokens")
        return f"spent {' and '.join(caps)}: the next request may not fit"


def _holds(cap: float | None, spent: float, more: float) -> bool:
    """Whether a cap that is not used up has room for `more`."""
    return cap is None or (spent < cap and spent + more <= cap)
