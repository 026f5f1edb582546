"""Estimates use a run's own prompts and the published formulas, and send nothing."""

from pathlib import Path

import numpy as np
import pytest

from agent_judge.estimate import estimate_modes
from agent_judge.images import encode_png
from agent_judge.judges.endpoint import profile_for
from agent_judge.records import Sample
from agent_judge.settings import EndpointSettings, Settings
from agent_judge.tools.toolbox import build_tools


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Sample:
    """A 4000x3000 pair with a target of 0.1 %."""
    folder: Path = tmp_path_factory.mktemp("large")
    for name in ("source", "edited"):
        (folder / f"{name}.png").write_bytes(encode_png(np.zeros((3000, 4000, 3), np.uint8)))
    return Sample(
        id="a",
        source=folder / "source.png",
        edited=folder / "edited.png",
        instruction="make the mug red",
        boxes=((1000, 1000, 1110, 1110),),
    )


def by_mode(sample, model, **settings):
    given = Settings.model_validate(settings)
    profile = profile_for(model, EndpointSettings())
    return {m.mode: m for m in estimate_modes([sample], given, profile, build_tools())}


@pytest.mark.parametrize("model", ["gpt-4.1", "gpt-5.4", "qwen3-vl-235b"])
def test_a_small_target_costs_a_fraction_in_oracle_mode(large, model):
    """Image tokens alone: the prompt's text is the same in both."""
    from agent_judge.judges.tokens import picture_tokens, sent_picture_tokens

    profile = profile_for(model, EndpointSettings())
    crop = sent_picture_tokens((220, 220), profile)
    full = picture_tokens((4000, 3000), profile)
    shown = sent_picture_tokens((4000, 3000), profile)
    assert crop is not None
    assert full is not None
    assert shown is not None
    assert crop <= 0.35 * full
    assert shown <= full


def test_modes_stand_side_by_side(large):
    modes = by_mode(large, "gpt-4.1")
    assert [m.n_rows for m in modes.values()] == [1, 1, 1]
    assert modes["direct"].requests == 2
    assert modes["tool"].requests == 8
    assert modes["oracle"].requests == 5
    assert modes["direct"].tokens_in < modes["oracle"].tokens_in < modes["tool"].tokens_in


def test_votes_multiply(large):
    once, thrice = by_mode(large, "gpt-4.1"), by_mode(large, "gpt-4.1", judge={"votes": 3})
    assert thrice["tool"].tokens_in == 3 * once["tool"].tokens_in


def test_rows_that_a_mode_cannot_judge_are_counted_apart(large):
    from dataclasses import replace

    modes = by_mode(replace(large, boxes=None), "gpt-4.1")
    assert (modes["oracle"].n_rows, modes["oracle"].n_skipped) == (0, 1)
    assert modes["tool"].n_rows == 1


def test_an_unknown_model_has_no_invented_price(large):
    mode = by_mode(large, "a-model-nobody-knows")["direct"]
    assert mode.usd("a-model-nobody-knows", Settings()) is None
