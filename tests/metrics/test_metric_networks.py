import subprocess
import sys
from importlib.util import find_spec

import pytest

from agent_judge.errors import InputError, WeightsError
from agent_judge.metrics.networks import shared_clip, shared_segmenter

BOTH = pytest.mark.parametrize(
    ("shared", "setting"), [(shared_clip, "tools.clip"), (shared_segmenter, "tools.segmenter")]
)
needs_models = pytest.mark.skipif(
    find_spec("transformers") is None, reason="needs agent-judge[models]"
)


@BOTH
def test_without_the_packages_the_command_that_installs_them_is_told(monkeypatch, shared, setting):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match=rf"{setting} is set, .*pip install 'agent-judge\[models"):
        shared("own/none", "cpu")


@BOTH
def test_unknown_device_is_a_usage_error(shared, setting):
    with pytest.raises(InputError, match="auto, cpu or cuda"):
        shared("own/none", "tpu")


@pytest.mark.torch
@needs_models
@BOTH
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nope", "is 'nope': neither a folder that is there, nor a hub name OWNER/NAME"),
        ("own/none", "'own/none' is not on this machine, and http.* cannot be reached"),
    ],
)
def test_network_that_is_not_here_is_told_in_one_line(monkeypatch, shared, setting, name, told):
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(WeightsError, match=f"{setting} {told}") as caught:
        shared(name, "cpu")
    assert "\n" not in str(caught.value)


def test_importing_the_metrics_loads_no_network_library():
    code = (
        "import sys, agent_judge.metrics.networks, agent_judge.metrics.classical;"
        "print([m for m in ('torch', 'transformers', 'skimage', 'cv2') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
