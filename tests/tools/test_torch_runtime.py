import sys
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from skimage import data

from agent_judge.errors import WeightsError
from agent_judge.tools.enhancer import enhance
from agent_judge.tools.functional_tensor_adapter import functional_tensor
from agent_judge.tools.loaded import device_for, shared_upscaler
from agent_judge.tools.ncnn_runtime import load_ncnn
from agent_judge.tools.ncnn_weights import read_state_dict
from agent_judge.tools.super_resolution import NETWORKS, Upscaler, network_named, wheel_files

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


def test_batch_gives_what_its_crops_give_alone():
    """As on CUDA; on the CPU crops are run one by one."""
    from agent_judge.tools.torch_runtime import build_upsampler, runner

    run = runner(build_upsampler(NETWORKS["animevideov3"], "cpu"), "cpu")
    crops = [photo(24, 16, left=left) for left in (100, 200, 300)]
    for crop, together in zip(crops, run(crops), strict=True):
        assert np.allclose(together, run([crop])[0], atol=1e-4)


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


def pth(path, name, layout, **more):
    """The package's weights as the publisher's `.pth` file of them."""
    import torch

    state = read_state_dict(*wheel_files(NETWORKS[name]))
    tensors = {key: torch.from_numpy(values) for key, values in state.tensors.items()}
    torch.save({layout: tensors, **more}, path)
    return path


@pytest.mark.parametrize("layout", ["params_ema", "params"])
def test_pth_file_gives_what_the_same_weights_give_by_ncnn(tmp_path, layout):
    path = pth(tmp_path / "realesr.pth", "animevideov3", layout)
    upscaler = shared_upscaler(str(path), "cpu")
    assert (upscaler.runtime, upscaler.network.name) == ("realesrgan", "realesr")
    small = NETWORKS["animevideov3"]
    assert upscaler.network.seconds_per_megapixel == small.seconds_per_megapixel
    crop = photo(40, 24)
    ncnn = load_ncnn(NETWORKS["animevideov3"])
    assert np.abs(levels(upscaler.run(crop)) - levels(ncnn.run(crop))).max() <= 1


@pytest.mark.slow
def test_pth_file_of_the_large_network_loads_too(tmp_path):
    from agent_judge.tools.torch_runtime import build_upsampler

    path = pth(tmp_path / "x4plus.pth", "x4plus", "params_ema")
    net = build_upsampler(network_named(str(path)), "cpu").model
    assert sum(values.numel() for values in net.parameters()) == 16_697_987
    path.unlink()


def test_averaged_weights_are_taken_where_a_file_has_both(tmp_path):
    from agent_judge.tools.torch_runtime import build_upsampler

    path = pth(tmp_path / "both.pth", "animevideov3", "params_ema", params={"a": 1})
    build_upsampler(network_named(str(path)), "cpu")


class Intruder:
    """What a pickle may do that holds more than weights."""

    def __reduce__(self):
        return warnings.warn, ("code of a weights file was run",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param({"params": Intruder()}, "more than weights", id="code"),
        pytest.param(b"no pickle at all", "damaged", id="not a checkpoint"),
        pytest.param([1, 2], "no params_ema|neither params_ema", id="a list"),
        pytest.param({"params": {"a": 1}}, "no Real-ESRGAN network", id="other weights"),
        pytest.param(None, "cannot be read", id="no file"),
    ],
)
def test_files_that_hold_no_such_network_are_refused_and_never_run(tmp_path, content, message):
    import torch

    path = tmp_path / "net.pth"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        torch.save(content, path)
    with pytest.raises(WeightsError, match=message):
        shared_upscaler(str(path), "cpu")


def test_every_damage_of_a_weights_file_is_told_as_that(tmp_path):
    import torch

    from agent_judge.tools.checkpoint import read_checkpoint

    path = tmp_path / "net.pth"
    torch.save({"params": {"a": torch.arange(9)}}, path, _use_new_zipfile_serialization=False)
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    refused = 0
    for _ in range(300):
        damaged = bytearray(whole)
        for at in rng.integers(0, len(whole), 4):
            damaged[at] = rng.integers(256)
        path.write_bytes(damaged[: rng.integers(1, 2 * len(whole))])
        try:
            read_checkpoint(path)
        except WeightsError:
            refused += 1
    assert refused > 200


def test_network_of_twice_the_size_is_refused(tmp_path):
    import torch

    first = torch.zeros(64, 12, 3, 3)  # the publisher's x2 network folds pixels into channels
    path = tmp_path / "x2.pth"
    torch.save({"params_ema": {"conv_first.weight": first, "conv_last.weight": first}}, path)
    with pytest.raises(WeightsError, match="four times"):
        shared_upscaler(str(path), "cpu")


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_tile_border_has_no_step_above_those_inside(name):
    crop = (photo(150, 24) * 255).astype(np.uint8)
    ncnn = shared_upscaler(name, "cpu")
    tiled = Upscaler(network=ncnn.network, runtime="ncnn", device="cpu", tile_px=128, run=ncnn.run)
    whole, made = (enhance(crop, u).pixels.astype(float) for u in (ncnn, tiled))
    # What tiling adds, step by step along the row: no column stands out of the picture's own.
    added = np.abs(np.diff(made - whole, axis=1)).mean((0, 2))
    own = np.abs(np.diff(whole, axis=1)).mean((0, 2))
    assert added.max() < 0.25 * np.median(own)


def test_torch_that_runs_out_of_memory_raises_memory_error_and_nothing_else():
    import torch

    from agent_judge.tools.torch_memory import memory_errors

    with pytest.raises(MemoryError), memory_errors():
        torch.empty(2**50)
    with pytest.raises(RuntimeError, match="size"), memory_errors():
        torch.empty(2) + torch.empty(3)


@pytest.mark.parametrize(
    "told", ["CUDA out of memory. Tried to allocate", "CUDA error: CUBLAS_STATUS_ALLOC_FAILED"]
)
def test_what_a_network_had_made_is_given_back_when_memory_runs_out(told):
    from agent_judge.tools.torch_memory import memory_errors

    made = []

    def network():
        features = np.zeros(9)
        made.append(weakref.ref(features))
        raise RuntimeError(told)

    with pytest.raises(MemoryError) as caught, memory_errors():
        network()
    assert told in str(caught.value)
    assert made[0]() is None


def test_functional_tensor_adapter_is_gone_after_use_and_still_needed():
    """Case T04."""
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
    by_torch = shared_upscaler(name, "cuda")
    assert (by_torch.runtime, by_torch.device) == ("realesrgan", "cuda")
    on_gpu = enhance(crop, by_torch).pixels
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
