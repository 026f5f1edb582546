"""BPM's two networks, each loaded once a process and device, whoever asks first."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import TypeVar

from agent_judge.errors import InputError
from agent_judge.metrics import clip_encoder, segmenter
from agent_judge.metrics.clip_encoder import ClipEncoder, load_clip
from agent_judge.metrics.segmenter import Segmenter, load_segmenter
from agent_judge.tools.loaded import Device, device_for

_loading = threading.RLock()
_Network = TypeVar("_Network")


def shared_clip(name: str, device: str) -> ClipEncoder:
    """The one loaded copy of a CLIP-like network on a device.

    Args:
        name: a folder or a hub name of transformers.
        device: `cpu`, `cuda` or `auto`.

    Raises:
        InputError: there is no such device, or the packages of `models` cannot be imported.
        WeightsError: there is no such checkpoint here or on the hub.
    """
    return _once(_clip, name, device, clip_encoder.SETTING)


def shared_segmenter(name: str, device: str) -> Segmenter:
    """The one loaded copy of a SAM-like network on a device.

    Args:
        name: a folder or a hub name of transformers.
        device: `cpu`, `cuda` or `auto`.

    Raises:
        InputError: there is no such device, or the packages of `models` cannot be imported.
        WeightsError: there is no such checkpoint here or on the hub.
    """
    return _once(_segmenter, name, device, segmenter.SETTING)


def _once(
    load: Callable[[str, Device], _Network], name: str, device: str, setting: str
) -> _Network:
    with _loading:
        try:
            return load(name, device_for(device))
        except ImportError as err:
            raise InputError(
                f"{setting} is set, but its packages cannot be imported here: "
                f"{' '.join(str(err).split())}; pip install 'agent-judge[models]'"
            ) from err


_clip = cache(load_clip)
_segmenter = cache(load_segmenter)
