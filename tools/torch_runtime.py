"""Real-ESRGAN by `realesrgan.RealESRGANer` and torch.

From the same weights as by ncnn, or from the publisher's `.pth` files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from agent_judge.errors import WeightsError
from agent_judge.tools.checkpoint import read_checkpoint
from agent_judge.tools.functional_tensor_adapter import functional_tensor
from agent_judge.tools.ncnn_weights import read_state_dict
from agent_judge.tools.super_resolution import (
    NETWORKS,
    SCALE,
    Floats,
    Network,
    Upscaler,
    wheel_files,
)
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
    upsampler = build_upsampler(network, device)
    run = runner(upsampler, device)
    if isinstance(network.files, Path):
        like = "x4plus" if hasattr(upsampler.model, "conv_first") else "animevideov3"
        network = replace(network, seconds_per_megapixel=NETWORKS[like].seconds_per_megapixel)
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
    """A RealESRGANer, which takes weights from a file only.

    Raises:
        ImportError: the extra `models` is not installed.
        WeightsError: the files are missing or damaged, or hold no such network.
    """
    import torch

    with functional_tensor():
        from realesrgan import RealESRGANer

    tensors = _tensors(network)
    net = _empty_network(tensors, network.name)
    try:
        net.load_state_dict(tensors)
    except RuntimeError as err:
        told = " ".join(str(err).split())[:200]
        raise WeightsError(f"{network.name} is no Real-ESRGAN network: {told}") from err
    with TemporaryDirectory() as folder:
        path = Path(folder) / "network.pth"
        torch.save({"params": tensors}, path)
        return RealESRGANer(
            scale=SCALE,
            model_path=str(path),
            model=net,
            half=device != "cpu",
            device=torch.device(device),
        )


def _tensors(network: Network) -> Mapping[str, Any]:
    """The weights by the official names, whatever file they come from."""
    import torch

    if not isinstance(network.files, Path):
        state = read_state_dict(*wheel_files(network))
        return {name: torch.from_numpy(values) for name, values in state.tensors.items()}
    loaded = read_checkpoint(network.files)
    for layout in ("params_ema", "params"):  # what the publisher's own code prefers comes first
        if isinstance(loaded, dict) and isinstance(loaded.get(layout), dict):
            tensors = loaded[layout].items()
            return {str(name): v for name, v in tensors if isinstance(v, torch.Tensor)}
    raise WeightsError(
        f"{network.files} holds no Real-ESRGAN weights: neither params_ema nor params"
    )


def _empty_network(tensors: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 - untyped packages
    """A network of the shape that the weights have.

    Raises:
        WeightsError: they are of no network that enlarges RGB four times.
    """
    with functional_tensor():
        from basicsr.archs.rrdbnet_arch import RRDBNet
        from realesrgan.archs.srvgg_arch import SRVGGNetCompact

    parts = {key.split(".")[1] for key in tensors if key.startswith("body.")}
    first = tensors.get("conv_first.weight", tensors.get("body.0.weight"))
    last = tensors.get("conv_last.weight", tensors.get(f"body.{len(parts) - 1}.weight"))
    if all(getattr(end, "ndim", 0) == 4 for end in (first, last)) and first.shape[1] == 3:
        features = first.shape[0]
        if "conv_first.weight" in tensors:
            return RRDBNet(num_in_ch=3, num_out_ch=3, num_feat=features, num_block=len(parts))
        if last.shape[0] == 3 * SCALE**2:
            # A convolution and its activation at the start, a convolution at the end.
            count = (len(parts) - 3) // 2
            return SRVGGNetCompact(3, 3, num_feat=features, num_conv=count, upscale=SCALE)
    raise WeightsError(f"{name} is no Real-ESRGAN network that enlarges four times")
