import numpy as np
import pytest
from scipy import ndimage

from agent_judge.audit.anomalies import add_anomalies
from agent_judge.records import Box
from tests.audit.scenes import small_scene

TARGET = Box(150, 100, 190, 140)


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.slow
def test_as_many_separate_changes_as_asked_for_and_none_at_the_target(n, seed):
    scene = small_scene(seed)
    made = add_anomalies(scene.picture, scene, n, [TARGET], np.random.default_rng(seed))
    assert made is not None
    picture, what = made
    changed = (picture != scene.picture).any(2)
    closed = ndimage.binary_closing(changed, iterations=2)
    assert ndimage.label(closed, np.ones((3, 3)))[1] == n == len(what)
    near = changed[int(TARGET.y1) - 9 : int(TARGET.y2) + 9, int(TARGET.x1) - 9 : int(TARGET.x2) + 9]
    assert not near.any()


def test_a_picture_without_room_gets_none():
    scene = small_scene()
    everything = Box(0, 0, *scene.size_wh)
    rng = np.random.default_rng(0)
    assert add_anomalies(scene.picture, scene, 1, [everything], rng) is None
