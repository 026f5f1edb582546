"""Estimates use a run's own prompts and the published formulas, and send nothing."""

from pathlib import Path

import numpy as np
import pytest

from agent_judge.estimate import CHANGES, CROP_WH, TOOL_TURNS, estimate_modes
from agent_judge.images import encode_png
from agent_judge.judges.endpoint import profile_for
from agent_judge.judges.tokens import picture_tokens, sent_picture_tokens
from agent_judge.oracle.boxes import canonical_boxes
from agent_judge.plan import Row, looks_of
from agent_judge.records import Sample
from agent_judge.rubrics.protocol import protocol_names
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


@pytest.mark.parametrize("model", ["gpt-4.1", "gpt-5", "gpt-5.4", "qwen3-vl-235b"])
@pytest.mark.parametrize(
    ("mode", "criterion", "most"), [("oracle", "IF", 0.35), ("oracle", "VC", 1), ("tool", "IF", 1)]
)
def test_pictures_of_a_first_turn_against_the_full_pictures(large, model, mode, criterion, most):
    """By the windows and messages of a real conversation, for the tile, patch and Qwen families."""
    profile = profile_for(model, EndpointSettings())
    blank = np.broadcast_to(np.uint8(0), (3000, 4000, 3))
    boxes = canonical_boxes(large.boxes, (4000, 3000), box_format="xyxy", box_frame=None)[0]
    row = Row(sample=large, source=blank, edited=blank, reference=None, boxes=boxes)
    (look,) = looks_of(row, mode, criterion, Settings().oracle)
    shown = [sent_picture_tokens(look.view.size_wh, profile) for _ in look.view.names]
    full = picture_tokens((4000, 3000), profile)
    assert len(shown) == 2
    assert sum(filter(None, shown)) <= most * 2 * (full or 0)


def test_modes_stand_side_by_side(large):
    modes = by_mode(large, "gpt-4.1")
    assert [m.n_rows for m in modes.values()] == [1, 1, 1]
    assert modes["direct"].requests == 2
    assert modes["tool"].requests == 8
    assert modes["oracle"].requests == 5
    assert modes["direct"].tokens_in < modes["oracle"].tokens_in < modes["tool"].tokens_in


def test_changes_that_are_judged_apart_are_assumed_and_counted(large):
    """The naming with its tool turns, then a request a change: four pictures, no tools."""
    modes = by_mode(large, "gpt-4.1", protocol="dice")
    assert [m.requests for m in modes.values()] == [1 + TOOL_TURNS + CHANGES] * 2 + [1 + CHANGES]
    profile = profile_for("gpt-4.1", EndpointSettings())
    full, crop = (sent_picture_tokens(size, profile) or 0 for size in ((4000, 3000), CROP_WH))
    shown = 2 * full + CHANGES * (2 * full + 2 * crop)
    assert shown < modes["direct"].tokens_in < 1.6 * shown


@pytest.mark.parametrize("protocol", protocol_names())
def test_every_protocol_can_be_estimated(large, protocol):
    for mode in by_mode(large, "gpt-4.1", protocol=protocol).values():
        assert mode.n_rows == 1
        assert mode.requests > 0
        assert mode.tokens_in > 0


def test_words_are_taken_apart_once_a_sample_and_without_pictures(large):
    """Whatever the criteria that are computed from them."""
    all_four = by_mode(large, "gpt-4.1", protocol="bpm")
    assert all_four == by_mode(large, "gpt-4.1", protocol="bpm", criteria=["size"])
    assert [m.requests for m in all_four.values()] == [1, 1, 1]
    assert all(m.tokens_in < 1000 for m in all_four.values())


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
