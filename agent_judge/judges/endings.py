"""How a reply ended, in one vocabulary: OpenAI's, whatever the model's own words are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LENGTH, BLOCKED, REFUSED = "length", "content_filter", "refusal"
BROKEN = "error"
"""The server gave up halfway; the same request may go well."""
BAD_CALL = "malformed_function_call"
"""The model tried to call a tool, and its server could not read the call."""

_WORDS: Mapping[str, frozenset[str]] = {
    LENGTH: frozenset({"length", "max_tokens", "max_output_tokens", "model_length"}),
    BLOCKED: frozenset(
        {
            *("content_filter", "safety", "recitation", "blocklist", "prohibited_content", "spii"),
            *("image_safety", "image_prohibited_content", "image_recitation", "sensitive"),
        }
    ),
    REFUSED: frozenset({"refusal"}),
    BROKEN: frozenset({"error", "abort", "insufficient_system_resource", "network_error"}),
    BAD_CALL: frozenset({"malformed_function_call", "function_call_filter"}),
}
"""Gemini's endpoint passes its own words on, alone or behind a colon; Mistral, DeepSeek, vLLM and
Zhipu have some of theirs."""


def ending_of(choice: Mapping[str, Any]) -> str | None:
    """The `finish_reason` of a completion's choice.

    Example:
        >>> ending_of({"finish_reason": "SAFETY"}), ending_of({"finish_reason": "MAX_TOKENS"})
        ('content_filter', 'length')
    """
    given = choice.get("finish_reason")
    if not isinstance(given, str):
        return None
    word = given.casefold().partition(":")[0].strip()
    return next((ending for ending, words in _WORDS.items() if word in words), given)
