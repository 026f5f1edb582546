"""How many requests may be in flight at one endpoint: as many as it bears.

The limit is the run's own until the endpoint says "too many requests". Then it is half of what was
in flight, and it grows again by one for every round of requests that went well.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Throttle:
    """The gate of one endpoint."""

    def __init__(self, most: float = math.inf) -> None:
        """Open for `most` requests at once."""
        self._most = most
        self.limit = most
        """Requests at once."""
        self._in_flight = 0
        self._free = asyncio.Condition()
        self._cut_at = -math.inf
        self._closed_until = -math.inf

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[float]:
        """Wait for a place; gives the time at which it was taken."""
        loop = asyncio.get_running_loop()
        while (wait_s := self._closed_until - loop.time()) > 0:
            await asyncio.sleep(wait_s + random.uniform(0, min(1.0, wait_s)))
        async with self._free:
            await self._free.wait_for(lambda: self._in_flight < self.limit)
            self._in_flight += 1
        try:
            yield loop.time()
        finally:
            self._in_flight -= 1
            async with self._free:
                self._free.notify_all()

    def slow_down(self, taken_at: float, wait_s: float | None) -> None:
        """The endpoint refused a request for being one too many.

        Args:
            taken_at: when the request took its place: of requests that were in flight together,
                only the first counts.
            wait_s: how long the endpoint wants no request at all, if it said so.
        """
        now = asyncio.get_running_loop().time()
        if wait_s is not None:
            self._closed_until = max(self._closed_until, now + wait_s)
        if taken_at > self._cut_at:
            self._cut_at = now
            self.limit = max(1, self._in_flight // 2)

    def went_well(self) -> None:
        """A request was answered."""
        self.limit = min(self._most, self.limit + 1 / self.limit)
