"""The C library's arenas, as it tells them itself."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

ARENAS = """
import ctypes, sys, threading
from agent_judge.cli.memory import one_arena_a_core

if sys.argv[1] == "few":
    one_arena_a_core()
meet = threading.Barrier({threads})

def work():
    kept = [bytearray(5_000) for _ in range(50)]
    meet.wait()

threads = [threading.Thread(target=work) for _ in range({threads})]
[t.start() for t in threads]
[t.join() for t in threads]
libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
out = libc.fdopen(1, b"w")
libc.malloc_info(0, ctypes.c_void_p(out))
libc.fflush(ctypes.c_void_p(out))
"""


def arenas(which: str) -> int:
    threads = 4 * (os.cpu_count() or 1)
    done = subprocess.run(
        [sys.executable, "-c", ARENAS.format(threads=threads), which],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.count("<heap nr=")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="arenas are glibc's")
def test_threads_share_as_many_arenas_as_there_are_cores():
    assert arenas("many") > (os.cpu_count() or 1)
    assert arenas("few") <= (os.cpu_count() or 1)
