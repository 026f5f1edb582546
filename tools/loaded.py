"""Networks loaded once a process and device, whoever asks first."""

from __future__ import annotations

import importlib.util
import threading
from ctypes.util import find_library
from functools import cache
from typing import Literal

from agent_judge.errors import InputError
from agent_judge.tools.super_resolution import NETWORKS, NetworkName, Upscaler

Device = Literal["cpu", "cuda"]
_loading = threading.RLock()


@cache
def device_for(asked: str) -> Device:
    """Where networks run.

    Args:
        asked: `cpu`, `cuda`, or `auto` for CUDA where torch sees it.

    Raises:
        InputError: CUDA is asked for and torch does not see it, or the word is another.
    """
    if asked not in ("auto", "cpu", "cuda"):
        raise InputError(f"tools.device must be auto, cpu or cuda, got {asked!r}")
    if asked == "cpu" or (asked == "auto" and not _has_driver()):
        return "cpu"
    if importlib.util.find_spec("torch") is not None:
        import torch

        if torch.cuda.is_available():
            return "cuda"
    if asked == "cuda":
        raise InputError(
            "tools.device is cuda, but torch sees no such device here: set it to auto or cpu, "
            "or pip install 'agent-judge[models]' on a machine with an NVIDIA driver"
        )
    return "cpu"


def _has_driver() -> bool:
    """Whether there is an NVIDIA driver: asking torch itself takes seconds."""
    return any(find_library(name) is not None for name in ("cuda", "nvcuda"))


def shared_upscaler(name: NetworkName, device: str = "auto") -> Upscaler:
    """The one loaded copy of a super-resolution network on a device.

    CUDA runs RealESRGANer; the CPU runs ncnn, which is many times faster there than torch and
    gives the same picture within one grey level (docs/tools.md).

    Raises:
        InputError: there is no such device.
        WeightsError: the network's files are missing or damaged.
    """
    with _loading:
        return _upscaler(name, device_for(device))


@cache
def _upscaler(name: NetworkName, device: Device) -> Upscaler:
    if device == "cpu":
        from agent_judge.tools.ncnn_runtime import load_ncnn

        return load_ncnn(NETWORKS[name])
    from agent_judge.tools.torch_runtime import load_realesrgan

    return load_realesrgan(NETWORKS[name], device)
