"""DICE's way: changes are named in one conversation, then each is judged in one of its own.

The level is the share of coherent changes. A vote is both steps anew. Where one change could not be
judged there is no share, so the criterion ends with that reason and the others are not asked about.
Pictures in which no change is found are at the worst level, flagged `no_change`: nothing that was
asked for was done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent_judge.album import Renderings
from agent_judge.case import Case
from agent_judge.closeup import about_change
from agent_judge.errors import JudgeError
from agent_judge.graph import Trace
from agent_judge.intake import Intake
from agent_judge.judges.changes_reply import Change, NamedChanges
from agent_judge.plan import Look, white_boxes
from agent_judge.records import Box, Verdict
from agent_judge.rubrics.changes import NO_CHANGE, Changes
from agent_judge.settle import Judged, Outcome, settled

_MOSTLY = 0.5
"""A change belongs to a target when they share this much of the smaller of the two."""


@dataclass(kw_only=True)
class _Decided:
    """One change on its way: named, then judged."""

    change: Change
    inside_target: bool | None
    """Whether it belongs to a target; None where the row has no boxes."""
    trace: Trace
    verdict: Verdict | None = None

    def to_json(self) -> dict[str, Any]:
        """Its entry in the record's `per_target`."""
        return {
            "box": list(self.change.box.xyxy),
            "level": self.verdict.level if self.verdict else None,
            "label": self.verdict.label if self.verdict else None,
            "command": self.change.command,
            "element": self.change.element,
            "inside_target": self.inside_target,
        }


@dataclass(kw_only=True)
class _Round:
    """One vote."""

    outcome: Outcome
    decided: Sequence[_Decided]


async def by_changes(case: Case, intake: Intake, looks: tuple[Look, ...]) -> Judged:
    """Name what changed, judge each change; the median vote counts."""
    (look,) = looks
    votes = range(case.bench.settings.judge.votes)
    rounds = [await _round(case, intake, look, vote) for vote in votes]
    fields = settled([[r.outcome] for r in rounds], intake, case.rubric)
    chosen = next((r for r in rounds if r.outcome.level == fields.get("level")), rounds[0])
    fields["per_target"] = tuple(one.to_json() for one in chosen.decided)
    return Judged(
        record=case.record(**fields),
        round=case.round,
        replayed=sum(r.outcome.trace.ledger.replayed for r in rounds),
        replies=tuple(_replies(rounds)),
    )


async def _round(case: Case, intake: Intake, look: Look, vote: int) -> _Round:
    decided: list[_Decided] = []

    async def find(trace: Trace) -> Verdict:
        rubric = _rubric(case)
        named: NamedChanges = await case.ask(rubric.first_step, look, vote, trace)
        trace.ledger.notes += named.notes
        decided.extend(_undecided(case, intake, named.changes, trace))
        for one in decided:
            await _decide(case, intake, look, vote, one)
        return _share(decided, rubric)

    outcome = await case.outcome(look, find)
    if not decided and outcome.verdict is not None:
        outcome.trace.ledger.flags |= _flags_of_none(look)
    return _Round(outcome=outcome, decided=decided)


def _rubric(case: Case) -> Changes:
    assert isinstance(case.rubric, Changes), f"{case.criterion} names no changes"
    return case.rubric


def _undecided(
    case: Case, intake: Intake, changes: Sequence[Change], naming: Trace
) -> Iterator[_Decided]:
    """The changes in the order in which they were named; all cost goes to one ledger."""
    row = intake.row
    grown = [box for box, _ in white_boxes(row.boxes, row.view.size_wh, case.bench.settings.oracle)]
    for change in changes:
        inside = any(_belongs(change.box, target) for target in grown) if grown else None
        yield _Decided(change=change, inside_target=inside, trace=Trace(ledger=naming.ledger))


def _belongs(box: Box, target: Box) -> bool:
    width = min(box.x2, target.x2) - max(box.x1, target.x1)
    height = min(box.y2, target.y2) - max(box.y1, target.y1)
    shared = max(0.0, width) * max(0.0, height)
    return shared >= _MOSTLY * min(box.area, target.area)


async def _decide(case: Case, intake: Intake, naming: Look, vote: int, one: _Decided) -> None:
    """Judge one change.

    Raises:
        JudgeError: it could not be judged.
    """
    look = await asyncio.to_thread(
        about_change,
        intake.row,
        case.criterion,
        one.change,
        case.bench.settings.oracle,
        inside_target=one.inside_target if naming.targets else None,
    )
    # Its pictures are its own: they go when it is judged, however many changes a row has.
    apart = replace(case, prepared=Renderings())
    try:
        one.verdict = await apart.ask(
            _rubric(case).decision, look, vote, one.trace, with_tools=False
        )
    except JudgeError as err:
        told = f"{one.change}: {err}"
        raise JudgeError(err.reason, told, http_status=err.http_status) from err


def _flags_of_none(look: Look) -> set[str]:
    """The flags of a row in which no change was named."""
    clear = any(not region["edge_only"] for region in look.task["regions"])
    return {"no_change", "claims_no_change_but_changed"} if clear else {"no_change"}


def _share(decided: Sequence[_Decided], rubric: Changes) -> Verdict:
    """The verdict on the row: how many of its changes are at the decision's best level."""
    if not decided:
        return Verdict(
            level=rubric.scale.worst,
            label=NO_CHANGE,
            answers=(),
            explanation="no change was found: nothing that was asked for was done",
        )
    best = rubric.decision.scale.best
    as_wanted = rubric.decision.label_of(best).casefold()
    verdicts = [(one.change, one.verdict) for one in decided if one.verdict is not None]
    good = [change for change, verdict in verdicts if verdict.level == best]
    return Verdict(
        level=len(good) / len(decided),
        label=f"{len(good)} of {len(decided)} {as_wanted}",
        answers=(),
        explanation="\n".join(f"{c}: {v.label}. {v.explanation}" for c, v in verdicts),
        anomalies=tuple(
            {"what": str(change), "box": list(change.box.xyxy)}
            for change, verdict in verdicts
            if verdict.level != best
        ),
    )


def _replies(rounds: Sequence[_Round]) -> Iterator[Mapping[str, Any]]:
    """The assistant messages of all conversations: look 0 named, the others judged.

    How many looks a vote has is not told, so `rescore` leaves them alone: which changes are judged
    follows from how the first look was read.
    """
    for vote, one in enumerate(rounds):
        traces = [("what changed", one.outcome.trace)]
        traces += [(str(decided.change), decided.trace) for decided in one.decided]
        for number, (about, trace) in enumerate(traces):
            for message in trace.replies:
                yield {
                    "vote": vote,
                    "look": number,
                    "about": about,
                    "size_wh": list(one.outcome.look.view.size_wh),
                    "boxes_asked": number == 0,
                    "message": message,
                }
