"""Networks of the tools as a Ray actor of their own: loaded once, for many workers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import ray

from agent_judge.metrics import networks
from agent_judge.metrics.clip_encoder import ClipEncoder
from agent_judge.metrics.directional import Vectors
from agent_judge.metrics.networks import shared_clip, shared_segmenter
from agent_judge.metrics.pair import Mask
from agent_judge.metrics.segmenter import Segmenter
from agent_judge.settings import ToolSettings
from agent_judge.tools import loaded
from agent_judge.tools.base import RGB
from agent_judge.tools.detector import Candidate
from agent_judge.tools.loaded import shared_detector, shared_upscaler
from agent_judge.tools.super_resolution import NETWORKS, Floats, Upscaler


def are_shared(settings: ToolSettings, *, on_gpu: bool) -> bool:
    """Whether there is anything to share: the networks in the package run beside each worker."""
    named = (settings.detector, settings.clip, settings.segmenter)
    return on_gpu or any(named) or settings.enhancer not in NETWORKS


class Networks:
    """The actor. It keeps nothing: when it is lost, Ray starts another and calls again."""

    def __init__(self, settings: ToolSettings, folder: Path) -> None:
        """Loads nothing yet: a failure here could not be told as what it is.

        Args:
            settings: which networks.
            folder: where the driver runs, for paths in the settings.
        """
        if folder.is_dir():
            os.chdir(folder)
        self._settings = settings

    def get_ready(self, *, on_gpu: bool) -> tuple[str | None, Mapping[str, Any] | None]:
        """Load what is shared; the detector's name, and the facts about the upscaler.

        Args:
            on_gpu: whether the upscaler is worth sharing though it is in the package.

        Raises:
            InputError: there is no such device, or the networks' packages are not there.
            WeightsError: weights are missing or damaged.
        """
        facts, tools = None, self._settings
        is_own = tools.enhancer not in NETWORKS
        if on_gpu or is_own:
            upscaler = shared_upscaler(tools.enhancer, tools.device)
            if is_own or upscaler.device != "cpu":  # without torch here, each does it better alone
                facts = {name: value for name, value in vars(upscaler).items() if name != "run"}
        if tools.clip:
            shared_clip(tools.clip, tools.device)
        if tools.segmenter:
            shared_segmenter(tools.segmenter, tools.device)
        detector = shared_detector(tools.detector, tools.device) if tools.detector else None
        return detector.name if detector else None, facts

    def find(self, pictures: Sequence[RGB], phrases: Sequence[str]) -> list[tuple[Candidate, ...]]:
        """As `Detector.find`."""
        detector = shared_detector(self._settings.detector, self._settings.device)
        return detector.find([np.array(picture) for picture in pictures], phrases)

    def upscale(self, crop: Floats) -> Floats:
        """As `Upscaler.run`."""
        run = shared_upscaler(self._settings.enhancer, self._settings.device).run
        return run(np.array(crop))

    def encode(self, job: Any) -> Vectors:  # noqa: ANN401 - the encoder's own
        """As `ClipEncoder.run`."""
        return shared_clip(str(self._settings.clip), self._settings.device).run(job)

    def segment(self, job: Any) -> Mask:  # noqa: ANN401 - the segmenter's own
        """As `Segmenter.run`."""
        run = shared_segmenter(str(self._settings.segmenter), self._settings.device).run
        return run(replace(job, window=np.array(job.window)))


@dataclass(frozen=True)
class FarNetworks:
    """The way to that actor; what comes over it cannot be written to, so it is copied."""

    actor: Any
    """Handle of a `Networks`."""
    settings: ToolSettings
    detector: str | None
    """Name of its detector."""
    upscaler: Mapping[str, Any] | None
    """Fields of its upscaler, without `run`."""

    def lend(self) -> None:
        """Let the tools of this process use these in place of loading their own."""
        loaded.lend(
            detector=None if self.detector is None else FarDetector(self.actor, self.detector),
            upscaler=None
            if self.upscaler is None
            else Upscaler(**self.upscaler, run=_far(self.actor.upscale)),
        )
        clip, segmenter = self.settings.clip, self.settings.segmenter
        networks.lend(
            clip=ClipEncoder(name=clip, run=_far(self.actor.encode)) if clip else None,
            segmenter=Segmenter(name=segmenter, run=_far(self.actor.segment))
            if segmenter
            else None,
        )


@dataclass(frozen=True)
class FarDetector:
    """A `Detector`."""

    actor: Any
    name: str
    """Network and weights, for the reply."""

    def find(self, pictures: Sequence[RGB], phrases: Sequence[str]) -> list[tuple[Candidate, ...]]:
        """The candidates in each picture, the best first."""
        found: list[tuple[Candidate, ...]] = _result(self.actor.find.remote(pictures, phrases))
        return found


def _far(method: Any) -> Callable[[Any], Any]:  # noqa: ANN401 - of the actor
    return lambda job: np.array(_result(method.remote(job)))


def _result(reference: Any) -> Any:  # noqa: ANN401 - whatever the call gives
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as err:
        raise err.cause from None
