"""Networks loaded once a process and device, whoever asks first."""

from __future__ import annotations

import ctypes
import importlib.util
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

from agent_judge.errors import InputError, ToolError, WeightsError
from agent_judge.tools.detector import Detector
from agent_judge.tools.super_resolution import Upscaler, network_named
from agent_judge.tools.weights import KNOWN, cache_folder, checked_files, known

Device = Literal["cpu", "cuda"]
_Network = TypeVar("_Network")
_loading = threading.RLock()


@dataclass
class _Lent:
    """Networks that live in another process."""

    detector: Detector | None = None
    upscaler: Upscaler | None = None


_lent = _Lent()


def lend(*, detector: Detector | None, upscaler: Upscaler | None) -> None:
    """From now on take these wherever this process wants a network; None: load it here."""
    _lent.detector, _lent.upscaler = detector, upscaler


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
    """Whether there is an NVIDIA driver, looked for as torch does: asking it takes seconds."""
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    return True


def once(load: Callable[[str, Device], _Network], name: str, device: str, setting: str) -> _Network:
    """What a cached loader gives for a network of `models`, from one thread at a time.

    Args:
        load: Takes the name and the device; it is kept by `functools.cache`.
        name: What the setting names.
        device: `cpu`, `cuda` or `auto`.
        setting: For messages.

    Raises:
        InputError: there is no such device, or the packages of `models` cannot be imported.
    """
    with _loading:
        try:
            return load(name, device_for(device))
        except ImportError as err:
            raise InputError(
                f"{setting} is set, but its packages cannot be imported here: "
                f"{' '.join(str(err).split())}; pip install 'agent-judge[models]'"
            ) from err


def shared_upscaler(name: str, device: str = "auto") -> Upscaler:
    """The one loaded copy of a super-resolution network on a device.

    CUDA and `.pth` files run by RealESRGANer. The package's networks run by ncnn on the CPU, even
    where torch is installed: that takes half the time, spares the seconds that importing torch
    takes, and gives the same bytes on every machine (docs/tools.md). So they do where RealESRGANer
    cannot be imported; the upscaler says where it runs.

    Args:
        name: As in `super_resolution.network_named`.
        device: `cpu`, `cuda` or `auto`.

    Raises:
        InputError: there is no such device.
        WeightsError: the network's files are missing or damaged, or need torch.
    """
    with _loading:
        return _lent.upscaler or _upscaler(name, device_for(device))


@cache
def _upscaler(name: str, device: Device) -> Upscaler:
    from agent_judge.tools.ncnn_runtime import load_ncnn
    from agent_judge.tools.torch_runtime import load_realesrgan

    network = network_named(name)
    if name in {entry.name for entry in KNOWN}:
        checked_files(known(name), cache_folder())
    if device == "cuda" or isinstance(network.files, Path):
        try:
            return load_realesrgan(network, device)
        except ImportError:
            pass
    return load_ncnn(network)


def shared_detector(weights: str | None, device: str = "auto") -> Detector:
    """The one loaded copy of a grounding detector on a device.

    Args:
        weights: A known name (`agent-judge weights list`), a `.pth` file with BERT's `vocab.txt`
            beside it, a folder or a hub name of transformers' GroundingDino; None for none.
        device: `cpu`, `cuda` or `auto`.

    Raises:
        InputError: there is no such device, or the packages of `models` cannot be imported.
        ToolError: there is no detector in this run.
        WeightsError: the weights are missing or damaged.
    """
    if _lent.detector is not None:
        return _lent.detector
    if weights is None:
        raise ToolError(
            "grounding is not available in this run: search with zoom_in instead. (To have it: "
            "pip install 'agent-judge[models]', agent-judge weights fetch groundingdino-swint, "
            "and set tools.detector to groundingdino-swint.)"
        )
    return once(_detector, weights, device, "tools.detector")


@cache
def _detector(weights: str, device: Device) -> Detector:
    from agent_judge.tools.grounding_dino import load_package, load_transformers

    if weights in {entry.name for entry in KNOWN if entry.setting == "tools.detector"}:
        checkpoint, vocabulary = checked_files(known(weights), cache_folder())
        return load_package(checkpoint, vocabulary, device)
    path = Path(weights)
    if path.suffix != ".pth":
        return load_transformers(weights, device)
    vocabulary = path.with_name("vocab.txt")
    for needed in (path, vocabulary):
        if not needed.is_file():
            raise WeightsError(f"tools.detector needs {needed}, which is not there")
    return load_package(path, vocabulary, device)
