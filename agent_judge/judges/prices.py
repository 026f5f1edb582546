"""What tokens cost: the user's `[prices]` table, else the data of `genai-prices`.

Unknown stays unknown: it is never taken for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent_judge.settings import Price

_MAX_TOKENS = 10**12
"""No reply has as many: a count above is none."""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens of one reply, as the endpoint reported them."""

    tokens_in: int
    tokens_out: int
    """Reasoning included."""
    cached_in: int = 0
    """The part of `tokens_in` that came out of the provider's prompt cache."""


def read_usage(value: object) -> Usage | None:
    """The usage of a completion; None where the endpoint left it out or made no sense.

    Example:
        >>> read_usage({"prompt_tokens": 7, "completion_tokens": 2})
        Usage(tokens_in=7, tokens_out=2, cached_in=0)
    """
    if not isinstance(value, Mapping):
        return None
    tokens_in = _count(value.get("prompt_tokens"))
    tokens_out = _count(value.get("completion_tokens"))
    if tokens_in is None or tokens_out is None:
        return None
    details = value.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, Mapping) else None
    return Usage(tokens_in=tokens_in, tokens_out=tokens_out, cached_in=min(cached or 0, tokens_in))


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < _MAX_TOKENS else None


def usd_of(usage: Usage | None, model: str, prices: Mapping[str, Price]) -> float | None:
    """US dollars of one reply; None where the usage or the price is unknown.

    Prices go by the model's name, whatever the host: name a price of 0 for your own hardware.

    Args:
        usage: of the reply.
        model: as asked for; `openai/gpt-4o` counts by its last part where the whole is unknown.
        prices: `[prices]` of the settings; it comes first.

    Example:
        >>> table = {"m": Price(input_per_mtok=2, output_per_mtok=8)}
        >>> usd_of(Usage(tokens_in=500_000, tokens_out=250_000), "m", table)
        3.0
    """
    if usage is None:
        return None
    if (own := prices.get(model)) is not None:
        cost = usage.tokens_in * own.input_per_mtok + usage.tokens_out * own.output_per_mtok
        return cost / 1e6
    return _known_usd(usage, model)


def _known_usd(usage: Usage, model: str) -> float | None:
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    tokens = Tokens(
        input_tokens=usage.tokens_in,
        output_tokens=usage.tokens_out,
        cache_read_tokens=usage.cached_in,
    )
    for name in dict.fromkeys((model, model.rsplit("/", 1)[-1])):
        try:
            price: Any = calc_price(tokens, model_ref=name)
        except LookupError:
            continue
        return float(price.total_price)
    return None
