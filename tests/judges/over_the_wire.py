"""A judge behind a loopback endpoint, in the loop with real tools."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import numpy as np

from agent_judge.album import Album
from agent_judge.graph import Loop, Trace
from agent_judge.judges.base import Ledger, Message, ReplyCache, Request
from agent_judge.judges.lmm import LmmJudge
from agent_judge.judges.reply import answer_schema
from agent_judge.plan import Look
from agent_judge.records import Criterion
from agent_judge.rubrics.protocol import load_ladder, rubric_version
from agent_judge.settings import Settings
from agent_judge.testing import LoopbackEndpoint, Policy
from agent_judge.tools.base import Tool, View
from agent_judge.tools.difference import DifferenceTool
from agent_judge.tools.zoom_in import ZoomInTool


def a_view(size_wh: tuple[int, int] = (160, 120), *, noise: bool = False) -> View:
    width, height = size_wh
    if noise:
        source = np.random.default_rng(3).integers(0, 256, (height, width, 3)).astype(np.uint8)
    else:  # a quiet ramp: quick to encode
        ramp = np.linspace(90, 140, width).astype(np.uint8)
        source = np.repeat(np.tile(ramp, (height, 1))[..., None], 3, axis=2)
    edited = source.copy()
    edited[height // 3 : height // 3 + 10, width // 2 : width // 2 + 12] = (220, 20, 20)
    return View(source=source, edited=edited)


@asynccontextmanager
async def judge_at(
    policy: Policy,
    *,
    model: str = "judge",
    cache: ReplyCache | None = None,
    endpoint: dict[str, Any] | None = None,
    prices: dict[str, Any] | None = None,
    api_key: str | None = None,
    models: Sequence[str] = ("judge",),
    **judge: Any,
) -> AsyncIterator[tuple[LmmJudge, LoopbackEndpoint]]:
    """A judge and its endpoint; no waiting between tries unless asked for."""
    with LoopbackEndpoint(policy, models=models, api_key=api_key) as loopback:
        values = {"backoff_max_s": 0, "api_key": api_key, **judge}
        settings = Settings.model_validate(
            {
                "judge": {"model": model, "base_url": loopback.base_url, **values},
                "endpoint": endpoint or {},
                "prices": prices or {},
            }
        )
        lmm = LmmJudge.from_settings(settings, cache)
        try:
            yield lmm, loopback
        finally:
            await lmm.close()


def a_loop(
    judge: LmmJudge,
    *,
    view: View | None = None,
    criterion: Criterion = "IF",
    tools: tuple[Tool, ...] = (ZoomInTool(), DifferenceTool()),
    cropped: bool = False,
) -> Loop:
    task = {"criterion": criterion, "instruction": "make it red"}
    return Loop(
        judge=judge,
        rubric=load_ladder(criterion),
        look=Look(view=view or a_view(), task=task, cropped=cropped),
        tools=tools,
        album=Album(),
        trace=Trace(),
        max_steps=6,
        format_retries=2,
    )


def a_request(
    *, messages: Sequence[Message] = (), tools: Sequence[dict[str, Any]] = (), **fields: Any
) -> Request:
    """One turn outside the loop: a system message, one small picture, then `messages`."""
    loop_album = fields.pop("album", None) or Album()
    url = loop_album.show("source", a_view().source)
    picture = {"type": "image_url", "image_url": {"url": url}}
    opening: list[Message] = [
        {"role": "system", "content": "judge"},
        {"role": "user", "content": [{"type": "text", "text": "The source picture:"}, picture]},
    ]
    return Request(
        messages=[*opening, *messages],
        tools=tools,
        rubric_version=rubric_version(),
        answer_schema=answer_schema(load_ladder("IF"), boxes=True),
        album=loop_album,
        ledger=fields.pop("ledger", None) or Ledger(),
        **fields,
    )
