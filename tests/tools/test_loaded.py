import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec

import pytest

from agent_judge.errors import InputError, WeightsError
from agent_judge.settings import ToolSettings
from agent_judge.tools.loaded import (
    _upscaler,
    device_for,
    shared_detector,
    shared_upscaler,
)
from agent_judge.tools.super_resolution import DEFAULT_NETWORK, NETWORKS, network_named
from agent_judge.tools.weights import cache_folder

needs_models = pytest.mark.skipif(
    find_spec("groundingdino") is None, reason="needs agent-judge[models]"
)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


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


def test_networks_of_the_package_run_without_torch_on_the_cpu():
    """Case T04: whatever realesrgan's own imports do."""
    assert ToolSettings().enhancer == DEFAULT_NETWORK
    assert shared_upscaler(DEFAULT_NETWORK, "cpu").runtime == "ncnn"


def test_networks_of_the_package_run_by_ncnn_where_torch_cannot_be_imported(monkeypatch):
    """Case T04: on CUDA too."""
    monkeypatch.setitem(sys.modules, "torch", None)
    loaded = _upscaler.__wrapped__(DEFAULT_NETWORK, "cuda")
    assert (loaded.runtime, loaded.device) == ("ncnn", "cpu")


def test_pth_file_without_torch_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(WeightsError, match=r"pip install 'agent-judge\[models\]'"):
        shared_upscaler(str(tmp_path / "net.pth"), "cpu")


def test_enhancer_is_named_by_network_known_weights_or_file(tmp_path):
    assert network_named("x4plus") is NETWORKS["x4plus"]
    fetched = network_named("realesrgan-animevideov3")
    assert fetched.files == cache_folder() / "realesr-animevideov3.pth"
    own = network_named(str(tmp_path / "mine.pth"))
    assert (own.name, own.files) == ("mine", tmp_path / "mine.pth")
    assert own.max_pixels == min(network.max_pixels for network in NETWORKS.values())
    with pytest.raises(WeightsError, match="animevideov3, x4plus, realesrgan-animevideov3"):
        network_named("groundingdino-swint")


def test_known_weights_that_are_not_here_name_the_command_that_fetches_them(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(WeightsError, match="agent-judge weights fetch realesrgan-x4plus"):
        shared_upscaler("realesrgan-x4plus", "cpu")


@pytest.mark.torch
@needs_models
@pytest.mark.parametrize(
    ("name", "told"),
    [
        pytest.param("nope", "neither a known name .groundingdino-swint, ", id="no such thing"),
        pytest.param("./nowhere", "nor a hub name OWNER/NAME", id="a folder that is not there"),
        pytest.param("own/none", "not on this machine, and http.* cannot be reached", id="offline"),
    ],
)
def test_detector_that_is_not_here_is_told_in_one_line_without_waiting(monkeypatch, name, told):
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(WeightsError, match=told) as caught:
        shared_detector(name, "cpu")
    assert "\n" not in str(caught.value)


@pytest.mark.torch
@needs_models
def test_hub_that_does_not_know_the_name_is_told_with_its_answer(monkeypatch, tmp_path):
    import huggingface_hub.constants

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", url)
        with pytest.raises(WeightsError, match=f"{url} answers 404"):
            shared_detector("own/none", "cpu")
        server.shutdown()
        thread.join()
