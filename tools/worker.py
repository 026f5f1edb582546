"""One thread that owns a network and serves every loop that wants it.

Networks are loaded once and are not safe to run twice at a time. The worker takes the calls of
all loops in turn, runs those that wait together as a batch, and lets callers give up.
"""

from __future__ import annotations

import atexit
import threading
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

_LAST_BATCH_S = 10.0

Item = TypeVar("Item")
Result = TypeVar("Result")


class Worker(Generic[Item, Result]):
    """Runs items one batch at a time on a thread of its own, started at the first call.

    Args:
        run: Results for a batch, in its order. Only ever called by this worker's thread.
        key: Items of equal key may share a batch.
        max_batch: Most items in a batch.
        max_waiting: Most items in the queue; beyond it `submit` waits.

    A batch that runs out of memory is run again item by item. Any other error, and a
    MemoryError of a single item, is raised to the callers.
    """

    def __init__(
        self,
        run: Callable[[Sequence[Item]], Sequence[Result]],
        *,
        key: Callable[[Item], Hashable],
        max_batch: int = 1,
        max_waiting: int = 64,
    ) -> None:
        self._run = run
        self._key = key
        self._max_batch = max_batch
        self._max_waiting = max_waiting
        self._queue: deque[tuple[Hashable, Item, Future[Result]]] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    def __call__(self, item: Item) -> Result:
        """The result for one item; waits for it."""
        return self.submit(item).result()

    def submit(self, item: Item) -> Future[Result]:
        """A future for one item. Cancelled before its turn, it is never run."""
        future: Future[Result] = Future()
        waiting = self._key(item), item, future  # here, where a failing key is the caller's alone
        with self._changed:
            self._changed.wait_for(lambda: len(self._queue) < self._max_waiting or self._closed)
            if self._closed:
                future.cancel()
                return future
            self._queue.append(waiting)
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="network", daemon=True)
                self._thread.start()
                # A thread that is inside a network while Python shuts down aborts the process.
                atexit.register(self.close)
            self._changed.notify_all()
        return future

    def close(self) -> None:
        """Give up what waits and let the running batch come to its end."""
        with self._changed:
            self._closed = True
            for _, _, future in self._queue:
                future.cancel()
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(_LAST_BATCH_S)

    def _serve(self) -> None:
        while not self._closed:
            batch = [pair for pair in self._next_batch() if pair[1].set_running_or_notify_cancel()]
            if batch:
                self._finish(batch)

    def _next_batch(self) -> list[tuple[Item, Future[Result]]]:
        """The oldest item and the waiting ones of its key, taken from the queue."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._closed)
            if self._closed:
                return []
            first = self._queue[0][0]
            taken: list[tuple[Item, Future[Result]]] = []
            rest: deque[tuple[Hashable, Item, Future[Result]]] = deque()
            for key, item, future in self._queue:
                if key == first and len(taken) < self._max_batch:
                    taken.append((item, future))
                else:
                    rest.append((key, item, future))
            self._queue = rest
            self._changed.notify_all()
        return taken

    def _finish(self, batch: Sequence[tuple[Item, Future[Result]]]) -> None:
        items, futures = zip(*batch, strict=True)
        try:
            results = list(zip(futures, self._run(items), strict=True))
        except MemoryError as err:
            if len(batch) == 1:
                futures[0].set_exception(err)
                return
            for pair in batch:
                self._finish([pair])
        except BaseException as err:  # whatever it is, it belongs to the callers
            for future in futures:
                future.set_exception(err)
        else:
            for future, result in results:
                future.set_result(result)
