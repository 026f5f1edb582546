"""Many samples: how many at once, what is still to do, when to stop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from agent_judge.engines.bench import bench_of
from agent_judge.engines.engine import Engine
from agent_judge.engines.local import LocalEngine
from agent_judge.errors import RunStopped
from agent_judge.judges.choose import choose_judge
from agent_judge.judging import Assignment
from agent_judge.memory import give_back
from agent_judge.records import Reason, Record, Sample
from agent_judge.resume import assign
from agent_judge.run_db import is_begun
from agent_judge.settings import MEASURED, Settings
from agent_judge.settle import Judged
from agent_judge.store import Store

GRACE_S = 2.5
"""How long samples in flight may take to end after the run was asked to stop."""
_ROWS_AT_ONCE = 100
"""Rows of a resumed run that are looked at before samples in work have their turn."""
_GIVEN_BACK_EVERY = 100
"""Records after which freed memory is given back."""


@dataclass(kw_only=True)
class Tally:
    """Where a run stands; the caller reads it while the run goes on."""

    judged: int = 0
    """Criteria that ended in this invocation."""
    standing: int = 0
    """Criteria that were judged before and stand."""


async def endpoint_of(settings: Settings) -> str:
    """The host that would judge, empty for the embedded judge; nothing is sent.

    Raises:
        InputError: the judge cannot be set up from these settings: no key, no such profile.
    """
    judge = choose_judge(settings, None)
    await judge.close()
    return judge.endpoint


def model_for(settings: Settings, run_folder: Path) -> Settings:
    """The settings with `judge.model` filled in.

    Named by flag, environment or file: that one. A base URL without a model: the endpoint's only
    model, asked once; a run folder that has one already needs no request. Neither: the embedded
    judge.

    Raises:
        InputError: the endpoint offers no model or several (listed), or cannot be reached.
    """
    if settings.judge.model is not None:
        return settings
    if settings.judge.base_url is None:
        return _with_model(settings, MEASURED)
    if is_begun(run_folder):
        with Store.open(run_folder) as store:
            bound = store.binding["judge"]["model"]
            if bound != MEASURED:
                return _with_model(settings, bound)
    from agent_judge.judges.transport import only_model

    return _with_model(settings, asyncio.run(only_model(settings.judge)))


def _with_model(settings: Settings, model: str) -> Settings:
    judge = settings.judge.model_copy(update={"model": model})
    return settings.model_copy(update={"judge": judge})


async def _with_only_model(settings: Settings) -> Settings:
    if settings.judge.model is not None or settings.judge.base_url is None:
        return settings
    from agent_judge.judges.transport import only_model

    return _with_model(settings, await only_model(settings.judge))


async def run_planned(
    store: Store,
    engine: Engine,
    *,
    retry: Collection[Reason] = (),
    rejudge: Collection[str] = (),
    stop: asyncio.Event,
    tally: Tally,
    tell: Callable[[Judged], None],
) -> None:
    """Judge what is still to do of the planned rows and store each record at once.

    Args:
        store: where rows come from and records go.
        engine: who judges; it is closed at the end.
        retry: reasons judged again in a new round.
        rejudge: ids judged again in a new round.
        stop: once set, no further sample is begun; those in flight have `GRACE_S` to end.
        tally: counted up as the run goes.
        tell: called after each stored record.

    Raises:
        RunStopped: the endpoint fails for good; everything stored so far stands.
        StoreError: the folder can no longer be written.
    """

    def assignments() -> Iterator[Assignment | None]:
        criteria = engine.settings.criteria
        for n, (planned, standings) in enumerate(store.standings()):
            assignment = assign(planned, standings, criteria, retry=retry, rejudge=rejudge)
            todo = len(assignment.rounds) if assignment else 0
            tally.standing += len(criteria) - todo
            if assignment or n % _ROWS_AT_ONCE == 0:
                yield assignment

    async for judged in judge_many(assignments(), engine, stop=stop):
        store.save(
            judged.record,
            round_=judged.round,
            inputs=judged.inputs,
            replies=judged.replies,
        )
        if judged.thumbnail is not None:
            store.put_thumbnail(judged.record.id, judged.thumbnail)
        tally.judged += 1
        if tally.judged % _GIVEN_BACK_EVERY == 0:
            give_back()
        tell(judged)


async def judge_many(
    assignments: Iterable[Assignment | None], engine: Engine, *, stop: asyncio.Event
) -> AsyncIterator[Judged]:
    """Judge assignments, as many at once as the engine has places, in the order in which they end.

    A None among the assignments lets those in work go on.

    Raises:
        RunStopped: from the judge; assignments in flight are dropped.
    """
    waiting = iter(assignments)
    spent = asyncio.Event()  # a cap was reached: what was not begun stays "not run"
    done: asyncio.Queue[Judged | None] = asyncio.Queue()

    def ended() -> bool:
        return stop.is_set() or spent.is_set()

    async def worker() -> None:
        async for assignment in _begun(waiting, ended):
            async with aclosing(engine.judge(assignment, ended)) as judging:
                async for judged in judging:
                    if judged.record.reason == "budget":
                        spent.set()
                    done.put_nowait(judged)

    async def all_workers() -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(engine.places):
                    group.create_task(worker())
        finally:
            done.put_nowait(None)

    running = asyncio.create_task(all_workers())
    watcher = asyncio.create_task(_end_after_grace(running, stop))
    try:
        while (item := await done.get()) is not None:
            yield item
        await _outcome_of(running)
    finally:
        watcher.cancel()
        running.cancel()
        await asyncio.gather(watcher, running, return_exceptions=True)
        await engine.close()


async def _begun(
    waiting: Iterator[Assignment | None], ended: Callable[[], bool]
) -> AsyncIterator[Assignment]:
    """Assignments one by one, for a place; all places share the iterator."""
    for assignment in waiting:
        if ended():
            return
        if assignment is None:
            await asyncio.sleep(0)
        else:
            yield assignment


async def _end_after_grace(running: asyncio.Task[None], stop: asyncio.Event) -> None:
    await stop.wait()
    await asyncio.sleep(GRACE_S)
    running.cancel()


async def _outcome_of(running: asyncio.Task[None]) -> None:
    try:
        await running
    except asyncio.CancelledError:
        return  # asked to stop: what was in flight has no record and is taken by a resume
    except BaseExceptionGroup as group:
        stopped = group.subgroup(RunStopped)
        raise (stopped or group).exceptions[0] from group


async def evaluate_many(samples: Iterable[Sample], settings: Settings) -> AsyncIterator[Record]:
    """Judge samples and yield their records as they end; nothing is stored.

    Raises:
        InputError: the settings name no usable judge.
        RunStopped: the endpoint fails for good.
    """
    assignments = (
        Assignment(sample=sample, rounds=dict.fromkeys(settings.criteria, 0)) for sample in samples
    )
    settings = await _with_only_model(settings)
    stop = asyncio.Event()
    async for judged in judge_many(assignments, LocalEngine(bench_of(settings)), stop=stop):
        yield judged.record


async def evaluate(sample: Sample, settings: Settings) -> list[Record]:
    """Judge one sample: a record per criterion; nothing is stored.

    Raises:
        InputError: the settings name no usable judge.
        RunStopped: the endpoint fails for good.
    """
    return [record async for record in evaluate_many([sample], settings)]
