"""From settings to a judge: the embedded one, or a model behind an endpoint."""

from __future__ import annotations

import os

from agent_judge.judges.base import Judge, ReplyCache
from agent_judge.judges.budget import Purse
from agent_judge.settings import MEASURED, Settings

_LMM_JOBS = 8


def jobs_of(settings: Settings) -> int:
    """How many at once, as set; else the cores for the embedded judge, 8 for an endpoint.

    Of the embedded judge these are samples, of an endpoint requests.
    """
    if settings.run.jobs is not None:
        return settings.run.jobs
    return (os.cpu_count() or 1) if settings.judge.model in (None, MEASURED) else _LMM_JOBS


def choose_judge(settings: Settings, cache: ReplyCache | None, purse: Purse | None = None) -> Judge:
    """The judge that the settings name.

    Args:
        settings: with `judge.model` filled in; None counts as the embedded judge.
        cache: saved replies of earlier requests, or None.
        purse: who allows spending; None for a budget of its own, as the settings cap it.

    Raises:
        InputError: the endpoint's profile or key is missing or wrong.
    """
    if settings.judge.model in (None, MEASURED):
        from agent_judge.judges.measured import MeasuredJudge

        return MeasuredJudge()
    from agent_judge.judges.lmm import LmmJudge

    return LmmJudge.from_settings(settings, cache, at_once=jobs_of(settings), purse=purse)
