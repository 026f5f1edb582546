"""Ctrl-C and SIGTERM: while a run judges, and at any other time."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # every command pays for what is imported here
    import asyncio

    from rich.console import Console

INTERRUPTED = 130
"""The exit code."""
_LEAVE_S = 3.5
"""Seconds after which an interrupted command leaves, whatever its threads still compute."""
_STDOUT, _STDERR = 1, 2
_SHOW_CURSOR = b"\x1b[?25h\n"


class Interrupts:
    """What Ctrl-C does outside a run: the command ends, and never as a fault of the program.

    Libraries turn a `KeyboardInterrupt` in the middle of their imports into errors of their own.
    """

    def __init__(self) -> None:
        """Take over Ctrl-C; from a thread that may not, nothing changes."""
        self.came = False
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._interrupt)

    def _interrupt(self, *_: object) -> None:
        if self.came:
            os._exit(INTERRUPTED)
        self.came = True
        _later(lambda: os._exit(INTERRUPTED))
        raise KeyboardInterrupt


@contextmanager
def stopped_by_signals(stop: asyncio.Event, console: Console) -> Iterator[None]:
    """The first signal sets `stop`, so that samples in flight may end; a second leaves at once.

    Records are committed one by one: leaving loses none. The handlers are Python's and not the
    loop's, which would wait while the loop goes through the rows of a large run.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    asked = False

    def ask(*_: object) -> None:
        nonlocal asked
        if asked:
            _leave(console)
        asked = True
        loop.call_soon_threadsafe(stop.set)
        _say("stopping: samples in flight may end; Ctrl-C again leaves at once")
        _later(lambda: _leave_late(console))

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _later(leave: Callable[[], None]) -> None:
    late = threading.Timer(_LEAVE_S, leave)
    late.daemon = True
    late.start()


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
