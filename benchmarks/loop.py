"""How near the judge's loop comes to the rate that its endpoint allows, and where the time goes.

    python -m benchmarks.loop [--in-flight 4 8 32] [--samples-each 4] [--latency-s 0.3]

A loopback endpoint in its own process answers each request after a fixed time; every criterion is
zoom_in, zoom_in, verdict. The ideal is that time alone: `in flight / (3 * latency)` criteria a
second. The run is a real one: pictures from files, cross-checks, records and evidence on disk.

"Pixels" are decoding, encoding, cropping, comparing and hashing pictures; the overhead is the
processor time of the judging process apart from them, by turn (a request and what follows it). What
of it the libraries take that the loop is built on is counted by the steps of their coroutines.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import importlib
import inspect
import math
import multiprocessing
import resource
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest import mock

import cv2

from agent_judge.cli.engines import local_engine
from agent_judge.cli.judging import Again, Rows, binding_of, plan_rows
from agent_judge.runner import Tally, run_planned
from agent_judge.settings import Settings
from agent_judge.store import Store
from agent_judge.testing import Answer, ChatRequest, LoopbackEndpoint, calls, criterion_of, verdict
from benchmarks.pairs import edit_box, write_pairs

TURNS = 3
"""Requests a criterion: zoom_in, zoom_in, verdict."""
IN_FLIGHT = (4, 8, 32)
PIXELS: Mapping[str, tuple[str, ...]] = {
    "decode": ("agent_judge.judging:take_in",),
    "compare": ("agent_judge.tools.difference:find_differences",),
    "crop": ("agent_judge.tools.zoom_in:zoom",),
    "encode": (
        "agent_judge.album:encode_png",
        "agent_judge.judges.wire:data_url",
        "agent_judge.judges.wire:fits_as_png",
        "agent_judge.judges.wire:url_of_bytes",
    ),
    "hash": ("agent_judge.judging:inputs_of", "agent_judge.album:_digest"),
    "thumbnail": ("agent_judge.judging:make_thumbnail",),
}
"""Where pixels are worked on, by what is done."""
LIBRARIES: Mapping[str, tuple[str, ...]] = {
    "openai": ("openai:AsyncOpenAI.post",),
    "tenacity": ("tenacity:AsyncRetrying.__call__",),
    "LangGraph": (
        "langgraph.pregel:Pregel.ainvoke",
        "langgraph.pregel._runner:arun_with_retry",
        "langgraph._internal._runnable:RunnableSeq.ainvoke",
        "langgraph._internal._runnable:RunnableCallable.ainvoke",
    ),
}
"""Where a turn goes through a library that it is built on."""
OURS: Mapping[str, tuple[str, ...]] = {
    "": (
        "agent_judge.graph:_ask_judge",
        "agent_judge.graph:_run_tools",
        "agent_judge.judges.transport:Transport._once",
    )
}
"""Where these call us back: what is done there is not theirs."""


@dataclass(frozen=True, kw_only=True)
class Pace:
    """One measured run."""

    in_flight: int
    criteria: int
    seconds: float
    """From the first sample to the last record."""
    ideal_seconds: float
    """What the endpoint's latency alone would take."""
    cpu_seconds: float
    """Processor time of the judging process."""
    loop_seconds: float
    """Of it, that of the event loop's thread: no more than one core's worth is possible."""
    endpoint_seconds: float
    """Processor time of the endpoint's process."""
    spent: Mapping[str, float]
    """Of `cpu_seconds`, what went into pictures and into libraries, by `PIXELS`, `LIBRARIES`."""
    others_cores: float
    """Cores that all other processes of the machine kept busy meanwhile."""

    @property
    def ideal_rate(self) -> float:
        """Criteria a second that the endpoint allows."""
        return self.criteria / self.ideal_seconds if self.ideal_seconds else math.inf

    @property
    def of_ideal(self) -> float:
        """Rate as a share of the ideal one; 0 for an endpoint without latency."""
        return self.ideal_seconds / self.seconds

    @property
    def overhead_ms(self) -> float:
        """Processor time a turn apart from the endpoint and pixels."""
        return self.a_turn_ms(self.cpu_seconds - sum(self.spent.get(name, 0.0) for name in PIXELS))

    def a_turn_ms(self, seconds: float) -> float:
        """Milliseconds a turn."""
        return seconds / (self.criteria * TURNS) * 1e3


