"""Memory of a long run: what is freed is used again."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress

_M_ARENA_MAX = -8
"""Of mallopt(3), in glibc's malloc.h."""


def one_arena_a_core() -> None:
    """Let threads allocate from as many arenas as there are cores, where the C library has arenas.

    glibc makes eight a core, and what one thread frees serves only the threads of its arena: of
    pictures that go from thread to thread a part stays behind in each. To be called before threads
    are started.
    """
    with suppress(OSError, TypeError, AttributeError):  # Windows and macOS have no mallopt
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, max(1, os.cpu_count() or 1))
