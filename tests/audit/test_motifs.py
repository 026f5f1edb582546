import numpy as np
import pytest

from agent_judge.audit import motifs, paint
from agent_judge.records import Box

GREY = np.full((80, 100, 3), 128, np.uint8)
BOX = Box(20, 10, 60, 50)
RED = (205, 30, 35)
MOTIFS = {
    "ball": motifs.ball(RED),
    "cube": motifs.cube(RED),
    "star": motifs.star(RED),
    "round sign": motifs.sign(0, RED),
    "triangle": motifs.sign(3, RED),
    "square": motifs.sign(4, RED),
    "plate": motifs.plate("SALE", (0, 0, 0), (255, 255, 255), fullness=0.9),
    "word": motifs.word("SALE", RED),
}


@pytest.mark.parametrize("name", MOTIFS)
def test_a_motif_stays_in_its_box_and_its_mask_holds_it(name):
    drawn = motifs.draw(GREY, MOTIFS[name], BOX)
    changed = (drawn != GREY).any(2)
    mask = motifs.motif_mask(MOTIFS[name], BOX, (100, 80))
    assert not (changed & ~mask).any()
    assert not (mask & ~paint.box_mask(BOX, (100, 80))).any()
    assert changed.sum() > 0.1 * BOX.area


@pytest.mark.parametrize(
    ("name", "share"),
    [("round sign", np.pi / 4), ("square", 0.9**2), ("triangle", 0.98 * 1.88 / 4)],
)
def test_a_sign_has_the_area_of_its_shape(name, share):
    large = Box(0, 0, 80, 80)
    mask = motifs.motif_mask(MOTIFS[name], large, (100, 80))
    # The mask holds every pixel that is touched: half a pixel more all around.
    assert mask.sum() / large.area == pytest.approx(share, rel=0.08)


def test_words_differ_by_their_letters():
    stop, exit_ = (
        motifs.draw(GREY, motifs.plate(word, (0, 0, 0), (255, 255, 255), fullness=0.9), BOX)
        for word in ("STOP", "EXIT")
    )
    assert (stop != exit_).any(2).sum() > 50


@pytest.mark.parametrize("name", motifs.PATTERNS)
def test_a_pattern_has_two_tones_and_no_third(name):
    tiles = motifs.PATTERNS[name]((60, 40), 5, (0, 0, 0), (255, 255, 255))
    assert tiles.shape == (40, 60, 3)
    assert set(np.unique(tiles)) == {0, 255}
    assert 0.15 < (tiles == 255).mean() < 0.85
