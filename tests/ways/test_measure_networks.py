"""BPM's criteria with networks: tiny random ones, through the real loading code, offline."""

from importlib.util import find_spec

import pytest

from agent_judge.images import load_image
from agent_judge.metrics.directional import directional_similarity
from agent_judge.metrics.masks import box_mask
from agent_judge.metrics.networks import shared_clip
from agent_judge.metrics.preservation import preservation
from agent_judge.records import Box
from agent_judge.tools.loaded import shared_detector
from agent_judge.tools.tiled_search import search
from tests.fakes import ScriptedJudge
from tests.networks import WORDS
from tests.ways.test_measure import BOX, a_sample, judged, takes_apart

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(find_spec("transformers") is None, reason="needs agent-judge[models]"),
]


async def test_modification_is_the_directional_similarity_of_the_boxes(clip, tmp_path):
    sample = a_sample(tmp_path)
    by = ScriptedJudge([takes_apart(original_parts=["a red cup"], edited_parts=["a blue cup"])])
    tools = {"clip": str(clip.path), "device": "cpu"}
    record = (await judged(sample, by, criteria=["modify"], tools=tools))["modify"]
    by_hand = directional_similarity(
        load_image(sample.source),
        load_image(sample.edited),
        boxes=[Box(*BOX), Box(*BOX)],
        source_text="a red cup",
        edited_text="a blue cup",
        encoder=shared_clip(str(clip.path), "cpu"),
    )
    assert by_hand is not None
    assert record.level == pytest.approx(by_hand, abs=1e-6)
    assert "'a red cup' to 'a blue cup'" in record.explanation


async def test_words_that_name_no_change_have_no_direction(clip, tmp_path):
    by = ScriptedJudge([takes_apart(original_parts=["a cup"], edited_parts=["a cup"])])
    tools = {"clip": str(clip.path), "device": "cpu"}
    record = (await judged(a_sample(tmp_path), by, criteria=["modify"], tools=tools))["modify"]
    assert (record.status, record.reason) == ("unscored", "unparseable")


async def test_without_boxes_grounding_looks_in_both_pictures(grounding_dino, tmp_path):
    sample = a_sample(tmp_path, boxes=None)
    phrases = {"source": WORDS[-1], "edited": WORDS[-2]}
    by = ScriptedJudge(
        [takes_apart(original_parts=[phrases["source"]], edited_parts=[phrases["edited"]])]
    )
    tools = {"detector": str(grounding_dino.path), "device": "cpu"}
    record = (await judged(sample, by, criteria=["preserve"], tools=tools))["preserve"]
    looked = [(e.tool, e.args["picture"], e.args["phrases"]) for e in record.evidence]
    assert looked == [("grounding", name, [phrase]) for name, phrase in phrases.items()]
    boxes = []
    for name, phrase in phrases.items():
        pixels = load_image(getattr(sample, name))
        found = search(pixels, [phrase], shared_detector(str(grounding_dino.path), "cpu")).found
        named = [one for one in found if one.phrase == phrase]
        boxes += [max(named, key=lambda one: one.score).box] if named else []
    assert boxes, "this random network finds what it is asked for"
    by_hand = preservation(
        load_image(sample.source), load_image(sample.edited), box_mask(boxes, (200, 150))
    )
    assert record.level == pytest.approx(by_hand, abs=1e-6)
