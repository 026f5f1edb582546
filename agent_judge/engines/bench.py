"""From settings to what samples are judged with: the judge, its tools, its networks."""

from __future__ import annotations

from agent_judge.album import BlobSink
from agent_judge.case import Bench
from agent_judge.judges.base import ReplyCache
from agent_judge.judges.budget import Purse
from agent_judge.judges.choose import choose_judge
from agent_judge.metrics.networks import shared_clip, shared_segmenter
from agent_judge.settings import Settings
from agent_judge.tools.base import Tool
from agent_judge.tools.loaded import device_for, shared_detector, shared_upscaler
from agent_judge.tools.super_resolution import NETWORKS
from agent_judge.tools.toolbox import build_tools


def tools_of(settings: Settings) -> tuple[Tool, ...]:
    """The tools as the settings shape them."""
    return build_tools(
        enhance_crops=settings.tools.enhance_crops,
        max_crops=settings.tools.max_crops,
        detector=settings.tools.detector,
        enhancer=settings.tools.enhancer,
        device=settings.tools.device,
    )


def load_networks(settings: Settings) -> None:
    """Loads the networks that the settings name, so that what is missing ends no started run.

    Raises:
        InputError: the device is not there, or a network's packages are not.
        WeightsError: weights are missing or damaged.
    """
    tools = settings.tools
    if tools.device == "cuda":
        device_for(tools.device)
    if tools.detector is not None:
        shared_detector(tools.detector, tools.device)
    if tools.clip is not None:
        shared_clip(tools.clip, tools.device)
    if tools.segmenter is not None:
        shared_segmenter(tools.segmenter, tools.device)
    if tools.enhancer not in NETWORKS:
        shared_upscaler(tools.enhancer, tools.device)


def bench_of(
    settings: Settings,
    *,
    replies: ReplyCache | None = None,
    blobs: BlobSink | None = None,
    purse: Purse | None = None,
) -> Bench:
    """What the settings judge with.

    Args:
        settings: with `judge.model` filled in; None counts as the embedded judge.
        replies: those paid for before.
        blobs: where evidence pictures are kept.
        purse: who allows spending; None for caps of this bench alone.

    Raises:
        InputError: the judge or a tool cannot be set up from these settings.
        WeightsError: weights that the settings name are missing or damaged.
    """
    load_networks(settings)
    return Bench(
        judge=choose_judge(settings, replies, purse),
        tools=tools_of(settings),
        settings=settings,
        blobs=blobs,
    )
