"""Networks in an actor of their own give what they give in this process."""

from importlib.util import find_spec

import numpy as np
import pytest

from agent_judge.settings import Settings
from agent_judge.tools.loaded import lend, shared_detector, shared_upscaler
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


def test_networks_are_loaded_once_elsewhere_and_give_the_same_as_here(tmp_path, grounding_dino):
    from agent_judge.engines.ray_crew import crew_for

    enhancer = str(pth(tmp_path / "own.pth", "animevideov3", "params"))
    detector = str(grounding_dino.path)
    tools = {"enhancer": enhancer, "detector": detector}
    settings = Settings.model_validate({"tools": tools, "run": {"jobs": 1}})
    crop, pixels, phrases = photo(40, 24), strip(), ["red cup", "japanese fruit"]
    here = shared_upscaler(enhancer), shared_detector(detector)
    with crew_for(settings) as crew:
        assert crew.networks is not None
        crew.networks.lend()
        try:
            upscaler, found = shared_upscaler(enhancer), shared_detector(detector)
            assert (upscaler.network, found.name) == (here[0].network, here[1].name)
            assert upscaler.run is not here[0].run
            assert np.allclose(upscaler.run(crop), here[0].run(crop), atol=1e-5)
            there, near = (one.find([pixels], phrases)[0] for one in (found, here[1]))
        finally:
            lend(detector=None, upscaler=None)
    assert [c.phrase for c in there] == [c.phrase for c in near]
    assert np.allclose([c.box.xyxy for c in there], [c.box.xyxy for c in near], atol=0.1)
