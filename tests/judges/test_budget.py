"""Hard caps: no request is begun that the dearest so far would not fit."""

import asyncio
from typing import Any

import pytest

from agent_judge.errors import JudgeError
from agent_judge.judges.budget import Budget


async def spend(budget: Budget, tokens: int | None = 10, usd: float | None = 1.0) -> None:
    async with budget.request() as spent:
        await asyncio.sleep(0)
        spent.tokens, spent.usd = tokens, usd


async def spent_by_many(budget: Budget, n: int) -> int:
    ended = await asyncio.gather(*(spend(budget) for _ in range(n)), return_exceptions=True)
    assert {type(e) for e in ended} <= {type(None), JudgeError}
    return sum(e is None for e in ended)


@pytest.mark.parametrize(
    ("caps", "requests"),
    [
        ({"max_usd": 5}, 5),
        ({"max_usd": 5.5}, 5),
        ({"max_usd": 0}, 0),
        ({"max_tokens": 35}, 3),
        ({"max_usd": 4, "max_tokens": 1000}, 4),
        ({}, 40),
    ],
)
async def test_a_cap_holds_however_many_are_in_flight(caps, requests):
    assert await spent_by_many(Budget(**caps), 40) == requests


async def test_a_request_that_failed_costs_nothing():
    budget = Budget(max_usd=2)
    for _ in range(5):
        with pytest.raises(ConnectionError):
            async with budget.request():
                raise ConnectionError
    assert await spent_by_many(budget, 10) == 2


@pytest.mark.parametrize(("cap", "told"), [("max_usd", "cost"), ("max_tokens", "tokens")])
async def test_what_is_not_reported_cannot_be_capped(cap, told):
    caps: dict[str, Any] = {cap: 100}
    budget = Budget(**caps)
    await spend(budget, tokens=None, usd=None)
    with pytest.raises(JudgeError, match=told) as error:
        await spend(budget)
    assert error.value.reason == "budget"


async def test_the_message_says_what_was_spent():
    budget = Budget(max_usd=1.5)
    await spend(budget)
    with pytest.raises(JudgeError, match=r"1\.0000 of 1\.5 USD"):
        await spend(budget)
