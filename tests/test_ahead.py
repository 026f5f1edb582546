"""Samples that are made ready before they are asked for."""

import asyncio

import pytest

from agent_judge.ahead import Ahead


async def test_items_come_in_their_order_and_then_none():
    async def prepare(n: int) -> str:
        await asyncio.sleep(0.01 if n == 0 else 0)  # the first takes longest
        return f"ready {n}"

    ahead = Ahead(range(3), prepare, most=2)
    assert [await ahead.take() for _ in range(5)] == ["ready 0", "ready 1", "ready 2", None, None]


@pytest.mark.parametrize("most", [1, 3])
async def test_no_more_than_so_many_wait_beyond_those_taken(most):
    begun: list[int] = []

    async def prepare(n: int) -> int:
        begun.append(n)
        return n

    ahead = Ahead(iter(range(100)), prepare, most=most)
    assert begun == []
    for taken in range(4):
        assert await ahead.take() == taken
        await asyncio.sleep(0)
        assert len(begun) == taken + 1 + most


async def test_several_takers_get_each_item_once():
    async def prepare(n: int) -> int:
        await asyncio.sleep(0)
        return n

    async def taker() -> list[int]:
        taken = []
        while (item := await ahead.take()) is not None:
            taken.append(item)
        return taken

    ahead = Ahead(range(20), prepare, most=2)
    shares = await asyncio.gather(*(taker() for _ in range(4)))
    assert sorted(n for share in shares for n in share) == list(range(20))


async def test_a_failure_comes_out_where_the_item_is_taken_and_the_rest_can_be_dropped():
    ended = asyncio.Event()

    async def prepare(n: int) -> int:
        if n == 0:
            raise OSError("no such file")
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return n

    ahead = Ahead(range(3), prepare, most=1)
    with pytest.raises(OSError, match="no such file"):
        await ahead.take()
    ahead.drop()
    await asyncio.wait_for(ended.wait(), 5)
