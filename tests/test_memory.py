"""Freed memory as the system counts it, and the C library's arenas as it tells them itself."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

HOLES = """
import resource
from pathlib import Path
from agent_judge.memory import give_back

def resident_mb():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6

blocks = [bytearray(2_000) for _ in range(30_000)]
blocks = blocks[::100]
before = resident_mb()
give_back()
print(before - resident_mb())
"""


ARENAS = """
import ctypes, threading
from agent_judge.memory import one_arena_a_core

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
out = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, out)
libc.fflush(out)
"""


def printed_by(program: str) -> str:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="malloc_trim is glibc's")
def test_what_lies_free_between_blocks_in_use_goes_back_to_the_system():
    assert float(printed_by(HOLES)) > 40  # of 60 MB


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="arenas are glibc's")
def test_threads_share_as_many_arenas_as_there_are_cores():
    cores = os.cpu_count() or 1
    with_few = ARENAS.format(threads=4 * cores)
    with_many = with_few.replace("\none_arena_a_core()", "")
    assert (
        printed_by(with_few).count("<heap nr=") <= cores < printed_by(with_many).count("<heap nr=")
    )
