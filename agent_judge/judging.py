"""One sample to its records: every criterion ends in exactly one of the three fates.

This is the only place that turns an unexpected exception into a fate (`internal_error`).
"""

from __future__ import annotations

import asyncio
import functools
import os
import time
import traceback
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from agent_judge.album import Album, BlobSink, Renderings
from agent_judge.crosscheck import CrossCheck
from agent_judge.errors import AgentJudgeError, JudgeError, OutputFault, SampleError
from agent_judge.graph import Loop, Trace, run_loop
from agent_judge.inputs import inputs_of
from agent_judge.intake import Intake, take_in
from agent_judge.judges.base import Judge
from agent_judge.plan import PLANS, Look, Row, looks_of, mode_of
from agent_judge.records import (
    Box,
    Criterion,
    Mode,
    Reason,
    Record,
    Sample,
    Verdict,
)
from agent_judge.rubrics.ladder import Ladder, load_ladder, rubric_version
from agent_judge.settings import Settings
from agent_judge.settle import Judged, Outcome, replies_of, settled
from agent_judge.thumbnail import make_thumbnail
from agent_judge.tools.base import Tool
from agent_judge.tools.difference import Difference, differences_of

_COMPARERS = ThreadPoolExecutor(max(1, (os.cpu_count() or 2) // 2), "compare")
"""Half the cores: comparisons side by side slow each other down, and the rest of a sample's work
must not wait behind them."""


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What samples are judged with; one for a whole run."""

    judge: Judge
    tools: tuple[Tool, ...]
    settings: Settings
    blobs: BlobSink | None = None


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """What is to be judged of one sample."""

    sample: Sample
    rounds: Mapping[Criterion, int]
    """Criteria to judge, each with its round; a new round takes nothing from the reply cache."""
    attempts: Mapping[Criterion, int] = field(default_factory=dict)
    """Requests that the criterion's earlier record counts."""
    counted: frozenset[Criterion] = frozenset()
    """Criteria whose earlier record is of this round: it counts the requests behind replies that
    now come out of the cache."""


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A sample before the first question about it."""

    assignment: Assignment
    inputs: Mapping[str, Any]
    """What it is judged from, see `inputs.inputs_of`, and the source's size."""
    intake: Intake | Exception
    """Its pictures, or why there are none."""
    difference: asyncio.Future[Difference] | None = None
    """What the cross-check will ask for, measured while others are judged."""

    def drop(self) -> None:
        """Measure nothing more for a sample that has ended."""
        if self.difference is not None:
            self.difference.cancel()


async def prepare(assignment: Assignment) -> Prepared:
    """Read and decode a sample's files; no judge is asked."""
    sample = assignment.sample
    inputs = await asyncio.to_thread(inputs_of, sample)
    try:
        intake = await asyncio.to_thread(take_in, sample)
    except Exception as err:  # told, or raised again, by each criterion
        return Prepared(assignment=assignment, inputs=inputs, intake=err)
    loop = asyncio.get_running_loop()
    height, width = intake.row.source.shape[:2]
    return Prepared(
        assignment=assignment,
        inputs={**inputs, "source_wh": [width, height]},
        intake=intake,
        difference=loop.run_in_executor(_COMPARERS, intake.row.view.once, differences_of),
    )


async def judge_sample(ready: Prepared, bench: Bench) -> AsyncIterator[Judged]:
    """Judge what is assigned of one sample, a record at a time.

    Raises:
        RunStopped: the endpoint fails for good; what was not yielded was not judged.
    """
    assignment, intake = ready.assignment, ready.intake
    sample, mode = assignment.sample, mode_of(assignment.sample, bench.settings)
    deadline = time.monotonic() + bench.settings.judge.sample_timeout_s
    last = list(assignment.rounds)[-1]
    targets: Sequence[tuple[float, float, float, float]] = ()
    prepared = Renderings()
    for criterion, round_ in assignment.rounds.items():
        start = time.perf_counter()
        judging = _Criterion(
            sample=sample,
            mode=mode,
            criterion=criterion,
            round=round_,
            bench=bench,
            prepared=prepared,
        )
        try:
            judged = await judging.run(intake, deadline)
            if ready.difference is not None:
                judged = _cross_checked(judged, CrossCheck(await ready.difference))
        except AgentJudgeError:
            raise  # the run's fault: a stopped endpoint, a full disk
        except Exception as err:  # the one place: any other fault is this row's, not the run's
            judged = judging.failed("internal_error", repr(err), notes=(traceback.format_exc(),))
        seconds = round(time.perf_counter() - start, 3)
        attempts = judged.record.attempts + _spent_before(assignment, criterion, judged)
        record = replace(judged.record, seconds=seconds, attempts=attempts)
        targets, thumbnail = targets or record.target_boxes, None
        if criterion == last and isinstance(intake, Intake):
            thumbnail = await asyncio.to_thread(_in_small, intake.row, targets)
        yield replace(judged, record=record, inputs=ready.inputs, thumbnail=thumbnail)


def _spent_before(assignment: Assignment, criterion: Criterion, judged: Judged) -> int:
    earlier = assignment.attempts.get(criterion, 0)
    return earlier - judged.replayed if criterion in assignment.counted else earlier


def _in_small(row: Row, targets: Sequence[tuple[float, float, float, float]]) -> bytes:
    around = functools.reduce(Box.union, (Box(*box) for box in targets)) if targets else None
    return make_thumbnail(row.source, row.edited, around)


def _cross_checked(judged: Judged, check: CrossCheck) -> Judged:
    flags = {*judged.record.flags, *check.flags(judged.record)}
    return replace(judged, record=replace(judged.record, flags=tuple(sorted(flags))))


@dataclass(frozen=True, kw_only=True)
class _Criterion:
    """One criterion of one sample on its way to a record."""

    sample: Sample
    mode: Mode
    criterion: Criterion
    round: int
    bench: Bench
    prepared: Renderings
    """Of the sample's pictures, shared by its criteria, targets and votes."""

    @property
    def ladder(self) -> Ladder:
        return load_ladder(self.criterion)

    async def run(self, intake: Intake | Exception, deadline: float) -> Judged:
        if isinstance(intake, OutputFault):
            return Judged(
                record=self._record(status=intake.status, explanation=str(intake)), round=self.round
            )
        if isinstance(intake, SampleError):
            return self.failed(intake.reason, str(intake))
        if isinstance(intake, Exception):
            raise intake
        try:
            intake.check_boxes(needed=PLANS[self.mode, self.criterion].needs_boxes)
            looks = await asyncio.to_thread(
                looks_of, intake.row, self.mode, self.criterion, self.bench.settings.oracle
            )
        except SampleError as err:
            return self.failed(err.reason, str(err), intake=intake)
        votes = [
            [await self._converse(look, vote, deadline) for look in looks]
            for vote in range(self.bench.settings.judge.votes)
        ]
        record = self._record(**settled(votes, intake))
        replayed = sum(o.trace.ledger.replayed for vote in votes for o in vote)
        return Judged(record=record, round=self.round, replayed=replayed, replies=replies_of(votes))

    async def _converse(self, look: Look, vote: int, deadline: float) -> Outcome:
        trace = Trace()
        if np.array_equal(look.view.source, look.view.edited):
            return Outcome(look=look, trace=trace, verdict=self._no_change(), identical=True)
        judge = self.bench.settings.judge
        tools = self.bench.tools if PLANS[self.mode, self.criterion].tools else ()
        loop = Loop(
            judge=self.bench.judge,
            ladder=self.ladder,
            look=look,
            tools=tools if judge.max_steps else (),
            album=Album(self.bench.blobs, self.prepared),
            trace=trace,
            max_steps=judge.max_steps,
            format_retries=judge.format_retries,
            vote=vote,
            round=self.round,
        )
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                return Outcome(look=look, trace=trace, verdict=await run_loop(loop))
        except JudgeError as err:
            return Outcome(look=look, trace=trace, error=err)
        except TimeoutError:
            told = f"no verdict within {judge.sample_timeout_s:g} s: raise judge.sample_timeout_s"
            return Outcome(look=look, trace=trace, error=JudgeError("timeout", told))

    def _no_change(self) -> Verdict:
        level = self.ladder.when_identical
        return Verdict(
            level=level,
            label=self.ladder.label_of(level),
            answers=tuple(self.ladder.path_to(level).items()),
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
        record = self._record(status="unscored", reason=reason, explanation=told, **fields)
        return Judged(record=record, round=self.round)

    def _record(self, flags: tuple[str, ...] = (), **fields: Any) -> Record:  # noqa: ANN401
        return Record(
            id=self.sample.id,
            item=self.sample.item,
            editor=self.sample.editor,
            type=self.sample.type,
            mode=self.mode,
            criterion=self.criterion,
            judge=self.bench.judge.name,
            endpoint=self.bench.judge.endpoint,
            rubric_version=rubric_version(),
            **fields,
            flags=tuple(sorted({*flags, "rejudged"} if self.round else flags)),
        )
