"""How many input tokens a picture costs, by the published formulas; for estimates only.

What a request really cost is what the endpoint reports. The formulas: OpenAI tiles of 512 px after
fitting into 2048 and 768 px; OpenAI, Claude and Qwen patches of 32 or 28 px; Gemini a flat number.
"""

from __future__ import annotations

import math

from agent_judge.judges.coordinates import patches
from agent_judge.judges.endpoint import Profile

_TILE_PX = 512
CHARS_PER_TOKEN = 4
"""Rule of thumb for English prompt text."""


def sent_picture_tokens(size_wh: tuple[int, int], profile: Profile) -> int | None:
    """Tokens of a picture after it was brought to the size at which it is sent.

    Args:
        size_wh: the picture's own size in pixels.
        profile: the model's.

    Returns:
        None where no formula is known.

    Example:
        >>> from agent_judge.judges.endpoint import profile_for
        >>> from agent_judge.settings import EndpointSettings
        >>> sent_picture_tokens((4000, 3000), profile_for("gpt-4o", EndpointSettings()))
        765
    """
    return picture_tokens(profile.convention.shown_wh(size_wh), profile)


def picture_tokens(size_wh: tuple[int, int], profile: Profile) -> int | None:
    """Tokens of a picture that is sent at `size_wh`, as the endpoint counts it."""
    if profile.token_rule == "tiles":
        width, height = _fit(size_wh)
        tiles = math.ceil(width / _TILE_PX) * math.ceil(height / _TILE_PX)
        return round(profile.tokens_base + profile.tokens_each * tiles)
    if profile.token_rule == "patches":
        shown = profile.convention.shown_wh(size_wh) if profile.convention.max_patches else size_wh
        return math.ceil(patches(shown, profile.convention.patch_px) * profile.tokens_each)
    return round(profile.tokens_base) if profile.token_rule == "gemini" else None


def text_tokens(text: str) -> int:
    """A rough count of a text's tokens."""
    return math.ceil(len(text) / CHARS_PER_TOKEN)


def _fit(size_wh: tuple[int, int]) -> tuple[int, int]:
    """OpenAI's own resizing: into a square of 2048, then the shorter side to at most 768."""
    scale = min(1.0, 2048 / max(size_wh))
    scale = min(scale, 768 / min(size_wh))
    return round(size_wh[0] * scale), round(size_wh[1] * scale)
