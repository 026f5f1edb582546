"""The real loading code on a tiny random CLIP: saved, loaded back, all without a network."""

import os
from importlib.util import find_spec

import numpy as np
import pytest
from skimage import data

from agent_judge.errors import ToolError, WeightsError
from agent_judge.metrics.directional import directional_similarity
from agent_judge.metrics.networks import shared_clip
from agent_judge.records import Box
from tests.networks import CLIP_SIDE_PX

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(find_spec("transformers") is None, reason="needs agent-judge[models]"),
]

TEXTS = ["a red cup", "a blue cup", "no cup"]


def squares(*seeds):
    return [
        np.random.default_rng(s).integers(0, 256, (CLIP_SIDE_PX, CLIP_SIDE_PX, 3), dtype=np.uint8)
        for s in seeds
    ]


def unit(vectors):
    found = vectors.detach().numpy()
    return found / np.linalg.norm(found, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def encoder(clip):
    return shared_clip(str(clip.path), "cpu")


def test_loaded_network_gives_the_pictures_of_the_saved_one(clip, encoder, torch):
    """By hand: CLIP's published means and deviations, no resizing at this size."""
    mean, deviation = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
    planes = (np.stack(squares(0, 1)) / 255 - mean) / deviation
    with torch.inference_mode():
        seen = clip.net.vision_model(torch.from_numpy(planes.transpose(0, 3, 1, 2)).float())
        expected = unit(clip.net.visual_projection(seen.pooler_output))
    assert encoder.pictures(squares(0, 1)) == pytest.approx(expected, abs=1e-5)


def test_loaded_network_gives_the_texts_of_the_saved_one_whatever_the_padding(clip, encoder, torch):
    with torch.inference_mode():
        read = [
            clip.net.text_model(**clip.tokenizer(text, return_tensors="pt")).pooler_output
            for text in TEXTS
        ]
        expected = unit(clip.net.text_projection(torch.cat(read)))
    assert encoder.texts(TEXTS) == pytest.approx(expected, abs=1e-5)
    assert np.ptp(expected, axis=0).max() > 0.01


def test_vectors_have_length_one(encoder):
    for vectors in (encoder.pictures(squares(0, 1, 2)), encoder.texts(TEXTS)):
        assert (len(vectors), vectors.dtype) == (3, np.float32)
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-5)


def test_texts_longer_than_the_network_reads_are_cut(encoder):
    assert np.isfinite(encoder.texts(["cup " * 500])).all()


@pytest.mark.parametrize("size_wh", [(1, 1), (3, 200), (200, 3)])
def test_crops_of_any_size_are_taken(encoder, size_wh):
    pixels = np.zeros((size_wh[1], size_wh[0], 3), np.uint8)
    assert np.isfinite(encoder.pictures([pixels])).all()


def test_directional_similarity_runs_on_the_real_interface(encoder):
    (source, edited) = squares(3, 4)

    def similarity(one, other, source_text, edited_text):
        return directional_similarity(
            one,
            other,
            boxes=[Box(4, 4, 20, 20)],
            source_text=source_text,
            edited_text=edited_text,
            encoder=encoder,
        )

    value = similarity(source, edited, *TEXTS[:2])
    assert -1 <= value <= 1
    assert similarity(edited, source, *TEXTS[:2]) == pytest.approx(-value, abs=1e-4)
    assert similarity(source, edited, *TEXTS[1::-1]) == pytest.approx(-value, abs=1e-4)
    assert similarity(source, source, *TEXTS[:2]) is None
    with pytest.raises(ToolError, match="one text: 'a cup' / 'a cup'"):
        similarity(source, edited, "a cup", "a cup")


def test_network_is_loaded_once(clip, encoder):
    assert shared_clip(str(clip.path), "cpu") is encoder
    assert encoder.name == str(clip.path)


def test_folder_without_such_a_network_is_refused(tmp_path):
    with pytest.raises(WeightsError, match="no CLIP-like checkpoint"):
        shared_clip(str(tmp_path), "cpu")


def test_network_that_encodes_no_texts_is_refused(tmp_path):
    from transformers import ViTConfig, ViTModel

    config = ViTConfig(
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        image_size=32,
        patch_size=16,
    )
    ViTModel(config).save_pretrained(tmp_path)
    with pytest.raises(WeightsError, match="ViTModel does not encode pictures and texts"):
        shared_clip(str(tmp_path), "cpu")


@pytest.mark.weights
def test_real_weights_see_that_a_picture_turned_grey():
    """AGENT_JUDGE_CLIP: a folder or a hub name."""
    name = os.environ.get("AGENT_JUDGE_CLIP")
    if not name:
        pytest.skip("AGENT_JUDGE_CLIP is not set")
    source = data.astronaut()
    grey = np.repeat(source.mean(axis=2, keepdims=True), 3, axis=2).astype(np.uint8)
    texts = "a colour photograph", "a black and white photograph"
    ways = [
        directional_similarity(
            source,
            grey,
            boxes=(),
            source_text=one,
            edited_text=other,
            encoder=shared_clip(name, "auto"),
        )
        for one, other in (texts, texts[::-1])
    ]
    assert ways[0] is not None
    assert ways[1] is not None
    assert ways[0] > 0.1 > ways[1]
