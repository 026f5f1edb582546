"""Networks in an actor of their own give what they give in this process."""

from importlib.util import find_spec

import numpy as np
import pytest

from agent_judge.metrics import networks
from agent_judge.metrics.networks import shared_clip, shared_segmenter
from agent_judge.records import Box
from agent_judge.settings import Settings
from agent_judge.tools import loaded
from agent_judge.tools.loaded import shared_detector, shared_upscaler
from tests.tools.test_grounding_dino import strip
from tests.tools.test_torch_runtime import photo, pth

pytestmark = [
    pytest.mark.slow,
    pytest.mark.torch,
    pytest.mark.skipif(
        any(find_spec(name) is None for name in ("ray", "groundingdino", "realesrgan")),
        reason="needs agent-judge[models,ray]",
    ),
]


@pytest.fixture
def tools(tmp_path, grounding_dino, clip, sam, monkeypatch):
    """All of them; one at a relative path."""
    monkeypatch.chdir(tmp_path)
    pth(tmp_path / "own.pth", "animevideov3", "params")
    paths = {"detector": grounding_dino.path, "clip": clip.path, "segmenter": sam}
    return {"enhancer": "own.pth", **{name: str(path) for name, path in paths.items()}}


def results(tools):
    """What each network gives; loaded here, or wherever they are lent from."""
    found = shared_detector(tools["detector"]).find([strip()], ["red cup", "japanese fruit"])[0]
    encoder = shared_clip(tools["clip"], "cpu")
    pixels = photo(40, 24)
    picture = (255 * pixels).astype(np.uint8) if pixels.dtype != np.uint8 else pixels
    box = Box(4, 4, 20, 18)
    return {
        "detector": np.array([c.box.xyxy for c in found]) / 100,
        "upscaler": shared_upscaler(tools["enhancer"]).run(pixels),
        "pictures": encoder.pictures([picture]),
        "texts": encoder.texts(["a red cup"]),
        "mask": shared_segmenter(tools["segmenter"], "cpu").segment(picture, [box]),
    }


def test_networks_are_loaded_once_elsewhere_and_give_the_same_as_here(tools):
    """Also after the actor was lost: paths are still those of the driver."""
    import ray

    from agent_judge.engines.ray_crew import crew_for

    settings = Settings.model_validate({"tools": tools, "run": {"jobs": 1}})
    here, near = results(tools), shared_upscaler(tools["enhancer"]).run
    with crew_for(settings) as crew:
        assert crew.networks is not None
        crew.networks.lend()
        try:
            assert shared_upscaler(tools["enhancer"]).run is not near
            there = [results(tools)]
            ray.kill(crew.networks.actor, no_restart=False)
            there.append(results(tools))
        finally:
            loaded.lend(detector=None, upscaler=None)
            networks.lend(clip=None, segmenter=None)
    for found in there:
        for name, expected in here.items():
            assert np.allclose(found[name], expected, atol=1e-3), name
