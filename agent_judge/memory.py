"""Memory of a long run: what was freed is used again, or goes back to the system."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress

_M_ARENA_MAX = -8
"""Of mallopt(3), in glibc's malloc.h."""


def one_arena_a_core() -> None:
    """Let threads allocate from as many arenas as there are cores, where the C library has arenas.

    glibc makes eight a core, and what one thread frees serves only the threads of its arena. To be
    called before threads are started.
    """
    with suppress(OSError, TypeError, AttributeError):  # Windows, macOS, musl: no mallopt
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, os.cpu_count() or 1)


def give_back() -> None:
    """Give freed memory back to the system, where the C library would keep it.

    glibc keeps what lies between blocks that are still in use, in every thread's arena: pictures go
    from thread to thread, so a run's memory would creep up though nothing is held.
    """
    with suppress(OSError, TypeError, AttributeError):  # Windows, macOS, musl: no malloc_trim
        ctypes.CDLL(None).malloc_trim(0)
