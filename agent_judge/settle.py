"""From how conversations ended to one record: targets, votes, and the three fates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from agent_judge.errors import JudgeError
from agent_judge.graph import Trace
from agent_judge.intake import Intake
from agent_judge.levels import Scale
from agent_judge.plan import Look
from agent_judge.records import Record, Verdict, covered_area
from agent_judge.rubrics.rubric import Rubric

_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A record and what stands behind it."""

    record: Record
    round: int
    replayed: int = 0
    """Of the record's `attempts`, those behind replies out of the cache."""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """Signature of the row and its files as they were when they were read."""
    thumbnail: bytes | None = None
    """The row in small (WebP), with the last criterion of a sample that was judged."""
    replies: tuple[Mapping[str, Any], ...] = ()
    """Assistant messages, verbatim, with the vote and the look that they belong to, how many looks
    the vote has, the look's size and whether boxes were asked for: enough to read them again."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How one conversation ended: with a verdict or with an error."""

    look: Look
    trace: Trace
    verdict: Verdict | None = None
    error: JudgeError | None = None
    identical: bool = False
    """The prepared pictures were equal, and no judge was asked."""

    @property
    def level(self) -> float | None:
        """The verdict's level, if there is one."""
        return self.verdict.level if self.verdict else None


def worst_of(levels: Sequence[float | None], scale: Scale) -> int:
    """Index of the target that stands for all targets of one vote (DLEBench A.3).

    The worst target wins. A target at the worst level decides whatever the others are; otherwise a
    target without a level leaves the criterion without one.

    Example:
        >>> ladder = Scale(1, 4)
        >>> worst_of([4, 2], ladder), worst_of([4, None], ladder), worst_of([None, 1], ladder)
        (1, 1, 1)
    """
    scored = [(level, index) for index, level in enumerate(levels) if level is not None]
    lowest, index = min(scored, default=(None, 0))
    return index if len(scored) == len(levels) or lowest == scale.worst else levels.index(None)


def median_level(levels: Sequence[float | None]) -> float | None:
    """The median of the votes, ties to the lower level; None unless over half have a level.

    Example:
        >>> median_level([2, 3, 2]), median_level([2, 3]), median_level([4, None])
        (2, 2, None)
    """
    scored = sorted(level for level in levels if level is not None)
    if 2 * len(scored) <= len(levels):
        return None
    return scored[(len(scored) - 1) // 2]


def are_apart(levels: Sequence[float | None], scale: Scale) -> bool:
    """Whether two votes are two levels or more apart; over half of a scale that is not whole.

    Example:
        >>> are_apart([1, 3], Scale(1, 4)), are_apart([0.2, 0.6], Scale(0, 1, whole=False))
        (True, False)
    """
    scored = [level for level in levels if level is not None]
    most = 1 if scale.whole else (scale.best - scale.worst) / 2
    return bool(scored) and max(scored) - min(scored) > most


def settled(votes: Sequence[Sequence[Outcome]], intake: Intake, rubric: Rubric) -> dict[str, Any]:
    """The fields of the record that conversations lead to.

    Args:
        votes: for each vote the outcome of each look, in the order of the targets.
        intake: the row.
        rubric: of the criterion.
    """
    scale = rubric.scale
    worst = [vote[worst_of([o.level for o in vote], scale)] for vote in votes]
    levels = [outcome.level for outcome in worst]
    level = median_level(levels)
    chosen = next((o for o in worst if o.level == level), worst[0])
    outcomes = [o for vote in votes for o in vote]
    return {
        **(
            verdict_fields(chosen.verdict, scale)
            if level is not None and chosen.verdict
            else _why(worst)
        ),
        **_input_fields(intake, chosen),
        "per_target": _per_target(votes[worst.index(chosen)]),
        "vote_levels": tuple(levels),
        "evidence": tuple(e for o in outcomes for e in o.trace.evidence),
        "flags": _flags(outcomes, levels, scale),
        **_cost_fields(outcomes),
    }


def replies_of(votes: Sequence[Sequence[Outcome]]) -> tuple[Mapping[str, Any], ...]:
    """The assistant messages of all conversations, see `Judged.replies`."""
    return tuple(
        {
            "vote": v,
            "look": k,
            "looks": len(vote),
            "size_wh": list(outcome.look.view.size_wh),
            "boxes_asked": not outcome.look.cropped,
            "message": message,
        }
        for v, vote in enumerate(votes)
        for k, outcome in enumerate(vote)
        for message in outcome.trace.replies
    )


def _why(worst: Sequence[Outcome]) -> dict[str, Any]:
    error = next(o.error for o in worst if o.error is not None)
    return {"status": "unscored", "reason": error.reason, "explanation": str(error)}


def verdict_fields(verdict: Verdict, scale: Scale) -> dict[str, Any]:
    """The fields of a scored record that its verdict fills."""
    return {
        "status": "scored",
        "level": verdict.level,
        "label": verdict.label,
        "score_100": round(scale.score_100(verdict.level), 2),
        "explanation": verdict.explanation,
        "answers": tuple({"question": q, "answer": a} for q, a in verdict.answers),
        "anomalies": verdict.anomalies,
    }


def _input_fields(intake: Intake, chosen: Outcome) -> dict[str, Any]:
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
        "notes": (*intake.notes, *chosen.trace.ledger.notes),
    }


def _per_target(vote: Sequence[Outcome]) -> tuple[Mapping[str, Any], ...]:
    return tuple(
        {
            "box": list(box.xyxy),
            "level": outcome.level,
            "label": outcome.verdict.label if outcome.verdict else None,
        }
        for outcome in vote
        for box in outcome.look.targets
    )


def _flags(
    outcomes: Sequence[Outcome], levels: Sequence[float | None], scale: Scale
) -> tuple[str, ...]:
    flags = {flag for o in outcomes for flag in o.trace.ledger.flags}
    flags |= {f"http:{o.error.http_status}" for o in outcomes if o.error and o.error.http_status}
    if all(o.identical for o in outcomes):
        flags.add("identical")
    if are_apart(levels, scale):
        flags.add("votes_apart")
    return tuple(sorted(flags))


def _cost_fields(outcomes: Sequence[Outcome]) -> dict[str, Any]:
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


def _total(parts: Sequence[_Number | None]) -> _Number | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None
