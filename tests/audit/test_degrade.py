import numpy as np
import pytest
from skimage import data

from agent_judge.audit.degrade import DEGRADE_KINDS, PLANT_KINDS, contrast, degrade, plant
from tests.pictures import backdrop


@pytest.mark.parametrize("kind", PLANT_KINDS)
def test_an_edit_changes_nothing_outside_its_mask_and_box(kind):
    source = data.astronaut()
    planted = plant(source, 0.004, kind, np.random.default_rng(4))
    changed = (planted.pixels != source).any(axis=2)
    assert not changed[~planted.mask].any()
    rows, columns = np.nonzero(planted.mask)
    x1, y1, x2, y2 = planted.box_xyxy
    assert (columns.min(), rows.min()) == (x1, y1)
    assert abs(columns.max() + 1 - x2) <= 1
    assert abs(rows.max() + 1 - y2) <= 1
    assert (x2 - x1) * (y2 - y1) == pytest.approx(0.004 * 512 * 512, rel=0.1)


def test_contrast_is_the_mean_of_the_most_changed_channel():
    before = np.full((4, 4, 3), 100, np.uint8)
    after = before.copy()
    after[0, 0] = (110, 70, 100)
    after[0, 1] = (100, 100, 120)
    mask = np.zeros((4, 4), bool)
    mask[0, :2] = True
    assert contrast(before, after, mask) == 25.0


@pytest.mark.parametrize("kind", DEGRADE_KINDS)
def test_a_degradation_is_seeded_and_keeps_size_and_type(kind):
    source = backdrop((320, 240))
    first, again = (degrade(source, kind, np.random.default_rng(8)) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert first.shape == source.shape
    assert first.dtype == np.uint8
    assert np.array_equal(first, source) == (kind == "none")
