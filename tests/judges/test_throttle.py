"""The gate of an endpoint: open until it says too many, then as many as it bears."""

import asyncio
import math

import pytest

from agent_judge.judges.throttle import Throttle


async def test_there_is_no_limit_before_the_endpoint_names_one():
    throttle = Throttle()
    async with asyncio.timeout(2):
        async with throttle.slot(), throttle.slot(), throttle.slot():
            throttle.went_well()
    assert throttle.limit == math.inf


async def test_refusals_of_one_burst_halve_the_limit_once():
    throttle = Throttle()
    burst, gate = [], asyncio.Event()

    async def one():
        async with throttle.slot() as taken_at:
            burst.append(taken_at)
            await gate.wait()
            throttle.slow_down(taken_at, None)

    tasks = [asyncio.create_task(one()) for _ in range(8)]
    while len(burst) < 8:
        await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(*tasks)
    assert throttle.limit == 4


async def test_the_limit_holds_and_grows_again_with_success():
    throttle = Throttle()
    async with throttle.slot() as taken_at, throttle.slot():
        throttle.slow_down(taken_at, None)
    assert throttle.limit == 1
    inside, most = 0, 0

    async def one():
        nonlocal inside, most
        async with throttle.slot():
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*(one() for _ in range(5)))
    assert most == 1
    throttle.went_well()
    assert throttle.limit == 2
    throttle.went_well()
    assert throttle.limit == 2.5


async def test_a_place_is_given_back_when_its_holder_fails_or_is_cancelled():
    throttle = Throttle()
    throttle.limit = 1

    async def holder():
        async with throttle.slot():
            await asyncio.sleep(60)

    task = asyncio.create_task(holder())
    await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    async with asyncio.timeout(2), throttle.slot():
        pass


async def test_while_the_endpoint_wants_no_request_none_starts():
    throttle, loop = Throttle(), asyncio.get_running_loop()
    async with throttle.slot() as taken_at:
        throttle.slow_down(taken_at, 0.1)
        asked_at = loop.time()
    async with throttle.slot() as started_at:
        assert started_at - asked_at >= 0.09


async def test_a_run_has_a_limit_of_its_own_which_success_does_not_lift():
    throttle = Throttle(2)
    async with throttle.slot(), throttle.slot():
        throttle.went_well()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02), throttle.slot():
                pass
    assert throttle.limit == 2
