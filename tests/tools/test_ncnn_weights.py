import dataclasses
import struct

import numpy as np
import pytest

from agent_judge.errors import WeightsError
from agent_judge.tools.ncnn_weights import read_state_dict
from agent_judge.tools.super_resolution import NETWORKS, WheelFiles, wheel_files

HALF, FULL = 0x01306B47, 0
PARAM = """7767517
4 4
Input     in    0 1 data
Convolution first 1 1 data a 0=4 1=3 4=1 5=1 6=108
PReLU     act   1 1 a b 0=4
Convolution last 1 1 b output 0=3 1=1 4=0 5=0 6=12
"""


def write(folder, *, tag, spare=b"", param=PARAM):
    rng = np.random.default_rng(5)
    first, bias, slopes = rng.normal(size=108), rng.normal(size=4), rng.normal(size=4)
    last = rng.normal(size=12)
    kind = "<f2" if tag == HALF else "<f4"
    parts = [
        struct.pack("<I", tag),
        first.astype(kind).tobytes(),
        bias.astype("<f4").tobytes(),
        slopes.astype("<f4").tobytes(),
        struct.pack("<I", tag),
        last.astype(kind).tobytes(),
        spare,
    ]
    (folder / "net.param").write_text(param, encoding="utf-8")
    (folder / "net.bin").write_bytes(b"".join(parts))
    arrays = {
        "body.0.weight": first.astype(kind).astype(np.float32).reshape(4, 3, 3, 3),
        "body.0.bias": bias.astype(np.float32),
        "body.1.weight": slopes.astype(np.float32),
        "body.2.weight": last.astype(kind).astype(np.float32).reshape(3, 4, 1, 1),
    }
    return folder / "net.param", folder / "net.bin", arrays


@pytest.mark.parametrize("tag", [HALF, FULL], ids=["half", "full"])
def test_hand_made_network_is_read_back(tmp_path, tag):
    param, weights, arrays = write(tmp_path, tag=tag)
    state = read_state_dict(param, weights)
    assert state.architecture == "SRVGGNetCompact"
    assert list(state.tensors) == list(arrays)
    for name, values in arrays.items():
        assert np.array_equal(state.tensors[name], values)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"spare": b"1234"}, "4 bytes more", id="too long"),
        pytest.param({"tag": 0x1234}, "unknown kind", id="another kind of weights"),
        pytest.param({"param": "hello\n" * 4}, "no ncnn layer list", id="not ncnn"),
        pytest.param({"param": PARAM.replace("6=12", "6=24")}, "too early", id="too short"),
    ],
)
def test_files_that_do_not_fit_are_refused(tmp_path, change, message):
    param, weights, _ = write(tmp_path, **{"tag": FULL, **change})
    with pytest.raises(WeightsError, match=message):
        read_state_dict(param, weights)


@pytest.mark.parametrize(
    ("name", "architecture", "tensors", "values"),
    [
        ("animevideov3", "SRVGGNetCompact", 53, 621_424),
        ("x4plus", "RRDBNet", 702, 16_697_987),
    ],
)
def test_real_weights_have_the_official_number_of_parameters(name, architecture, tensors, values):
    state = read_state_dict(*wheel_files(NETWORKS[name]))
    assert state.architecture == architecture
    assert len(state.tensors) == tensors
    assert sum(v.size for v in state.tensors.values()) == values


def test_damaged_weights_in_the_package_are_named():
    network = NETWORKS["animevideov3"]
    assert isinstance(network.files, WheelFiles)
    files = dataclasses.replace(network.files, bin_sha256="0" * 64)
    damaged = dataclasses.replace(network, files=files)
    with pytest.raises(WeightsError, match=r"ANIMAVIDEOV3_UP4X\.bin is not the known file"):
        wheel_files(damaged)
