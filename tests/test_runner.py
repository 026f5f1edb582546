"""The public functions: samples as callers write them, judged without a run folder."""

import threading
import time
from typing import Any

import numpy as np
import pytest

from agent_judge import Sample, Settings, evaluate, evaluate_many
from agent_judge.errors import InputError
from agent_judge.images import encode_png
from agent_judge.testing.answers import criterion_of, verdict
from agent_judge.testing.endpoint import LoopbackEndpoint


@pytest.fixture
def paths(tmp_path):
    rng = np.random.default_rng(2)
    source = rng.integers(0, 255, (60, 80, 3)).astype(np.uint8)
    edited = source.copy()
    edited[20:30, 20:40] = 255
    for name, pixels in (("source", source), ("edited", edited)):
        (tmp_path / f"{name}.png").write_bytes(encode_png(pixels))
    return {name: str(tmp_path / f"{name}.png") for name in ("source", "edited")}


def level_3(request):
    return verdict(criterion_of(request), 3)


async def test_a_sample_takes_text_paths_and_lists(paths):
    written: Any = [[20, 20, 40, 30]]
    sample = Sample(id="a", instruction="white bar", boxes=written, **paths)
    assert sample.boxes == ((20, 20, 40, 30),)
    with LoopbackEndpoint(level_3) as endpoint:
        judge = {"model": "m", "base_url": endpoint.base_url}
        records = await evaluate(sample, Settings.model_validate({"judge": judge}))
    assert [(r.criterion, r.mode, r.level) for r in records] == [
        ("IF", "oracle", 3),
        ("VC", "oracle", 4),
    ]
    assert "identical" in records[1].flags


async def test_a_base_url_alone_takes_the_endpoints_only_model(paths):
    samples = [Sample(id=str(n), instruction="white bar", **paths) for n in range(3)]
    with LoopbackEndpoint(level_3, models=("the-one",)) as endpoint:
        settings = Settings.model_validate({"judge": {"base_url": endpoint.base_url}})
        records = [record async for record in evaluate_many(samples, settings)]
    assert {r.judge for r in records} == {"the-one"}
    assert len(records) == 6


async def test_several_models_are_named(paths):
    with LoopbackEndpoint(level_3, models=("m-1", "m-2")) as endpoint:
        settings = Settings.model_validate({"judge": {"base_url": endpoint.base_url}})
        with pytest.raises(InputError, match="m-1, m-2"):
            await evaluate(Sample(id="a", instruction="x", **paths), settings)


@pytest.mark.parametrize("box", [[1, 2, 3], [1, 2, 3, float("nan")], [0, 0, float("inf"), 9]])
def test_a_box_that_is_none_is_refused_at_once(paths, box):
    with pytest.raises(ValueError, match="four finite numbers"):
        Sample(id="a", instruction="x", boxes=(box,), **paths)


@pytest.mark.slow
async def test_never_more_requests_than_jobs_are_in_flight_though_more_samples_are_in_work(paths):
    samples = [Sample(id=str(n), instruction="white bar", **paths) for n in range(15)]
    lock, inside, most = threading.Lock(), 0, 0

    def slow(request):
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        time.sleep(0.03)
        with lock:
            inside -= 1
        return level_3(request)

    with LoopbackEndpoint(slow) as endpoint:
        judge = {"model": "m", "base_url": endpoint.base_url}
        settings = Settings.model_validate({"judge": judge, "run": {"jobs": 4}})
        records = [record async for record in evaluate_many(samples, settings)]
    assert len(records) == 30
    assert most == 4
