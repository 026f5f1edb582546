"""One criterion of one sample on its way to a record: its conversations and its record."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agent_judge.album import Album, BlobSink, Renderings
from agent_judge.errors import JudgeError
from agent_judge.graph import Loop, Trace, run_loop
from agent_judge.intake import Intake
from agent_judge.judges.base import Judge
from agent_judge.plan import Look, plan_of
from agent_judge.records import Criterion, Mode, Reason, Record, Sample, Verdict
from agent_judge.rubrics.protocol import rubric_of, version_of
from agent_judge.rubrics.rubric import Rubric
from agent_judge.settings import Settings
from agent_judge.settle import Judged, Outcome
from agent_judge.tools.base import Tool


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What samples are judged with; one for a whole run."""

    judge: Judge
    tools: tuple[Tool, ...]
    settings: Settings
    blobs: BlobSink | None = None


@dataclass(frozen=True, kw_only=True)
class Case:
    """One criterion of one sample, while it is judged."""

    sample: Sample
    mode: Mode
    criterion: Criterion
    round: int
    bench: Bench
    deadline: float
    """When the sample's time is over, on the monotonic clock."""
    prepared: Renderings = field(default_factory=Renderings)
    """Of the sample's pictures, shared by its criteria, targets and votes."""
    shared: dict[Hashable, Any] = field(default_factory=dict)
    """What one criterion of the sample has found out for the others."""

    @property
    def rubric(self) -> Rubric:
        """That of the criterion."""
        return rubric_of(self.criterion)

    async def outcome(self, look: Look, find: Callable[[Trace], Awaitable[Verdict]]) -> Outcome:
        """How a look ends: by the verdict that is known without a judge, or else by `find`'s."""
        trace = Trace()
        if (known := self._known(look)) is not None:
            return Outcome(look=look, trace=trace, verdict=known, identical=True)
        try:
            return Outcome(look=look, trace=trace, verdict=await find(trace))
        except JudgeError as err:
            return Outcome(look=look, trace=trace, error=err)

    async def ask(
        self, rubric: Rubric, look: Look, vote: int, trace: Trace, *, with_tools: bool = True
    ) -> Any:  # noqa: ANN401
        """What a rubric's form reads out of one conversation: a `Verdict` where it gives a level.

        Args:
            rubric: what is asked; the criterion's own, or a step before it.
            look: what is shown.
            vote: number of the vote, from 0.
            trace: what happens is written into it.
            with_tools: whether the plan's tools are offered.

        Raises:
            JudgeError: it ended without an answer; `trace` tells how far it came.
            RunStopped: the endpoint fails for good.
        """
        judge = self.bench.settings.judge
        plan = plan_of(self.mode, self.criterion)
        names = plan.tools if judge.max_steps and with_tools else ()
        loop = Loop(
            judge=self.bench.judge,
            rubric=rubric,
            look=look,
            tools=tuple(tool for tool in self.bench.tools if tool.name in names),
            album=Album(self.bench.blobs, self.prepared),
            trace=trace,
            max_steps=judge.max_steps,
            format_retries=judge.format_retries,
            vote=vote,
            round=self.round,
            asker=f"{self.criterion} of {self.sample.id}",
        )
        try:
            async with asyncio.timeout(max(0.0, self.deadline - time.monotonic())):
                return await run_loop(loop)
        except TimeoutError:
            told = f"no verdict within {judge.sample_timeout_s:g} s: raise judge.sample_timeout_s"
            raise JudgeError("timeout", told) from None

    def _known(self, look: Look) -> Verdict | None:
        """The verdict on equal pictures, which needs no judge; None where they differ."""
        level = self.rubric.when_identical
        if level is None or not np.array_equal(look.view.source, look.view.edited):
            return None
        return Verdict(
            level=level,
            label=self.rubric.answered_as(level),
            answers=tuple(self.rubric.path_to(level).items()),
            explanation="the edited picture is identical to the source, pixel for pixel",
        )

    def failed(
        self,
        reason: Reason,
        told: str,
        *,
        intake: Intake | None = None,
        notes: tuple[str, ...] = (),
    ) -> Judged:
        """A record without a level."""
        fields: dict[str, Any] = {"notes": notes}
        if intake is not None:
            fields = {
                "source_sha256": intake.source_sha256,
                "edited_sha256": intake.edited_sha256,
                "notes": (*intake.notes, *notes),
            }
        record = self.record(status="unscored", reason=reason, explanation=told, **fields)
        return Judged(record=record, round=self.round)

    def record(self, flags: tuple[str, ...] = (), **fields: Any) -> Record:  # noqa: ANN401
        """A record of this criterion; further fields by name."""
        return Record(
            id=self.sample.id,
            item=self.sample.item,
            editor=self.sample.editor,
            type=self.sample.type,
            mode=self.mode,
            criterion=self.criterion,
            judge=self.bench.judge.name,
            endpoint=self.bench.judge.endpoint,
            rubric_version=version_of(self.criterion),
            **fields,
            flags=tuple(sorted({*flags, "rejudged"} if self.round else flags)),
        )
