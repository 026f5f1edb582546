"""Ctrl-C and SIGTERM while a run judges."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rich.console import Console

INTERRUPTED = 130
"""The exit code."""
_LEAVE_S = 4.5
"""Seconds after which an interrupted run leaves, whatever its threads still compute."""
_STDOUT, _STDERR = 1, 2
_SHOW_CURSOR = b"\x1b[?25h\n"


@contextmanager
def stopped_by_signals(stop: asyncio.Event, console: Console) -> Iterator[None]:
    """The first signal sets `stop`, so that samples in flight may end; a second leaves at once.

    Records are committed one by one: leaving loses none. The handlers are Python's and not the
    loop's, which would wait while the loop goes through the rows of a large run.
    """
    loop = asyncio.get_running_loop()
    asked = False

    def ask(*_: object) -> None:
        nonlocal asked
        if asked:
            _leave(console)
        asked = True
        loop.call_soon_threadsafe(stop.set)
        _say("stopping: samples in flight may end; Ctrl-C again leaves at once")
        late = threading.Timer(_LEAVE_S, _leave_late, (console,))
        late.daemon = True
        late.start()

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave_late(console: Console) -> None:
    _say("interrupted: run the same command again to go on")
    _leave(console)


def _leave(console: Console) -> None:
    if console.is_terminal:  # the progress bar hides it
        with suppress(OSError):
            os.write(_STDOUT, _SHOW_CURSOR)
    os._exit(INTERRUPTED)


def _say(line: str) -> None:
    """Past Python's buffers: a handler may have broken into them."""
    with suppress(OSError):
        os.write(_STDERR, f"{line}\n".encode())
