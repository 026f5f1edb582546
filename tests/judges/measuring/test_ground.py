import numpy as np
import pytest
from scipy import ndimage

from agent_judge.judges.measuring.ground import figure, fine_figure, same_outline, surroundings
from agent_judge.judges.measuring.laid_over import inside, to_lab
from agent_judge.records import Box
from tests.judges.measuring.staged import BOX, GREY, RED, SIZE_WH, disc, drawn, ground

SHAPE = (SIZE_WH[1], SIZE_WH[0])
PART = inside((BOX,), SHAPE)
RING = surroundings(PART, ~inside((BOX,), SHAPE, 3))
FLAT = np.full((*SHAPE, 3), GREY, np.uint8)


def lab(pixels):
    return to_lab(pixels.astype(np.float32))


def silhouette(kind, box=BOX):
    return drawn(np.zeros_like(FLAT), kind, box, (255, 255, 255))[..., 0] > 0


@pytest.mark.parametrize("kind", ["ellipse", "rectangle", "triangle"])
def test_the_figure_is_the_thing_that_was_drawn(kind):
    box = Box(64, 44, 96, 76)
    found = figure(lab(drawn(ground(), kind, box, RED)), PART, RING).mask
    truth = silhouette(kind, box)
    assert (found & truth).sum() / (found | truth).sum() > 0.85


def test_holes_of_a_figure_are_filled():
    ringed = disc(disc(FLAT, RED), GREY, Box(72, 52, 88, 68))
    found = figure(lab(ringed), PART, RING).mask
    assert found.sum() == ndimage.binary_fill_holes(found).sum()
    assert found[60, 80]


def test_contrast_is_the_distance_from_the_ground():
    found = figure(lab(drawn(FLAT, "rectangle", BOX, RED)), PART, RING)
    colours = lab(np.array([[RED, GREY]], np.uint8))[0]
    assert found.contrast == pytest.approx(np.linalg.norm(colours[0] - colours[1]), abs=0.5)


def test_a_ground_that_changes_across_the_crop_is_no_figure():
    ramp = np.tile(np.linspace(40, 200, SIZE_WH[0])[None, :, None], (SIZE_WH[1], 1, 3))
    found = figure(lab(ramp), PART, RING)
    assert found.clear < 0.6
    assert not found.mask.any()


def test_a_busy_ground_makes_the_figure_less_clear():
    busy = np.random.default_rng(0).integers(0, 255, FLAT.shape, dtype=np.uint8)
    assert figure(lab(disc(FLAT, RED)), PART, RING).clear > 3
    assert figure(lab(disc(busy, RED)), PART, RING).clear < 1.2


@pytest.mark.parametrize("kind", ["ellipse", "rectangle", "triangle"])
def test_one_outline_at_two_sizes_is_the_same(kind):
    assert same_outline(silhouette(kind), silhouette(kind, Box(20, 30, 70, 80))) > 0.93


@pytest.mark.parametrize(
    ("first", "second"),
    [("ellipse", "rectangle"), ("ellipse", "triangle"), ("rectangle", "triangle")],
)
def test_two_outlines_are_not_the_same(first, second):
    assert same_outline(silhouette(first), silhouette(second)) < 0.82


def test_nothing_has_no_outline():
    nothing = np.zeros(SHAPE, bool)
    assert same_outline(nothing, silhouette("ellipse")) == 0
    assert same_outline(silhouette("ellipse"), nothing) == 0


def test_a_small_figure_is_drawn_out_before_its_outline_is_taken():
    box = Box(76, 56, 88, 68)
    part = inside((box,), SHAPE)
    ring = surroundings(part, ~inside((box,), SHAPE, 3))
    fine = fine_figure(lab(disc(FLAT, RED, box)), part, ring)
    assert fine.mask.shape[0] >= 5 * SHAPE[0]
    assert same_outline(fine.mask, silhouette("ellipse")) > 0.9


def test_surroundings_are_near_the_target_and_inside_the_ring():
    near = surroundings(PART, ~PART)
    assert not (near & PART).any()
    assert near[BOX_MIDDLE_ROW, int(BOX.x2) + 8]
    assert not near[BOX_MIDDLE_ROW, int(BOX.x2) + 30]


BOX_MIDDLE_ROW = 60
