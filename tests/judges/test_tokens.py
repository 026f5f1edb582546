"""Image tokens by the published formulas, and what sending less saves."""

import pytest

from agent_judge.judges.endpoint import profile_for
from agent_judge.judges.tokens import picture_tokens, sent_picture_tokens, text_tokens
from agent_judge.settings import EndpointSettings


def profile(model):
    return profile_for(model, EndpointSettings())


@pytest.mark.parametrize(
    ("model", "size_wh", "tokens"),
    [
        ("gpt-4o", (1024, 1024), 765),  # OpenAI's own examples
        ("gpt-4o", (2048, 4096), 1105),
        ("gpt-4o", (512, 512), 255),
        ("gpt-4o", (513, 512), 425),
        ("gpt-5", (1024, 1024), 70 + 4 * 140),
        ("gpt-5.4", (1024, 1024), 1229),  # 1024 patches, measured by users at 1.2 each
        ("gpt-5-mini", (768, 1024), 922),
        ("gpt-4.1-mini", (1024, 1024), 1659),
        ("claude-sonnet-4-5", (1000, 1000), 1296),
        ("claude-sonnet-4-5", (200, 200), 64),
        ("gemini-3-pro", (4000, 3000), 1120),
        ("qwen3-vl", (1024, 1024), 1024),
        ("llava", (1024, 1024), None),
    ],
)
def test_tokens_of_a_picture_as_sent(model, size_wh, tokens):
    assert picture_tokens(size_wh, profile(model)) == tokens


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5", "gpt-5.4", "qwen3-vl", "claude-opus-4-7"])
def test_sending_at_the_size_used_never_costs_more_than_the_full_picture(model):
    full = picture_tokens((4000, 3000), profile(model))
    sent = sent_picture_tokens((4000, 3000), profile(model))
    assert full is not None
    assert sent is not None
    assert sent <= full


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5.4", "qwen3-vl"])
def test_the_crop_of_a_small_target_costs_at_most_a_third_of_the_full_pictures(model):
    """A target of 0.1 % of 4000x3000 is about 110 px; its window with margins 220 px."""
    full = picture_tokens((4000, 3000), profile(model))
    crop = sent_picture_tokens((220, 220), profile(model))
    assert full is not None
    assert crop is not None
    assert crop <= 0.35 * full


def test_text_is_counted_roughly():
    assert text_tokens("x" * 401) == 101
