"""Standard streams as a shell may hand them over: closed, full, without a reader, of any locale."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from typing import TypeGuard

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def ready_streams() -> None:
    """Make the standard streams such that none ends a run.

    Closed ones (`>&-`) lead to nowhere: a file opened later would get their number, and with it
    whatever a library prints. A letter that the locale lacks is written as its number.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it gets the lowest free number: this one
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def is_full(err: Exception) -> TypeGuard[OSError]:
    """Whether an error says that there is no room for the output."""
    return isinstance(err, OSError) and err.errno in _FULL


def give_up_stdout() -> None:
    """Lead standard output to nowhere, so that Python's last flush cannot fail again."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
