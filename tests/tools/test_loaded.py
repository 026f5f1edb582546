import pytest

from agent_judge.errors import InputError
from agent_judge.tools.loaded import device_for


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
