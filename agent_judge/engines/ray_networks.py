"""Networks of the tools as a Ray actor of their own: loaded once, for many workers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import ray

from agent_judge.settings import ToolSettings
from agent_judge.tools.base import RGB
from agent_judge.tools.detector import Candidate
from agent_judge.tools.loaded import lend, shared_detector, shared_upscaler
from agent_judge.tools.super_resolution import NETWORKS, Floats, Upscaler


def are_shared(settings: ToolSettings, *, on_gpu: bool) -> bool:
    """Whether there is anything to share: the networks in the package run beside each worker."""
    return on_gpu or settings.detector is not None or settings.enhancer not in NETWORKS


class Networks:
    """The actor. It keeps nothing: when it is lost, Ray starts another and calls again."""

    def __init__(self, settings: ToolSettings) -> None:
        self._settings = settings

    def get_ready(
        self, folder: Path, *, on_gpu: bool
    ) -> tuple[str | None, Mapping[str, Any] | None]:
        """Load what is shared; the detector's name, and the facts about the upscaler.

        Args:
            folder: where the driver runs, for paths in the settings.
            on_gpu: whether the upscaler is worth sharing though it is in the package.

        Raises:
            InputError: there is no such device, or the networks' packages are not there.
            WeightsError: weights are missing or damaged.
        """
        if folder.is_dir():
            os.chdir(folder)
        facts, tools = None, self._settings
        is_own = tools.enhancer not in NETWORKS
        if on_gpu or is_own:
            upscaler = shared_upscaler(tools.enhancer, tools.device)
            if is_own or upscaler.device != "cpu":  # without torch here, each does it better alone
                facts = {name: value for name, value in vars(upscaler).items() if name != "run"}
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


@dataclass(frozen=True)
class FarNetworks:
    """The way to that actor; what comes over it cannot be written to, so it is copied."""

    actor: Any
    """Handle of a `Networks`."""
    detector: str | None
    """Name of its detector."""
    upscaler: Mapping[str, Any] | None
    """Fields of its upscaler, without `run`."""

    def lend(self) -> None:
        """Let the tools of this process use these in place of loading their own."""
        lend(
            detector=None if self.detector is None else FarDetector(self.actor, self.detector),
            upscaler=None if self.upscaler is None else Upscaler(**self.upscaler, run=self._run),
        )

    def _run(self, crop: Floats) -> Floats:
        return np.array(_result(self.actor.upscale.remote(crop)))


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


def _result(reference: Any) -> Any:  # noqa: ANN401 - whatever the call gives
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as err:
        raise err.cause from None
