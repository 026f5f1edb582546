"""BPM's two networks, each loaded once a process and device, whoever asks first."""

from __future__ import annotations

from functools import cache

from agent_judge.metrics import clip_encoder, segmenter
from agent_judge.metrics.clip_encoder import ClipEncoder, load_clip
from agent_judge.metrics.segmenter import Segmenter, load_segmenter
from agent_judge.tools.loaded import once


def shared_clip(name: str, device: str) -> ClipEncoder:
    """The one loaded copy of a CLIP-like network on a device.

    Args:
        name: a folder or a hub name of transformers.
        device: `cpu`, `cuda` or `auto`.

    Raises:
        InputError: there is no such device, or the packages of `models` cannot be imported.
        WeightsError: there is no such checkpoint here or on the hub.
    """
    return once(_clip, name, device, clip_encoder.SETTING)


def shared_segmenter(name: str, device: str) -> Segmenter:
    """The one loaded copy of a SAM-like network on a device.

    Args:
        name: a folder or a hub name of transformers.
        device: `cpu`, `cuda` or `auto`.

    Raises:
        InputError: there is no such device, or the packages of `models` cannot be imported.
        WeightsError: there is no such checkpoint here or on the hub.
    """
    return once(_segmenter, name, device, segmenter.SETTING)


_clip = cache(load_clip)
_segmenter = cache(load_segmenter)
