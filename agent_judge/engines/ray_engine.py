"""The driver's side of a Ray run: hands out samples, keeps what comes, replaces lost workers.

The runner is the local one. It sees an engine that judges a sample; that this happens elsewhere,
and begins anew where a worker was lost, stays in here. So records, money, progress and Ctrl-C are
in one place, and what a lost worker had in work is judged again and counted once.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

from ray.exceptions import RayError, RayTaskError

from agent_judge.album import BlobSink
from agent_judge.case import Bench
from agent_judge.engines.engine import places_for
from agent_judge.engines.ray_crew import Crew, Hired, told
from agent_judge.engines.ray_line import Paid, PaidReply, Picture, Said, Turn, WantedReply
from agent_judge.engines.ray_worker import task_of
from agent_judge.errors import AgentJudgeError, InputError, JudgeError, RunStopped, SampleError
from agent_judge.inputs import FILES, inputs_of
from agent_judge.judges.base import ReplyCache
from agent_judge.judges.budget import Budget, Spent
from agent_judge.judges.choose import choose_judge
from agent_judge.judges.manner import FOR_GOOD
from agent_judge.judging import Assignment, Prepared, judge_sample
from agent_judge.records import Criterion, Record, Sample
from agent_judge.remote import url_of
from agent_judge.settings import Settings
from agent_judge.settle import Judged

_log = logging.getLogger(__name__)
_MOST_LOSSES = 5
"""A sample in whose company so many workers were lost is taken for the cause; as many lost in a row
before they were ready end the run."""
_FOR_GOOD = {f"http:{status}" for status in FOR_GOOD}
"""Flags of such records."""


class RayEngine:
    """An `Engine`; made inside the event loop that it is used in."""

    def __init__(self, crew: Crew, replies: ReplyCache, blobs: BlobSink) -> None:
        self._crew = crew
        self._replies = replies
        self._blobs = blobs
        run = crew.settings.run
        self._budget = Budget(max_usd=run.max_usd, max_tokens=run.max_tokens_total)
        # Asked for its name and endpoint alone.
        judge = choose_judge(crew.settings, None)
        self._bench = Bench(judge=judge, tools=(), settings=crew.settings)
        self._numbers = itertools.count()
        self._free: asyncio.Queue[Hired | AgentJudgeError] = asyncio.Queue()
        """A worker stands here once for every sample more that it can take."""
        self._lost_unready = 0
        """Workers in a row that were lost before they were ready."""
        self._refused = 0
        """Criteria in a row that the endpoint refused as it would any other."""
        self._joining = {asyncio.create_task(self._join(worker)) for worker in crew.workers}

    @property
    def settings(self) -> Settings:
        """What is judged by."""
        return self._crew.settings

    @property
    def places(self) -> int:
        """Samples that may be in work at once."""
        return sum(map(self._places_at, self._crew.workers))

    def _places_at(self, worker: Hired) -> int:
        return places_for(worker.jobs, self._bench.judge.endpoint)

    async def judge(
        self, assignment: Assignment, ended: Callable[[], bool]
    ) -> AsyncGenerator[Judged, None]:
        """Judge what is assigned of one sample, at whatever worker has a place.

        Raises:
            RunStopped: the endpoint fails for good, as seen by any worker.
            StoreError: evidence or replies cannot be kept.
            InputError: a worker does not see a picture, or one hired in place of a lost one cannot
                be set up.
        """
        left = assignment
        for _ in range(_MOST_LOSSES):
            worker = await self._worker()
            if ended():
                self._free.put_nowait(worker)
                return
            try:
                async with aclosing(self._judge_at(worker, left)) as judging:
                    async for judged in judging:
                        self._heed(judged.record)
                        _expect_seen(left.sample, judged.inputs)
                        left = _without(left, judged.record.criterion)
                        yield judged
                self._free.put_nowait(worker)
                return
            except RayTaskError:
                raise  # a fault of ours, not of the machine
            except RayError:
                self._replace(worker)
                if not left.rounds:
                    return
        why = SampleError(f"{_MOST_LOSSES} Ray workers were lost while they judged it (memory?)")
        inputs = await asyncio.to_thread(inputs_of, left.sample)
        given_up = Prepared(assignment=left, inputs=inputs, intake=why)
        async for judged in judge_sample(given_up, self._bench):
            yield judged

    def _heed(self, record: Record) -> None:
        """The breaker of all workers together: each one's own sees its own criteria alone.

        Raises:
            RunStopped: the endpoint refused as many in a row as the settings bear.
        """
        if record.reason == "endpoint_rejected" and not _FOR_GOOD.isdisjoint(record.flags):
            self._refused += 1
        elif record.judge_returned_model is not None:
            self._refused = 0
        if self._refused >= self.settings.judge.fatal_in_a_row:
            told = f"{self._refused} criteria in a row"
            raise RunStopped(f"{record.endpoint} refused {told}: {record.explanation}")

    async def _worker(self) -> Hired:
        while True:
            found = await self._free.get()
            if isinstance(found, AgentJudgeError):
                raise found
            if not found.is_lost:
                return found

    async def _judge_at(
        self, worker: Hired, assignment: Assignment
    ) -> AsyncGenerator[Judged, None]:
        number = next(self._numbers)
        turns: dict[int, Spent] = {}
        async with AsyncExitStack() as requests:
            try:
                async for reference in worker.actor.judge.remote(number, task_of(assignment)):
                    said: Said = await reference
                    if isinstance(said, AgentJudgeError):
                        raise said
                    if isinstance(said, Judged):
                        yield said
                    else:
                        await self._serve(said, worker, number, turns, requests)
            except RayError:
                dearest = self._budget.dearest()
                for spent in turns.values():  # of requests that were under way, nobody will tell
                    spent.tokens, spent.usd = dearest.tokens, dearest.usd
                raise

    async def _serve(
        self,
        said: Picture | PaidReply | WantedReply | Turn | Paid,
        worker: Hired,
        number: int,
        turns: dict[int, Spent],
        requests: AsyncExitStack,
    ) -> None:
        answer = worker.actor.answer.remote
        match said:
            case Picture():
                await asyncio.to_thread(self._blobs.put_blob, said.sha256, said.png)
            case PaidReply():
                self._replies.put(said.key, said.reply)
            case WantedReply():
                answer(number, said.number, await self._replies.get(said.key))
            case Turn():
                try:
                    turns[said.number] = await requests.enter_async_context(self._budget.request())
                except JudgeError as err:
                    answer(number, said.number, str(err))
                else:
                    answer(number, said.number, None)
            case Paid():
                spent = turns.pop(said.number)
                spent.tokens, spent.usd = said.spent.tokens, said.spent.usd
                await requests.aclose()

    def _replace(self, worker: Hired) -> None:
        """Hire another; every sample that the worker had in work comes here."""
        if worker.is_lost:
            return
        worker.is_lost = True
        _log.warning("a Ray worker was lost: what it had in work is judged again")
        worker.dismiss()
        self._joining.add(asyncio.create_task(self._join(self._crew.hire(worker.jobs))))

    async def _join(self, worker: Hired) -> None:
        try:
            await worker.ready
        except RayError as err:
            self._lost_unready += 1
            if isinstance(err, RayTaskError) or self._lost_unready == _MOST_LOSSES:
                self._free.put_nowait(told(err))
            else:
                self._replace(worker)
            return
        self._lost_unready = 0
        for _ in range(self._places_at(worker)):
            self._free.put_nowait(worker)

    async def close(self) -> None:
        """Wait for no worker any more."""
        for task in self._joining:
            task.cancel()
        await self._bench.judge.close()


def _expect_seen(sample: Sample, inputs: Mapping[str, Any]) -> None:
    """Call no picture missing that only the worker lacks.

    Args:
        sample: the row.
        inputs: the worker's `inputs_of`.

    Raises:
        InputError: a file of this machine is not on the worker's.
    """
    for name in FILES:
        path: Path | None = getattr(sample, name)
        if path is None or inputs.get(name) is not None or url_of(path) is not None:
            continue
        if path.is_file() and os.access(path, os.R_OK):
            raise InputError(
                f"a Ray worker does not see {str(path)!r}: put pictures on a shared disk or at URLs"
            )


def _without(assignment: Assignment, criterion: Criterion) -> Assignment:
    rounds = {name: n for name, n in assignment.rounds.items() if name != criterion}
    return replace(assignment, rounds=rounds)
