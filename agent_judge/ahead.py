"""Items that are made ready before they are asked for, a few at a time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Generic, TypeVar

_Item = TypeVar("_Item")
_Ready = TypeVar("_Ready")


class Ahead(Generic[_Item, _Ready]):
    """A queue that prepares its next items while those taken are worked on.

    Example:
        >>> async def double(number: int) -> int:
        ...     return 2 * number
        >>> async def first_two() -> list[int | None]:
        ...     ahead = Ahead([1, 2], double, most=1)
        ...     return [await ahead.take(), await ahead.take(), await ahead.take()]
        >>> asyncio.run(first_two())
        [2, 4, None]
    """

    def __init__(
        self,
        items: Iterable[_Item],
        prepare: Callable[[_Item], Coroutine[Any, Any, _Ready]],
        *,
        most: int,
    ) -> None:
        """Set up; nothing is prepared before the first is asked for.

        Args:
            items: taken one by one, in their order.
            prepare: makes one ready.
            most: how many wait ready, or are being prepared, beyond those taken; 1 or more.
        """
        self._items = iter(items)
        self._prepare = prepare
        self._most = most
        self._waiting: deque[asyncio.Task[_Ready]] = deque()

    async def take(self) -> _Ready | None:
        """The next item, prepared; None when there is none. What `prepare` raises comes out."""
        self._fill()
        if not self._waiting:
            return None
        taken = self._waiting.popleft()
        self._fill()
        return await taken

    def drop(self) -> None:
        """Let go of what nobody took."""
        while self._waiting:
            self._waiting.popleft().cancel()

    def _fill(self) -> None:
        while len(self._waiting) < self._most:
            try:
                item = next(self._items)
            except StopIteration:
                return
            self._waiting.append(asyncio.create_task(self._prepare(item)))
