"""One sample to its records: every criterion ends in exactly one of the three fates.

This is the only place that turns an unexpected exception into a fate (`internal_error`).
"""

from __future__ import annotations

import asyncio
import functools
import os
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from agent_judge.album import Renderings
from agent_judge.case import Bench, Case
from agent_judge.crosscheck import CrossCheck
from agent_judge.errors import AgentJudgeError, OutputFault, SampleError
from agent_judge.inputs import inputs_of
from agent_judge.intake import Intake, take_in
from agent_judge.plan import Look, Row, looks_of, mode_of, plan_of
from agent_judge.records import Box, Criterion, Sample
from agent_judge.settle import Judged
from agent_judge.thumbnail import make_thumbnail
from agent_judge.tools.difference import Difference, differences_of
from agent_judge.ways.changes import by_changes
from agent_judge.ways.measure import by_measure
from agent_judge.ways.verdicts import by_verdicts

_COMPARERS = ThreadPoolExecutor(max(1, (os.cpu_count() or 2) // 2), "compare")
"""Half the cores: comparisons side by side slow each other down, and the rest of a sample's work
must not wait behind them."""


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
    prepared, shared = Renderings(), dict[Hashable, Any]()
    for criterion, round_ in assignment.rounds.items():
        start = time.perf_counter()
        case = Case(
            sample=sample,
            mode=mode,
            criterion=criterion,
            round=round_,
            bench=bench,
            deadline=deadline,
            prepared=prepared,
            shared=shared,
        )
        try:
            judged = await _judge(case, intake)
            if ready.difference is not None:
                judged = _cross_checked(judged, CrossCheck(await ready.difference))
        except AgentJudgeError:
            raise  # the run's fault: a stopped endpoint, a full disk
        except Exception as err:  # the one place: any other fault is this row's, not the run's
            judged = case.failed("internal_error", repr(err), notes=(traceback.format_exc(),))
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


async def _judge(case: Case, intake: Intake | Exception) -> Judged:
    """One criterion to its record."""
    if isinstance(intake, OutputFault):
        record = case.record(status=intake.status, explanation=str(intake))
        return Judged(record=record, round=case.round)
    if isinstance(intake, SampleError):
        return case.failed(intake.reason, str(intake))
    if isinstance(intake, Exception):
        raise intake
    try:
        intake.check_boxes(needed=plan_of(case.mode, case.criterion).needs_boxes)
        looks = await asyncio.to_thread(
            looks_of, intake.row, case.mode, case.criterion, case.bench.settings.oracle
        )
    except SampleError as err:
        return case.failed(err.reason, str(err), intake=intake)
    return await _WAYS[case.rubric.form](case, intake, looks)


_WAYS: Mapping[str, Callable[[Case, Intake, tuple[Look, ...]], Awaitable[Judged]]] = {
    "ladder": by_verdicts,
    "rating": by_verdicts,
    "changes": by_changes,
    "measure": by_measure,
}
"""By the form of the criterion's rubric."""
