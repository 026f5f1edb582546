"""`agent-judge annotate` as a process of its own."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def running(manifest: Path, *args: object) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """The address of a running annotate, and its process, which ends as by Ctrl-C."""
    command = [sys.executable, "-m", "agent_judge", "annotate", str(manifest), *map(str, args)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        url = next(found for line in lines if (found := re.search(r"http://\S+", line))).group()
        try:
            yield url, process
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                assert process.wait(20) == 0
        finally:
            process.kill()
