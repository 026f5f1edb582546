import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from skimage import data

from agent_judge.tools.enhancer import enhance
from agent_judge.tools.functional_tensor_adapter import functional_tensor
from agent_judge.tools.loaded import device_for, shared_upscaler
from agent_judge.tools.ncnn_runtime import load_ncnn
from agent_judge.tools.super_resolution import NETWORKS

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(find_spec("realesrgan") is None, reason="needs agent-judge[models]"),
]


@pytest.fixture(scope="module")
def by_torch():
    from agent_judge.tools.torch_runtime import load_realesrgan

    return load_realesrgan(NETWORKS["animevideov3"], "cpu")


def levels(floats):
    return np.clip(floats * 255, 0, 255).round().astype(int)


def photo(width, height, left=200):
    pixels = data.astronaut()[80 : 80 + height, left : left + width]
    return pixels.astype(np.float32) / 255


@pytest.mark.parametrize("side", [64, 128])
def test_realesrganer_and_ncnn_agree_within_one_grey_level(by_torch, side):
    crop = photo(side, side)
    ncnn = load_ncnn(NETWORKS["animevideov3"])
    assert np.abs(levels(by_torch.run(crop)) - levels(ncnn.run(crop))).max() <= 1


@pytest.mark.slow
@pytest.mark.parametrize("side", [64, 128])
def test_the_large_networks_agree_within_one_grey_level(side):
    from agent_judge.tools.torch_runtime import load_realesrgan

    crop = photo(side, side)
    torch = load_realesrgan(NETWORKS["x4plus"], "cpu")
    ncnn = load_ncnn(NETWORKS["x4plus"])
    assert np.abs(levels(torch.run(crop)) - levels(ncnn.run(crop))).max() <= 1


def test_upscaler_gives_what_the_package_itself_gives(by_torch):
    from agent_judge.tools.torch_runtime import build_upsampler

    crop = photo(40, 24)
    package = build_upsampler(NETWORKS["animevideov3"], "cpu")
    package.pre_pad = 0
    bgr, mode = package.enhance((crop[..., ::-1] * 255).round().astype(np.uint8))
    assert mode == "RGB"
    assert np.abs(bgr[..., ::-1].astype(int) - levels(by_torch.run(crop))).max() <= 1


@pytest.mark.parametrize(("width", "height"), [(1, 1), (7, 5), (16, 256)])
def test_tiny_and_odd_crops_come_out_at_exactly_four_times_their_size(by_torch, width, height):
    crop = (photo(width, height) * 255).astype(np.uint8)
    assert enhance(crop, by_torch).pixels.shape == (4 * height, 4 * width, 3)


def test_torch_that_runs_out_of_memory_raises_memory_error_and_nothing_else():
    import torch

    from agent_judge.tools.torch_memory import memory_errors

    with pytest.raises(MemoryError), memory_errors():
        torch.empty(2**50)
    with pytest.raises(RuntimeError, match="size"), memory_errors():
        torch.empty(2) + torch.empty(3)


def test_functional_tensor_adapter_is_gone_after_use_and_still_needed():
    import torchvision.transforms

    missing = "torchvision.transforms.functional_tensor"
    with functional_tensor():
        assert missing in sys.modules
        import basicsr
    assert missing not in sys.modules
    text = Path(basicsr.__file__).with_name("data").joinpath("degradations.py").read_text("utf-8")
    assert "functional_tensor" in text, "basicsr was mended: the adapter can go"
    assert not hasattr(torchvision.transforms, "functional_tensor"), "the adapter can go"


@pytest.mark.gpu
@pytest.mark.parametrize("name", NETWORKS)
def test_half_precision_on_cuda_stays_within_three_grey_levels_of_the_cpu(name):
    crop = (photo(96, 64) * 255).astype(np.uint8)
    assert device_for("auto") == "cuda"
    on_gpu = enhance(crop, shared_upscaler(name, "cuda")).pixels
    on_cpu = enhance(crop, shared_upscaler(name, "cpu")).pixels
    assert np.abs(on_gpu.astype(int) - on_cpu).max() <= 3


@pytest.mark.gpu
def test_batches_on_cuda_equal_single_runs_within_one_grey_level():
    upscaler = shared_upscaler("animevideov3", "cuda")
    crops = [photo(64, 64, left=left) for left in range(0, 320, 40)]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda crop: levels(upscaler.run(crop)), crops))
    for crop, result in zip(crops, together, strict=True):
        assert np.abs(levels(upscaler.run(crop)) - result).max() <= 1
