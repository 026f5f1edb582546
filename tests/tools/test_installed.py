import importlib.metadata

import pytest

from agent_judge.errors import InputError
from agent_judge.tools import installed
from agent_judge.tools.loaded import device_for
from agent_judge.tools.weights import KNOWN


def test_versions_device_and_weights_of_this_machine_are_told(tmp_path):
    state = installed.look_at(tmp_path)
    assert state.versions["ncnn"] == importlib.metadata.version("ncnn")
    assert state.device in ("cpu", "cuda")
    assert state.weights == {entry.name: "missing" for entry in KNOWN}
    (tmp_path / KNOWN[0].files[0].name).write_bytes(b"half")
    assert installed.look_at(tmp_path).weights[KNOWN[0].name] == "wrong size"


NOTHING = dict.fromkeys((*installed._PACKAGES, *installed._OPENCV))


@pytest.mark.parametrize(
    ("versions", "said"),
    [
        pytest.param({}, [], id="nothing"),
        pytest.param({"opencv-python": "5"}, [], id="one OpenCV"),
        pytest.param(
            {"opencv-python": "5", "opencv-python-headless": "5"},
            ["opencv-python and opencv-python-headless overwrite each other"],
            id="T19: two of them",
        ),
        pytest.param(
            {"realesrgan": "0.3", "torch": "2"}, ["realesrgan is here without basicsr"], id="a part"
        ),
    ],
)
def test_clashes_are_named_with_their_remedy(versions, said):
    state = {**NOTHING, **versions}
    found = [*installed._opencv_clash(state), *installed._broken_networks(state)]
    assert [line[: len(start)] for line, start in zip(found, said, strict=True)] == said
    assert all("pip install" in line for line in found)


def test_unknown_device_is_a_usage_error():
    assert device_for("cpu") == "cpu"
    with pytest.raises(InputError, match="auto, cpu or cuda"):
        device_for("tpu")


@pytest.mark.torch
def test_cuda_asked_for_in_vain_is_a_usage_error():
    if device_for("auto") == "cuda":
        pytest.skip("this machine has it")
    with pytest.raises(InputError, match="sees no such device"):
        device_for("cuda")
