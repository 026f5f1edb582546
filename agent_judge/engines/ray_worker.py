"""A Ray actor that judges samples, several at once, by the same code as the local engine."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from agent_judge.engines.bench import bench_of
from agent_judge.engines.local import LocalEngine
from agent_judge.engines.ray_line import LINE, FarBlobs, FarPurse, FarReplies, Line, Said
from agent_judge.engines.ray_networks import FarNetworks
from agent_judge.errors import AgentJudgeError, InputError
from agent_judge.judging import Assignment
from agent_judge.manifest import sample_from_row, sample_to_row
from agent_judge.rubrics.protocol import rubric_version
from agent_judge.settings import Settings
from agent_judge.tools.toolbox import TOOLS_REVISION


def version(protocol: str) -> str:
    """What driver and workers must have in common, to judge alike."""
    return f"{metadata.version('agent-judge')} {rubric_version(protocol)} {TOOLS_REVISION}"


def task_of(assignment: Assignment) -> dict[str, Any]:
    """An assignment for another machine: its sample as a row, where URLs are URLs."""
    return {**vars(assignment), "sample": sample_to_row(assignment.sample)}


class Worker:
    """The actor; stateless but for what the judge has learned of its endpoint."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._engine: LocalEngine | None = None
        self._lines: dict[int, Line] = {}

    def get_ready(self, driver: str, folder: Path, networks: FarNetworks | None) -> None:
        """Set up; a failure here can still be told as what it is.

        Args:
            driver: `version` of the driver.
            folder: where the driver runs, for paths in the settings.
            networks: those that live elsewhere; None to load them here.

        Raises:
            InputError: this machine is of another version, or cannot be set up.
            WeightsError: weights that the settings name are missing or damaged.
        """
        import cv2

        own = version(self._settings.protocol)
        if driver != own:
            raise InputError(f"it has agent-judge {own}, the driver has {driver}")
        if folder.is_dir():
            os.chdir(folder)
        cv2.setNumThreads(1)  # there are as many workers as cores
        if networks is not None:
            networks.lend()
        capped = self._settings.run.max_usd, self._settings.run.max_tokens_total
        bench = bench_of(
            self._settings,
            replies=FarReplies(),
            blobs=FarBlobs(),
            purse=None if capped == (None, None) else FarPurse(),
        )
        self._engine = LocalEngine(bench)

    async def judge(self, number: int, task: Mapping[str, Any]) -> AsyncIterator[Said]:
        """Everything that judging a sample brings up, as it comes.

        Args:
            number: of this call, for `answer`.
            task: from `task_of`.
        """
        assignment = Assignment(**{**task, "sample": sample_from_row(task["sample"])})
        line = self._lines[number] = Line()
        work = asyncio.create_task(self._work(line, assignment))
        try:
            async for said in line.said():
                yield said
            await work
        finally:
            work.cancel()
            del self._lines[number]

    async def answer(self, number: int, question: int, answer: Any) -> None:  # noqa: ANN401
        """The driver's answer to a question of a sample in work."""
        if number in self._lines:
            self._lines[number].answer(question, answer)

    async def _work(self, line: Line, assignment: Assignment) -> None:
        assert self._engine is not None
        LINE.set(line)
        try:
            async for judged in self._engine.judge(assignment, lambda: False):
                line.tell(judged)
        except AgentJudgeError as err:
            line.tell(err)
        finally:
            line.tell(None)
