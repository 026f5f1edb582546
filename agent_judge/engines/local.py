"""The engine of one machine: samples are judged in this process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

from agent_judge.case import Bench
from agent_judge.engines.engine import places_for
from agent_judge.judges.choose import jobs_of
from agent_judge.judging import Assignment, judge_sample, prepare
from agent_judge.settings import Settings
from agent_judge.settle import Judged


@dataclass(frozen=True)
class LocalEngine:
    """An `Engine`."""

    bench: Bench

    @property
    def settings(self) -> Settings:
        """What is judged by."""
        return self.bench.settings

    @property
    def places(self) -> int:
        """Samples that may be in work at once."""
        return places_for(jobs_of(self.settings), self.bench.judge.endpoint)

    async def judge(
        self, assignment: Assignment, ended: Callable[[], bool]
    ) -> AsyncGenerator[Judged, None]:
        """Judge what is assigned of one sample, a record at a time."""
        ready = await prepare(assignment)
        try:
            if not ended():
                async for judged in judge_sample(ready, self.bench):
                    yield judged
        finally:
            ready.drop()

    async def close(self) -> None:
        """Let go of connections."""
        await self.bench.judge.close()
