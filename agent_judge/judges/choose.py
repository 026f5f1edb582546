"""From settings to a judge: the embedded one, or a model behind an endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_judge.judges.base import Judge
from agent_judge.settings import MEASURED, Settings

if TYPE_CHECKING:
    from agent_judge.judges.lmm import ReplyCache


def choose_judge(settings: Settings, cache: ReplyCache | None = None) -> Judge:
    """The judge that the settings name.

    Args:
        settings: `judge.model` decides; a base URL without a model was resolved before.
        cache: saved replies of earlier requests, or None.

    Raises:
        InputError: the endpoint's profile or key is missing or wrong.
    """
    if settings.judge.model == MEASURED:
        from agent_judge.judges.measured import MeasuredJudge

        return MeasuredJudge()
    from agent_judge.judges.lmm import LmmJudge

    return LmmJudge.from_settings(settings, cache)
