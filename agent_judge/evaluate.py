"""One sample to its records: every criterion ends in exactly one of the three fates.

This is the only place that turns an unexpected exception into a fate (`internal_error`).
"""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from agent_judge.album import Album, BlobSink
from agent_judge.crosscheck import CrossCheck
from agent_judge.errors import AgentJudgeError, JudgeError, SampleError
from agent_judge.graph import Loop, Trace, run_loop
from agent_judge.inputs import inputs_of
from agent_judge.intake import Intake, OutputFault, take_in
from agent_judge.judges.base import Judge
from agent_judge.plan import PLANS, Look, looks_of, mode_of
from agent_judge.records import (
    Criterion,
    Mode,
    Reason,
    Record,
    Sample,
    Verdict,
    covered_area,
    score_100,
)
from agent_judge.rubrics.ladder import Ladder, load_ladder, rubric_version
from agent_judge.settings import Settings
from agent_judge.tools.base import Tool


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
class Judged:
    """A record and what stands behind it."""

    record: Record
    round: int
    replayed: int = 0
    """Of the record's `attempts`, those behind replies out of the cache."""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """Signature of the row and its files as they were when they were read."""
    replies: tuple[Mapping[str, Any], ...] = ()
    """Assistant messages, verbatim, with the look and vote they belong to."""


@dataclass(frozen=True, kw_only=True)
class _Outcome:
    """How one conversation ended."""

    look: Look
    trace: Trace
    verdict: Verdict | None = None
    error: JudgeError | None = None
    identical: bool = False

    @property
    def level(self) -> int | None:
        return self.verdict.level if self.verdict else None


