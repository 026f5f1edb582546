"""Ctrl-C outside a run ends the command as such, whatever library it broke into."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys, threading, time, types
from agent_judge.cli import main

def verb():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)
    except KeyboardInterrupt:
        {then}

sys.modules["agent_judge.cli.broken"] = types.SimpleNamespace(verb=verb)
main.VERBS["broken"] = main.Verb("broken", "verb", "")
main.main(["broken"])
"""


def run(then: str) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(then=then)
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    "then",
    [
        "raise",
        "raise ValueError('no class') from None",  # as pydantic does in the middle of an import
        "os.kill(os.getpid(), signal.SIGINT)",  # a second one leaves at once
    ],
)
def test_ctrl_c_is_never_a_fault_of_the_program(then):
    done = run(then)
    assert done.returncode == 130
    assert "fault" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_command_that_does_not_end_leaves_by_itself():
    done = run("threading.Thread(target=time.sleep, args=(600,)).start()")
    assert done.returncode == 130
