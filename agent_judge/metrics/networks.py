"""BPM's two networks, each loaded once a process and device, whoever asks first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from agent_judge.metrics import clip_encoder, segmenter
from agent_judge.metrics.clip_encoder import ClipEncoder, load_clip
from agent_judge.metrics.segmenter import Segmenter, load_segmenter
from agent_judge.tools.loaded import once


@dataclass
class _Lent:
    """Networks that live in another process."""

    clip: ClipEncoder | None = None
    segmenter: Segmenter | None = None


_lent = _Lent()


def lend(*, clip: ClipEncoder | None, segmenter: Segmenter | None) -> None:
    """From now on take these wherever this process wants a network; None: load it here."""
    _lent.clip, _lent.segmenter = clip, segmenter


def shared_clip(name: str, device: str) -> ClipEncoder:
    """The one loaded copy of a CLIP-like network on a device.

    Args:
        name: a folder or a hub name of transformers.
        device: `cpu`, `cuda` or `auto`.

    Raises:
        InputError: there is no such device, or the packages of `models` cannot be imported.
        WeightsError: there is no such checkpoint here or on the hub.
    """
    return _lent.clip or once(_clip, name, device, clip_encoder.SETTING)


def shared_segmenter(name: str, device: str) -> Segmenter:
    """The one loaded copy of a SAM-like network on a device.

    Args:
        name: a folder or a hub name of transformers.
        device: `cpu`, `cuda` or `auto`.

    Raises:
        InputError: there is no such device, or the packages of `models` cannot be imported.
        WeightsError: there is no such checkpoint here or on the hub.
    """
    return _lent.segmenter or once(_segmenter, name, device, segmenter.SETTING)


_clip = cache(load_clip)
_segmenter = cache(load_segmenter)