def measure(
    manifest: Path, *, in_flight: int, latency_s: float, size_wh: tuple[int, int], limit: int
) -> Pace:
    """Judge the first `limit` rows, so many at once, after two rows that warm everything up."""
    with tempfile.TemporaryDirectory() as folder, endpoint(latency_s, size_wh) as ask:
        settings = Settings.model_validate(
            {
                "mode": "tool",
                "judge": {"model": "loopback", "base_url": ask("base_url")},
                "run": {"jobs": in_flight},
            }
        )
        judge(Rows(manifest=manifest, limit=2), settings, Path(folder) / "warm")
        with watch() as spent:
            before, ask_before = _now(), ask("cpu_seconds")
            criteria = judge(Rows(manifest=manifest, limit=limit), settings, Path(folder) / "run")
            after, ask_after = _now(), ask("cpu_seconds")
    used = {name: after[name] - before[name] for name in before}
    rounds = -(-limit // in_flight)
    mine = used["process"] + ask_after - ask_before
    return Pace(
        in_flight=in_flight,
        criteria=criteria,
        seconds=used["wall"],
        ideal_seconds=rounds * len(settings.criteria) * TURNS * latency_s,
        cpu_seconds=used["process"],
        loop_seconds=used["thread"],
        endpoint_seconds=ask_after - ask_before,
        spent=dict(spent),
        others_cores=max(0.0, used["machine"] - mine) / used["wall"],
    )


def judge(rows: Rows, settings: Settings, out: Path) -> int:
    """Judge rows into a new run folder as the command does; how many criteria ended."""
    with closing(Store.create(out, binding_of(settings))) as store:
        plan_rows(rows, settings, store, Again())
        tally = Tally()
        engine = local_engine(settings, store)
        asyncio.run(
            run_planned(store, engine, stop=asyncio.Event(), tally=tally, tell=lambda _: None)
        )
        unscored = [r for r in store.records() if r.status != "scored"]
    if unscored:
        raise RuntimeError(f"{unscored[0].id}: {unscored[0].reason}: {unscored[0].explanation}")
    return tally.judged


Ask = Callable[[str], Any]
"""Asks an endpoint's process for its `base_url`, for `cpu_seconds` so far, or for the time of the
`first_request` since that was asked last."""


@contextmanager
def endpoint(latency_s: float, size_wh: tuple[int, int]) -> Iterator[Ask]:
    """A loopback endpoint in its own process."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, latency_s, edit_box(size_wh)))
    process.start()

    def ask(what: str) -> Any:  # noqa: ANN401 - text or number
        here.send(what)
        return here.recv()

    try:
        yield ask
    finally:
        here.send("stop")
        process.join()


def _serve(pipe: Connection, latency_s: float, box: Sequence[int]) -> None:
    times: list[float] = []

    def policy(request: ChatRequest) -> Answer:
        times[1:] = [time.time()]
        turn = len(request.replies)
        if turn < TURNS - 1:
            return calls(("zoom_in", {"picture": ("source", "edited")[turn], "box": list(box)}))
        return verdict(criterion_of(request), 4)

    with LoopbackEndpoint(policy, latency_s=latency_s, keep=0) as running:
        while (asked := pipe.recv()) != "stop":
            if asked == "first_request":
                pipe.send(times[0] if times else None)
                times.clear()
            else:
                pipe.send(running.base_url if asked == "base_url" else time.process_time())


@contextmanager
def watch() -> Iterator[dict[str, float]]:
    """Processor seconds by name; where one watched function calls another, the inner one's."""
    clock = _Clock()
    with ExitStack() as patches:
        for name, places in {**PIXELS, **LIBRARIES, **OURS}.items():
            for place in places:
                module, _, path = place.partition(":")
                *parents, attribute = path.split(".")
                owner = importlib.import_module(module)
                for parent in parents:
                    owner = getattr(owner, parent)
                watched = clock.watched(name, getattr(owner, attribute))
                patches.enter_context(mock.patch.object(owner, attribute, watched))
        yield clock.spent


class _Clock:
    """Tells whose the processor time of each thread is."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self._lock = threading.Lock()
        self._of_thread = threading.local()

    def watched(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """The function, with its own time counted; of a coroutine that of each of its steps."""

        @functools.wraps(work)
        async def steps(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - any function
            return await _Steps(work(*args, **kwargs), lambda: self._counted(name))

        @functools.wraps(work)
        def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - any function
            with self._counted(name):
                return work(*args, **kwargs)

        return steps if inspect.iscoroutinefunction(work) else call

    @contextmanager
    def _counted(self, name: str) -> Iterator[None]:
        inner_before = getattr(self._of_thread, "inner", 0.0)
        self._of_thread.inner, start = 0.0, time.thread_time()
        try:
            yield
        finally:
            took = time.thread_time() - start
            with self._lock:
                self.spent[name] += took - self._of_thread.inner
            self._of_thread.inner = inner_before + took


@dataclass(frozen=True)
class _Steps:
    """A coroutine, each of whose steps is taken inside a context."""

    work: Coroutine[Any, Any, Any]
    context: Callable[[], AbstractContextManager[None]]

    def __await__(self) -> Generator[Any, Any, Any]:
        take = functools.partial(self.work.send, None)
        while True:
            try:
                with self.context():
                    waits_for = take()
            except StopIteration as end:
                return end.value
            try:
                take = functools.partial(self.work.send, (yield waits_for))
            except BaseException as err:  # a cancelled wait, too, is the coroutine's to hear of
                take = functools.partial(self.work.throw, err)


def _now() -> dict[str, float]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "wall": time.perf_counter(),
        "process": used.ru_utime + used.ru_stime,
        "thread": time.thread_time(),
        "machine": _machine_seconds(),
    }


def _machine_seconds() -> float:
    """Processor seconds of all processes since the machine started (Linux)."""
    fields = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
    user, nice, system, _, _, irq, softirq, *_ = (int(n) for n in fields)
    return (user + nice + system + irq + softirq) / 100


def lines(paces: Sequence[Pace]) -> Iterator[str]:
    """The figures in Markdown."""
    yield (
        "| in flight | criteria/s | ideal | of ideal | CPU a criterion | of it the event loop "
        "| endpoint's CPU | overhead a turn | cores busy with other work |"
    )
    yield "|---" * 9 + "|"
    for pace in paces:
        cpu, loop, theirs = (
            f"{seconds / pace.criteria * 1e3:.0f} ms"
            for seconds in (pace.cpu_seconds, pace.loop_seconds, pace.endpoint_seconds)
        )
        yield (
            f"| {pace.in_flight} | {pace.criteria / pace.seconds:.2f} "
            f"| {pace.ideal_rate:.2f} | {pace.of_ideal:.2f} "
            f"| {cpu} | {loop} | {theirs} | {pace.overhead_ms:.1f} ms | {pace.others_cores:.1f} |"
        )
    yield ""
    yield "| in flight | " + " | ".join(PIXELS) + " | everything else |"
    yield "|---" * (len(PIXELS) + 2) + "|"
    for pace in paces:
        parts = [pace.spent.get(name, 0.0) for name in PIXELS]
        parts.append(pace.cpu_seconds - sum(parts))
        shares = " | ".join(f"{part / pace.criteria * 1e3:.1f} ms" for part in parts)
        yield f"| {pace.in_flight} | {shares} |"
    yield ""
    yield "| in flight, a turn | " + " | ".join(LIBRARIES) + " | our own |"
    yield "|---" * (len(LIBRARIES) + 2) + "|"
    for pace in paces:
        parts = [pace.a_turn_ms(pace.spent.get(name, 0.0)) for name in LIBRARIES]
        parts.append(pace.overhead_ms - sum(parts))
        yield f"| {pace.in_flight} | " + " | ".join(f"{part:.1f} ms" for part in parts) + " |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--in-flight", type=int, nargs="+", default=IN_FLIGHT)
    parser.add_argument("--samples-each", type=int, default=4, help="samples a place in flight")
    parser.add_argument("--latency-s", type=float, default=0.3)
    parser.add_argument("--side", type=int, default=1024, help="of the square pictures, in px")
    parser.add_argument("--pairs", type=Path, help="a manifest made before, to save time")
    asked = parser.parse_args()
    cv2.setNumThreads(1)  # its own threads would not show in the pixels' share
    size_wh = (asked.side, asked.side)
    with tempfile.TemporaryDirectory() as folder:
        most = max(asked.in_flight) * asked.samples_each
        manifest = asked.pairs or write_pairs(Path(folder), most, size_wh, boxes=False)
        paces = [
            measure(
                manifest,
                in_flight=n,
                latency_s=asked.latency_s,
                size_wh=size_wh,
                limit=n * asked.samples_each,
            )
            for n in asked.in_flight
        ]
    print("\n".join(lines(paces)))


if __name__ == "__main__":
    main()
