"""The real loading code on tiny random networks of two families, all without a network."""

import os
from importlib.util import find_spec

import numpy as np
import pytest
from PIL import Image, ImageDraw

from agent_judge.errors import ToolError, WeightsError
from agent_judge.metrics.masks import box_mask
from agent_judge.metrics.networks import shared_segmenter
from agent_judge.metrics.segmenter import LONGEST_PX, Segmenter
from agent_judge.records import Box
from tests.networks import SAM_SIDE_PX
from tests.pictures import backdrop

needs_models = pytest.mark.skipif(
    find_spec("transformers") is None, reason="needs agent-judge[models]"
)
BOXES = [Box(20.5, 30, 60, 70), Box(200, 100, 260, 180)]


def marked_by(judge):
    """A segmenter whose network is a rule on the window and the box."""
    seen = []

    def run(job):
        seen.append(job)
        return judge(job)

    return Segmenter(name="a rule", run=run), seen


def red(pixels):
    return (pixels[..., 0] > 230) & (pixels[..., 1:].max(axis=2) < 30)


def disc(size_wh, box, colour=(255, 0, 0)):
    image = Image.fromarray(backdrop(size_wh))
    ImageDraw.Draw(image).ellipse(box.xyxy, fill=colour)
    return np.asarray(image)


def test_marked_pixels_come_back_in_their_place_in_the_picture():
    box = Box(100, 60, 140, 100)
    pixels = disc((320, 240), box)
    segmenter, seen = marked_by(lambda job: red(job.window))
    mask = segmenter.segment(pixels, [box])
    assert np.array_equal(mask, red(pixels))
    assert 0.7 < mask.sum() / box.area < 0.9
    (job,) = seen
    assert job.window.shape == (120, 120, 3)
    assert job.box == (40, 40, 80, 80)


def test_large_windows_are_made_smaller_and_masks_grown_back():
    box = Box(600, 300, 1800, 1500)
    pixels = disc((2400, 1800), box)
    segmenter, seen = marked_by(lambda job: red(job.window))
    mask = segmenter.segment(pixels, [box])
    assert max(seen[0].window.shape) == LONGEST_PX
    truth = red(pixels)
    assert (mask & truth).sum() / (mask | truth).sum() > 0.98


def test_several_boxes_are_united_and_those_outside_left_out():
    boxes = [Box(20, 20, 40, 40), Box(200, 100, 220, 120), Box(900, 900, 950, 950)]
    segmenter, seen = marked_by(lambda job: box_mask([Box(*job.box)], job.window.shape[1::-1]))
    mask = segmenter.segment(backdrop(), boxes)
    assert np.array_equal(mask, box_mask(boxes, (320, 240)))
    assert len(seen) == 2


def test_box_in_which_nothing_is_marked_counts_itself():
    segmenter, _ = marked_by(lambda job: np.zeros(job.window.shape[:2], np.bool_))
    assert np.array_equal(segmenter.segment(backdrop(), BOXES), box_mask(BOXES, (320, 240)))
    assert not segmenter.segment(backdrop(), []).any()


def test_memory_that_runs_out_is_told():
    def run(job):
        raise MemoryError

    segmenter, _ = marked_by(run)
    with pytest.raises(ToolError, match="ran out of memory"):
        segmenter.segment(backdrop(), BOXES)


@pytest.mark.torch
@needs_models
def test_loaded_network_gives_the_masks_of_the_saved_one(sam, torch):
    """Against the network run by hand: normalised, padded, its logits enlarged."""
    from transformers import SamModel

    pixels = np.random.default_rng(0).integers(
        0, 256, (SAM_SIDE_PX, SAM_SIDE_PX, 3), dtype=np.uint8
    )
    box = Box(16, 16, 48, 48)
    mean, deviation = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    planes = ((pixels / 255 - mean) / deviation).transpose(2, 0, 1)[None]
    net = SamModel.from_pretrained(sam).eval()
    with torch.inference_mode():
        out = net(
            pixel_values=torch.from_numpy(planes).float(),
            input_boxes=torch.tensor([[box.xyxy]]).float(),
            multimask_output=False,
        )
        logits = torch.nn.functional.interpolate(
            out.pred_masks[0], (SAM_SIDE_PX, SAM_SIDE_PX), mode="bilinear", align_corners=False
        )
    expected = logits[0, 0].numpy() > 0
    found = shared_segmenter(str(sam), "cpu").segment(pixels, [box])
    assert 0.01 < expected.mean() < 0.99
    assert (found == expected).mean() > 0.999


@pytest.mark.torch
@needs_models
@pytest.mark.parametrize("family", ["sam", "sam2"])
def test_masks_have_the_size_of_the_picture_and_stay_in_the_windows(family, request):
    folder = str(request.getfixturevalue(family))
    segmenter = shared_segmenter(folder, "cpu")
    assert segmenter is shared_segmenter(folder, "cpu")
    mask = segmenter.segment(backdrop(), BOXES)
    assert mask.dtype == np.bool_
    assert mask.shape == (240, 320)
    assert mask.any()
    windows = box_mask([box.grow(max(box.width, box.height)) for box in BOXES], (320, 240))
    assert not (mask & ~windows).any()


@pytest.mark.torch
@needs_models
def test_folder_without_such_a_network_is_refused(tmp_path):
    with pytest.raises(WeightsError, match="no mask generation checkpoint"):
        shared_segmenter(str(tmp_path), "cpu")


@pytest.mark.weights
def test_real_weights_mark_the_disc_in_its_box():
    """AGENT_JUDGE_SEGMENTER: a folder or a hub name."""
    name = os.environ.get("AGENT_JUDGE_SEGMENTER")
    if not name:
        pytest.skip("AGENT_JUDGE_SEGMENTER is not set")
    box = Box(100, 60, 140, 100)
    pixels = disc((320, 240), box)
    mask = shared_segmenter(name, "auto").segment(pixels, [box])
    truth = red(pixels)
    assert (mask & truth).sum() / (mask | truth).sum() > 0.9
