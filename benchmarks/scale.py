"""What a run costs when there are many rows: time to start, to resume, to report; memory; workers.

    python -m benchmarks.scale [--rows 1000000] [--finished 100000] [--report 10000]
                               [--samples 5000] [--sharded 240]

Rows share a few small pictures, so that files are read and checked but pixels do not count; those
of the shards, which the embedded judge works on, are of 256 px. "Starts" is the time from calling
the command to the first request at the endpoint. 0 leaves a part out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from agent_judge.cli.engines import local_engine
from agent_judge.cli.judging import Again, Rows, binding_of, plan_rows
from agent_judge.inputs import inputs_of
from agent_judge.rubrics.protocol import DEFAULT_CRITERIA
from agent_judge.runner import Tally, run_planned
from agent_judge.settings import Settings
from agent_judge.store import Store
from benchmarks.figures import HEAD, Figure, machine
from benchmarks.loop import Ask, endpoint, judge
from benchmarks.pairs import write_pairs

SIZE_WH = (64, 64)
SHARDED_WH = (256, 256)
PAIRS = 20
LEFT = 20
"""Rows of a finished run that are left to judge: the last ones of its manifest."""
_ONE_THREAD = {"OPENCV_FOR_THREADS_NUM": "1", "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True, kw_only=True)
class Called:
    """One call of the command."""

    seconds: float
    cpu_seconds: float
    peak_mb: float
    first_request_s: float | None = None
    """From the call to the first request at the endpoint; None where none came."""


def call(*args: str | Path, ask: Ask | None = None, one_core: bool = False) -> Called:
    """Run `agent-judge` in a process of its own, whose libraries have one thread each.

    Raises:
        RuntimeError: it failed.
    """
    if ask is not None:
        ask("first_request")  # forget earlier ones
    start, started_at = time.perf_counter(), time.time()
    peak_mb = 0.0
    with tempfile.TemporaryFile() as told:
        command = [sys.executable, "-m", "agent_judge", *map(str, args)]
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=told, env=os.environ | _ONE_THREAD
        )
        if one_core:
            os.sched_setaffinity(process.pid, {0})
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            peak_mb = max(peak_mb, _peak_mb(process.pid))
            time.sleep(0.05)
        _, status, used = ended
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            told.seek(0)
            raise RuntimeError(told.read().decode())
    first = ask("first_request") if ask is not None else None
    return Called(
        seconds=time.perf_counter() - start,
        cpu_seconds=used.ru_utime + used.ru_stime,
        peak_mb=peak_mb,
        first_request_s=None if first is None else first - started_at,
    )


def _peak_mb(pid: int) -> float:
    """Most memory that a process has held since it began (what `wait` tells begins before exec)."""
    try:
        told = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    fields = dict(line.split(":", 1) for line in told.splitlines())
    return int(fields.get("VmHWM", "0 kB").split()[0]) * 1024 / 1e6


def write_rows(folder: Path, count: int, pairs: Path) -> Path:
    """A manifest of so many rows over the pairs of another."""
    known = [json.loads(line) for line in pairs.read_text(encoding="utf-8").splitlines()]
    manifest = folder / f"rows-{count}.jsonl"
    with manifest.open("w", encoding="utf-8") as file:
        for number in range(count):
            row = {**known[number % len(known)], "id": f"row-{number:07d}", "editor": "model-a"}
            row["instruction"] = f"make mug number {number} on the left table red"
            file.write(json.dumps(row) + "\n")
    return manifest


_COPY = (
    """INSERT INTO records
    SELECT :id, criterion, round, status, reason, flags, attempts, :inputs,
    json_set(record, '$.id', :id), replies FROM records WHERE id = :first""",
    "INSERT INTO thumbnails SELECT :id, webp FROM thumbnails WHERE id = :first",
)


def finish(manifest: Path, out: Path, settings: Settings, *, left: int) -> None:
    """A run of a manifest with all but the last rows judged: one real record, copied."""
    judge(Rows(manifest=manifest, limit=1), settings, out)
    rows = Rows(manifest=manifest)
    with closing(Store.create(out, binding_of(settings))) as store:
        plan_rows(rows, settings, store, Again())
        samples = list(rows)
        with store._db.writing() as db:  # one transaction: copying is no part of what is measured
            for sample in samples[1 : len(samples) - left]:
                inputs = json.dumps(inputs_of(sample) | {"source_wh": list(SIZE_WH)})
                copy = {"id": sample.id, "inputs": inputs, "first": samples[0].id}
                for statement in _COPY:
                    db.execute(statement, copy)


def shards(manifest: Path, folder: Path) -> tuple[Called, list[Called]]:
    """One worker's call on one core, and those of two that share its rows on all cores.

    Each judges one row at a time.
    """
    args = ("run", manifest, "--judge", "measured", "--jobs", "1", "--max-unscored", "1")
    one = call(*args, "--out", folder / "one", one_core=True)
    with ThreadPoolExecutor(2) as pool:
        shares = [
            pool.submit(call, *args, "--out", folder / f"shard-{n}", "--shard", f"{n}/2")
            for n in (1, 2)
        ]
        return one, [share.result() for share in shares]


def ray_workers(manifest: Path, folder: Path) -> tuple[Called, Called]:
    """A call that judges by two Ray workers, and one that finds nothing left to judge.

    The second starts and ends a cluster of its own, as the first does.
    """
    args = ("run", manifest, "--judge", "measured", "--max-unscored", "1")
    on_ray = ("--engine", "ray", "--jobs", "2", "--out", folder / "ray")
    return call(*args, *on_ray), call(*args, *on_ray)


def memory(manifest: Path, settings: Settings, out: Path) -> list[tuple[int, float]]:
    """Resident memory of a run in MB by criteria judged, twenty times over its length."""
    rows, seen = Rows(manifest=manifest), []
    with closing(Store.create(out, binding_of(settings))) as store:
        plan_rows(rows, settings, store, Again())
        tally = Tally()
        every = len(settings.criteria) * sum(n for *_, n in store.planned_counts()) // 20

        def tell(_: object) -> None:
            if tally.judged % every == 0:
                seen.append((tally.judged, _resident_mb()))

        engine = local_engine(settings, store)
        asyncio.run(run_planned(store, engine, stop=asyncio.Event(), tally=tally, tell=tell))
    return seen


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def settings_for(ask: Ask) -> Settings:
    """Those of a run at the endpoint."""
    judge_at = {"model": "loopback", "base_url": str(ask("base_url"))}
    return Settings.model_validate({"mode": "tool", "judge": judge_at})


def figures(asked: argparse.Namespace, folder: Path) -> Iterator[Figure]:
    """Everything asked for, one part after the other."""
    pairs = write_pairs(folder / "pairs", PAIRS, SIZE_WH, boxes=False)
    with endpoint(0, SIZE_WH) as ask:
        settings = settings_for(ask)
        flags = ("--mode", "tool", "--judge", "loopback", "--base-url", str(ask("base_url")))
        if asked.rows:
            manifest = write_rows(pairs.parent, asked.rows, pairs)
            done = call("validate", "--no-images", manifest)
            yield from _call(f"validate --no-images, {asked.rows} rows", done, 60, 500)
            done = call(
                "run", manifest, "--out", folder / "limited", "--limit", "100", *flags, ask=ask
            )
            yield _start(f"run --limit 100 of {asked.rows} rows: first request after", done, 5)
        if asked.finished:
            manifest = write_rows(pairs.parent, asked.finished + LEFT, pairs)
            out = folder / "finished"
            finish(manifest, out, settings, left=LEFT)
            done = call("run", manifest, "--out", out, *flags, ask=ask)
            yield _start(f"resume, {asked.finished} rows finished: first request after", done, 10)
            done = call("run", manifest, "--out", out, *flags, ask=ask)
            yield from _call("the same with nothing left to judge: all of it", done)
        if asked.report:
            manifest = write_rows(pairs.parent, asked.report, pairs)
            out = folder / "reported"
            finish(manifest, out, settings, left=0)
            yield from _call(f"report of {asked.report} rows", call("report", out), 60, 1000)
            size = sum(f.stat().st_size for f in (out / "report").rglob("*") if f.is_file())
            yield Figure(what="its size on disk", value=size / 1e6, unit="MB", beside=200)
        if asked.samples:
            manifest = write_rows(pairs.parent, asked.samples, pairs)
            yield from _memory_figures(memory(manifest, settings, folder / "memory"))
    if asked.sharded:
        manifest = write_pairs(folder / "sharded", asked.sharded, SHARDED_WH, boxes=True)
        one, two = shards(manifest, folder)
        yield from _call(f"{asked.sharded} rows by one worker of the embedded judge", one)
        gain = one.seconds / max(share.seconds for share in two)
        yield Figure(what="two shards at once, times as fast", value=gain, unit="x", beside=1.7)
        most = max(share.cpu_seconds for share in two)
        yield Figure(what="processor time of the longer one", value=most, unit="s")
        judged, idle = ray_workers(manifest, folder)
        gain = one.seconds / (judged.seconds - idle.seconds)
        yield Figure(what="two Ray workers, once started", value=gain, unit="x", beside=1.7)
        yield Figure(
            what="start and end of their cluster, not counted", value=idle.seconds, unit="s"
        )


def _call(
    what: str, done: Called, limit_s: float | None = None, limit_mb: float | None = None
) -> Iterator[Figure]:
    yield Figure(what=what, value=done.seconds, unit="s", beside=limit_s)
    yield Figure(what="its processor time", value=done.cpu_seconds, unit="s")
    yield Figure(what="its peak memory", value=done.peak_mb, unit="MB", beside=limit_mb)


def _start(what: str, done: Called, limit_s: float) -> Figure:
    if done.first_request_s is None:
        raise RuntimeError(f"{what}: none came")
    return Figure(what=what, value=done.first_request_s, unit="s", beside=limit_s)


def _memory_figures(seen: Sequence[tuple[int, float]]) -> Iterator[Figure]:
    def up_to(share: float) -> float:
        return max(mb for count, mb in seen if count <= seen[-1][0] * share)

    most = up_to(1)
    count = seen[-1][0] // len(DEFAULT_CRITERIA)
    yield Figure(what=f"peak memory of {count} samples", value=most, unit="MB", beside=700)
    yield Figure(what="of it after the first tenth", value=most - up_to(0.1), unit="MB")
    yield Figure(what="of it in the second half", value=most - up_to(0.5), unit="MB")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the large manifest")
    parser.add_argument("--finished", type=int, default=100_000, help="rows before a resume")
    parser.add_argument("--samples", type=int, default=5_000, help="to watch memory on")
    parser.add_argument("--report", type=int, default=10_000, help="rows of a report")
    parser.add_argument("--sharded", type=int, default=240, help="rows for one worker and for two")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for line in chain(machine(), ("",), HEAD, figures(asked, Path(folder))):
            print(line, flush=True)


if __name__ == "__main__":
    main()