async def judge_sample(assignment: Assignment, bench: Bench) -> AsyncIterator[Judged]:
    """Judge what is assigned of one sample, a record at a time.

    Raises:
        RunStopped: the endpoint fails for good; what was not yielded was not judged.
    """
    sample, mode = assignment.sample, mode_of(assignment.sample, bench.settings)
    deadline = time.monotonic() + bench.settings.judge.sample_timeout_s
    intake: Intake | SampleError | OutputFault
    inputs = await asyncio.to_thread(inputs_of, sample)
    check: CrossCheck | None = None
    try:
        intake = await asyncio.to_thread(take_in, sample)
        check = CrossCheck(intake.row)
    except (SampleError, OutputFault) as err:
        intake = err
    for criterion, round_ in assignment.rounds.items():
        start = time.perf_counter()
        judging = _Criterion(
            sample=sample, mode=mode, criterion=criterion, round=round_, bench=bench
        )
        try:
            judged = await judging.run(intake, deadline)
            if check is not None:
                judged = await asyncio.to_thread(_cross_checked, judged, check)
        except AgentJudgeError:
            raise  # the run's fault: a stopped endpoint, a full disk
        except Exception as err:  # the one place: any other fault is this row's, not the run's
            judged = judging.failed("internal_error", repr(err), notes=(traceback.format_exc(),))
        earlier = assignment.attempts.get(criterion, 0)
        if criterion in assignment.counted:
            earlier -= judged.replayed
        record = replace(
            judged.record,
            seconds=round(time.perf_counter() - start, 3),
            attempts=judged.record.attempts + earlier,
        )
        yield replace(judged, record=record, inputs=inputs)


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

    @property
    def ladder(self) -> Ladder:
        return load_ladder(self.criterion)

    async def run(self, intake: Intake | SampleError | OutputFault, deadline: float) -> Judged:
        if isinstance(intake, OutputFault):
            return Judged(
                record=self._record(status=intake.status, explanation=str(intake)), round=self.round
            )
        if isinstance(intake, SampleError):
            return self.failed(intake.reason, str(intake))
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
        return self._settle(votes, intake)

    async def _converse(self, look: Look, vote: int, deadline: float) -> _Outcome:
        trace = Trace()
        if np.array_equal(look.view.source, look.view.edited):
            return _Outcome(look=look, trace=trace, verdict=self._no_change(), identical=True)
        judge = self.bench.settings.judge
        tools = self.bench.tools if PLANS[self.mode, self.criterion].tools else ()
        loop = Loop(
            judge=self.bench.judge,
            ladder=self.ladder,
            look=look,
            tools=tools if judge.max_steps else (),
            album=Album(self.bench.blobs),
            trace=trace,
            max_steps=judge.max_steps,
            format_retries=judge.format_retries,
            vote=vote,
            round=self.round,
        )
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                return _Outcome(look=look, trace=trace, verdict=await run_loop(loop))
        except JudgeError as err:
            return _Outcome(look=look, trace=trace, error=err)
        except TimeoutError:
            told = f"no verdict within {judge.sample_timeout_s:g} s: raise judge.sample_timeout_s"
            return _Outcome(look=look, trace=trace, error=JudgeError("timeout", told))

    def _no_change(self) -> Verdict:
        level = self.ladder.when_identical
        return Verdict(
            level=level,
            label=self.ladder.label_of(level),
            answers=tuple(self.ladder.path_to(level).items()),
            explanation="the edited picture is identical to the source, pixel for pixel",
        )

    def _settle(self, votes: Sequence[Sequence[_Outcome]], intake: Intake) -> Judged:
        worst = [worst_of(vote) for vote in votes]
        levels = [outcome.level for outcome in worst]
        level = median_level(levels)
        chosen = next((o for o in worst if o.level == level), worst[0])
        outcomes = [o for vote in votes for o in vote]
        record = self._record(
            **self._fate_fields(chosen, scored=level is not None),
            **self._input_fields(intake, chosen),
            per_target=self._per_target(votes[worst.index(chosen)]),
            vote_levels=tuple(levels),
            evidence=tuple(e for o in outcomes for e in o.trace.evidence),
            flags=self._flags(outcomes, levels),
            **self._cost_fields(outcomes),
        )
        replies = tuple(
            {"vote": v, "look": k, "message": message}
            for v, vote in enumerate(votes)
            for k, outcome in enumerate(vote)
            for message in outcome.trace.replies
        )
        replayed = sum(o.trace.ledger.replayed for o in outcomes)
        return Judged(record=record, round=self.round, replayed=replayed, replies=replies)

    def _fate_fields(self, chosen: _Outcome, *, scored: bool) -> dict[str, Any]:
        verdict, error = chosen.verdict, chosen.error
        if not scored or verdict is None:
            reason = error.reason if error else None
            return {"status": "unscored", "reason": reason, "explanation": str(error)}
        return {
            "status": "scored",
            "level": verdict.level,
            "label": verdict.label,
            "score_100": round(score_100(verdict.level), 2),
            "explanation": verdict.explanation,
            "answers": tuple({"question": q, "answer": a} for q, a in verdict.answers),
            "anomalies": verdict.anomalies,
        }

    def _input_fields(self, intake: Intake, chosen: _Outcome) -> dict[str, Any]:
        boxes = intake.row.boxes
        origin = "given" if boxes else None
        if not boxes and chosen.verdict and chosen.verdict.target_box:
            boxes, origin = (chosen.verdict.target_box,), "judge"
        height, width = intake.row.source.shape[:2]
        return {
            "target_boxes": tuple(box.xyxy for box in boxes),
            "box_origin": origin,
            "area_pct": round(100 * covered_area(boxes) / (width * height), 4) if boxes else None,
            "mask_margin_px": chosen.look.mask_margin_px,
            "source_sha256": intake.source_sha256,
            "edited_sha256": intake.edited_sha256,
            "notes": tuple([*intake.notes, *chosen.trace.ledger.notes]),
        }

    def _per_target(self, vote: Sequence[_Outcome]) -> tuple[Mapping[str, Any], ...]:
        return tuple(
            {
                "box": list(box.xyxy),
                "level": outcome.level,
                "label": outcome.verdict.label if outcome.verdict else None,
            }
            for outcome in vote
            for box in outcome.look.targets
        )

    def _flags(self, outcomes: Sequence[_Outcome], levels: Sequence[int | None]) -> tuple[str, ...]:
        flags = {flag for o in outcomes for flag in o.trace.ledger.flags}
        flags |= {
            f"http:{o.error.http_status}" for o in outcomes if o.error and o.error.http_status
        }
        scored = [level for level in levels if level is not None]
        for flag, holds in (
            ("identical", all(o.identical for o in outcomes)),
            ("rejudged", self.round > 0),
            ("votes_apart", bool(scored) and max(scored) - min(scored) > 1),
        ):
            if holds:
                flags.add(flag)
        return tuple(sorted(flags))

    def _cost_fields(self, outcomes: Sequence[_Outcome]) -> dict[str, Any]:
        ledgers = [o.trace.ledger for o in outcomes]
        models = list(dict.fromkeys(m for ledger in ledgers for m in ledger.models))
        return {
            "judge_returned_model": models[-1] if models else None,
            "prompt_hash": next((o.trace.prompt_hash for o in outcomes if o.trace.prompt_hash), ""),
            "tokens_in": _total([ledger.tokens_in for ledger in ledgers]),
            "tokens_out": _total([ledger.tokens_out for ledger in ledgers]),
            "usd": _total([ledger.usd for ledger in ledgers]),
            "attempts": sum(ledger.attempts for ledger in ledgers),
        }

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

    def _record(self, **fields: Any) -> Record:  # noqa: ANN401 - the fields of a Record
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
        )


def worst_of(outcomes: Sequence[_Outcome]) -> _Outcome:
    """The outcome that stands for all targets of one vote (DLEBench A.3, several targets).

    The worst target wins. A target at level 1 decides whatever the others are; otherwise one
    target without a level leaves the criterion without one.
    """
    scored = [o for o in outcomes if o.level is not None]
    lowest = min(scored, key=lambda o: o.level or 0, default=None)
    missing = next((o for o in outcomes if o.level is None), None)
    if lowest is not None and (missing is None or lowest.level == 1):
        return lowest
    return missing if missing is not None else outcomes[0]


def median_level(levels: Sequence[int | None]) -> int | None:
    """The median of the votes, ties to the lower level; None unless over half have a level.

    Example:
        >>> median_level([2, 3, 2]), median_level([2, 3]), median_level([4, None])
        (2, 2, None)
    """
    scored = sorted(level for level in levels if level is not None)
    if 2 * len(scored) <= len(levels):
        return None
    return scored[(len(scored) - 1) // 2]


def _total(parts: Sequence[Any]) -> Any:  # noqa: ANN401 - sums of int or float
    return None if any(part is None for part in parts) else sum(parts)
