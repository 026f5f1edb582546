"""The usual way: the judge is asked about each look, as often as there are votes."""

from __future__ import annotations

from agent_judge.case import Case
from agent_judge.intake import Intake
from agent_judge.plan import Look
from agent_judge.settle import Judged, replies_of, settled


async def by_verdicts(case: Case, intake: Intake, looks: tuple[Look, ...]) -> Judged:
    """One conversation for each look and vote; the worst look and the median vote count."""
    votes = [
        [await case.converse(look, vote) for look in looks]
        for vote in range(case.bench.settings.judge.votes)
    ]
    record = case.record(**settled(votes, intake, case.rubric))
    replayed = sum(o.trace.ledger.replayed for vote in votes for o in vote)
    return Judged(record=record, round=case.round, replayed=replayed, replies=replies_of(votes))
