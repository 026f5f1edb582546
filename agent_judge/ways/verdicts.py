"""The usual way: a verdict on each look, as often as there are votes."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable

from agent_judge.case import Case
from agent_judge.graph import Trace
from agent_judge.intake import Intake
from agent_judge.plan import Look
from agent_judge.records import Verdict
from agent_judge.settle import Judged, replies_of, settled


async def by_verdicts(case: Case, intake: Intake, looks: tuple[Look, ...]) -> Judged:
    """One conversation for each look and vote."""
    return await voted(case, intake, looks, functools.partial(case.ask, case.rubric))


async def voted(
    case: Case,
    intake: Intake,
    looks: tuple[Look, ...],
    find: Callable[[Look, int, Trace], Awaitable[Verdict]],
) -> Judged:
    """The worst look and the median vote count.

    Args:
        case: the criterion.
        intake: the row.
        looks: in the order of the targets.
        find: the verdict on a look, for one vote; what happens is written into the trace.
    """
    votes = [
        [await case.outcome(look, functools.partial(find, look, vote)) for look in looks]
        for vote in range(case.bench.settings.judge.votes)
    ]
    record = case.record(**settled(votes, intake, case.rubric))
    replayed = sum(o.trace.ledger.replayed for vote in votes for o in vote)
    return Judged(record=record, round=case.round, replayed=replayed, replies=replies_of(votes))
