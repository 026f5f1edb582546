"""Ray's processes: those below a driver, and a cluster that was there before."""

import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.runs import wait_for

SLOWEST_S = 240
"""Of a step on a busy machine."""


def _processes() -> Iterator[tuple[int, int, str]]:
    """(pid, parent, title) of all that run."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            title = (folder / "cmdline").read_text(encoding="utf-8", errors="replace")
            stat = (folder / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        yield int(folder.name), int(stat.rpartition(")")[2].split()[1]), title


def workers_below(head: int) -> list[int]:
    """Workers that descend from a process: the driver's, where the cluster is its own."""
    known = list(_processes())
    parents = {pid: parent for pid, parent, _ in known}

    def is_below(pid: int) -> bool:
        while pid in parents and pid != head:
            pid = parents[pid]
        return pid == head

    return [pid for pid, _, title in known if title.startswith("ray::Worker") and is_below(pid)]


def kill_a_worker(head: int) -> None:
    """At once, as the kernel does where memory runs out."""
    os.kill(workers_below(head)[0], signal.SIGKILL)


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[dict[str, str], int]]:
    """A cluster of two cores that was there before: the environment to reach it by, its process.

    Args:
        folder: for its files; a short path, because sockets lie in it.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    auth = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    options = f"--port={address.rpartition(':')[2]} --num-cpus=2 --object-store-memory=100000000"
    ray = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block"]
    quiet = ["--include-dashboard=false", "--disable-usage-stats", f"--temp-dir={folder}"]
    with (folder / "told").open("wb") as told:
        head = subprocess.Popen(
            [*ray, *options.split(), *quiet], env=os.environ | auth, stdout=told, stderr=told
        )
        try:
            wait_for(lambda: b"Ray runtime started" in (folder / "told").read_bytes(), SLOWEST_S)
            yield {**auth, "RAY_ADDRESS": address}, head.pid
        finally:
            head.terminate()
            head.wait()
