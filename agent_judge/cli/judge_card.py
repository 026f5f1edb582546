"""What an audit says of a run's judge, for whatever prints the run's figures."""

from __future__ import annotations

from pathlib import Path

from agent_judge.rubrics.protocol import DEFAULT_CRITERIA
from agent_judge.run import Run
from agent_judge.settings import MEASURED

NO_EXAM = (
    f"audits plant edits for {' and '.join(DEFAULT_CRITERIA)} only: no exam tells how well this "
    "judge does here"
)


def card_lines(run: Run, folder: Path | None = None) -> tuple[str, ...]:
    """One line for each mode and criterion at the run's own sizes, or that there was no audit.

    No exam is planted for the criteria of other protocols than DLEBench.

    Args:
        run: whose judge it is.
        folder: where `audit --cards` put the card; this user's cards when None.

    Raises:
        InputError: the judge's card cannot be read.
    """
    # Here, because it brings the exam's painters: a run would start a quarter later.
    from agent_judge.audit.card import cards_folder, describe, find_card

    if not set(run.criteria) <= set(DEFAULT_CRITERIA):
        return (NO_EXAM,)
    judge = run.store.binding.get("judge", {}).get("model") or MEASURED
    return describe(find_card(judge, folder or cards_folder()), run.store.outcomes())
