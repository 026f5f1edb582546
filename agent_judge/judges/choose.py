"""From settings to a judge: the embedded one, or a model behind an endpoint."""

from __future__ import annotations

from agent_judge.judges.base import Judge, ReplyCache
from agent_judge.settings import MEASURED, Settings


def choose_judge(settings: Settings, cache: ReplyCache | None) -> Judge:
    """The judge that the settings name.

    Args:
        settings: with `judge.model` filled in; None counts as the embedded judge.
        cache: saved replies of earlier requests, or None.

    Raises:
        InputError: the endpoint's profile or key is missing or wrong.
    """
    if settings.judge.model in (None, MEASURED):
        from agent_judge.judges.measured import MeasuredJudge

        return MeasuredJudge()
    from agent_judge.judges.lmm import LmmJudge

    return LmmJudge.from_settings(settings, cache)
