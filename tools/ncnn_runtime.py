"""Real-ESRGAN on the CPU by ncnn, without torch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agent_judge.errors import WeightsError
from agent_judge.tools.super_resolution import Floats, Network, Upscaler, wheel_files
from agent_judge.tools.worker import Worker


def load_ncnn(network: Network) -> Upscaler:
    """The network on the CPU.

    Raises:
        WeightsError: its files are missing, damaged or not in ncnn format.
    """
    import ncnn

    param, weights = wheel_files(network)
    net = ncnn.Net()
    # Half precision depends on the CPU: without it every machine gives the same picture.
    for option in ("fp16_packed", "fp16_storage", "fp16_arithmetic", "bf16_storage"):
        setattr(net.opt, f"use_{option}", False)
    if net.load_param(str(param)) or net.load_model(str(weights)):
        raise WeightsError(f"ncnn cannot read {param} and {weights}")

    def run(batch: Sequence[Floats]) -> list[Floats]:
        return [run_one(pixels) for pixels in batch]

    def run_one(pixels: Floats) -> Floats:
        planes = np.ascontiguousarray(pixels.transpose(2, 0, 1))
        with net.create_extractor() as extractor:
            # Mat(array) borrows the array's memory: `planes` lives until the end of this call.
            extractor.input("data", ncnn.Mat(planes))
            failed, out = extractor.extract("output")
            if failed:
                raise MemoryError(f"ncnn stopped with code {failed} on {pixels.shape} pixels")
            return np.array(out, np.float32).transpose(1, 2, 0)

    worker: Worker[Floats, Floats] = Worker(run, key=np.shape)
    return Upscaler(network=network, runtime="ncnn", device="cpu", tile_px=512, run=worker)
