"""What replies cost: known prices, the user's table, and unknown that stays unknown."""

import pytest

from agent_judge.judges.prices import Usage, read_usage, usd_of
from agent_judge.settings import Price

MILLION = Usage(tokens_in=1_000_000, tokens_out=1_000_000)


@pytest.mark.parametrize(
    ("value", "usage"),
    [
        ({"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}, (7, 2, 0)),
        (
            {
                "prompt_tokens": 7,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 5},
            },
            (7, 2, 5),
        ),
        (
            {
                "prompt_tokens": 7,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 99},
            },
            (7, 2, 7),
        ),
        ({"prompt_tokens": 7, "completion_tokens": 2, "prompt_tokens_details": None}, (7, 2, 0)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, (0, 0, 0)),
        ({"prompt_tokens": 7}, None),
        ({"prompt_tokens": -1, "completion_tokens": 2}, None),
        ({"prompt_tokens": "7", "completion_tokens": 2}, None),
        ({}, None),
        (None, None),
        ([7, 2], None),
    ],
)
def test_usage_is_read_or_unknown(value, usage):
    read = read_usage(value)
    assert (read and (read.tokens_in, read.tokens_out, read.cached_in)) == usage


@pytest.mark.parametrize("model", ["gpt-4o", "openai/gpt-4o", "gemini-3-pro-preview"])
def test_known_models_have_a_price(model):
    assert (usd_of(MILLION, model, {}) or 0) > 0


def test_cached_input_is_cheaper():
    cached = Usage(tokens_in=1_000_000, tokens_out=0, cached_in=1_000_000)
    plain = Usage(tokens_in=1_000_000, tokens_out=0)
    assert (usd_of(cached, "gpt-4o", {}) or 0) < (usd_of(plain, "gpt-4o", {}) or 0)


def test_the_users_table_comes_first():
    table = {"gpt-4o": Price(input_per_mtok=0, output_per_mtok=0)}
    assert usd_of(MILLION, "gpt-4o", table) == 0


@pytest.mark.parametrize(
    ("usage", "model"), [(MILLION, "my-own-model"), (MILLION, ""), (None, "gpt-4o")]
)
def test_unknown_stays_unknown(usage, model):
    assert usd_of(usage, model, {}) is None
