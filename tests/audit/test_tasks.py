import numpy as np
import pytest

from agent_judge.audit import paint
from agent_judge.audit.colours import COLOURS, colour_name
from agent_judge.audit.object_tasks import (
    color_task,
    material_task,
    removal_task,
    replacement_task,
)
from agent_judge.audit.photographs import Scene, Thing
from agent_judge.audit.prop_tasks import count_task, ocr_task, pair_task, shape_task
from agent_judge.audit.props import find_target, is_erasable, is_solid, make_prop, place
from agent_judge.audit.task import IF_LEVEL
from agent_judge.records import Box
from tests.audit.scenes import small_scene

SHARES = (0.01, 0.02)
BUILDERS = {
    "color": color_task,
    "material": material_task,
    "removal": removal_task,
    "replacement": replacement_task,
    "count": count_task,
    "ocr": ocr_task,
    "shape": shape_task,
    "pair": pair_task,
}


def clear_tasks(name, n=3):
    """The first clear tasks of a builder, over seeds."""
    found = []
    for seed in range(40):
        task = BUILDERS[name](small_scene(seed % 4), SHARES, np.random.default_rng(seed))
        if task is not None and task.is_clear():
            found.append(task)
        if len(found) == n:
            break
    return found


@pytest.fixture(scope="module", params=BUILDERS)
def tasks(request):
    return clear_tasks(request.param)


def size_wh(task):
    return task.source.shape[1], task.source.shape[0]


def near_boxes(task):
    # Removals take a rim of two pixels with them.
    return np.logical_or.reduce([paint.box_mask(b.grow(2), size_wh(task)) for b in task.boxes])


def test_a_clear_task_is_found_soon(tasks):
    assert len(tasks) == 3


def test_every_outcome_has_a_level_and_right_and_wrong_are_there(tasks):
    for task in tasks:
        assert set(task.outcomes) <= set(IF_LEVEL)
        assert {"noop", "right", "wrong"} <= set(task.outcomes)


def test_nothing_changes_but_the_targets_and_what_is_said_to(tasks):
    for task in tasks:
        for outcome in task.outcomes.values():
            changed = (outcome.picture != task.source).any(2)
            allowed = near_boxes(task)
            if outcome.touched is not None:
                assert not (changed & allowed).any()
                allowed = outcome.touched
            assert not (changed & ~allowed).any()


def test_no_two_outcomes_look_the_same_in_the_target(tasks):
    for task in tasks:
        inside = near_boxes(task)
        seen = [o.picture[inside] for o in task.outcomes.values() if o.touched is None]
        for i, one in enumerate(seen):
            assert all((one != other).any() for other in seen[:i])


def test_the_reference_is_another_right_edit(tasks):
    for task in tasks:
        right = task.outcomes["right"].picture
        assert (task.reference != right).any()
        assert (task.reference != task.source).any()
        outside = ~near_boxes(task)
        assert np.array_equal(task.reference[outside], task.source[outside])


def test_the_instruction_names_target_and_goal(tasks):
    for task in tasks:
        words = task.instruction.lower().split()
        assert len(words) >= 3
        assert task.instruction.endswith(".")
        assert len(task.boxes) >= 1


def test_color_outcomes_have_the_colours_that_their_reasons_name():
    for task in clear_tasks("color"):
        asked = task.instruction.rstrip(".").split()[-1]
        changed = (task.outcomes["right"].picture != task.source).any(2)
        assert colour_name(task.outcomes["right"].picture, changed) == asked
        other = colour_name(task.outcomes["wrong"].picture, changed)
        assert other != asked
        assert other in task.outcomes["wrong"].why


def test_a_removal_leaves_what_was_there_before_or_a_fill_of_it():
    for task in clear_tasks("removal"):
        assert "over" not in task.outcomes  # there is no over-editing a removal


def test_count_outcomes_differ_by_whole_things():
    for task in clear_tasks("count"):
        n_boxes = len(task.boxes)
        removed = (task.outcomes["right"].picture != task.source).any(2)
        if n_boxes == 1:
            assert task.instruction.startswith("Add to")
            continue
        asked = int(task.instruction.split("exactly ")[1].split()[0])
        gone = [removed[int(b.y1) : int(b.y2), int(b.x1) : int(b.x2)].any() for b in task.boxes]
        assert sum(gone) == n_boxes - asked


def test_a_target_is_an_object_that_suits_or_a_prop():
    scene = small_scene()
    found = [find_target(scene, SHARES, np.random.default_rng(s), is_solid) for s in range(12)]
    names = {target.name for target in found if target is not None}
    assert names & {"grey mug", "tan box"}
    assert {name.split()[0] for name in names - {"grey mug", "tan box"}} <= set(COLOURS)


@pytest.mark.parametrize(("grain", "erasable"), [(2, True), (60, False)])
def test_only_calm_ground_can_be_painted_over(grain, erasable):
    noise = np.random.default_rng(0).normal(120, grain, (260, 360, 3)).clip(0, 255)
    mask = paint.box_mask(Box(100, 100, 125, 125), (360, 260))
    thing = Thing(name="dot", box=Box(100, 100, 125, 125), mask=mask)
    scene = Scene(id="plain", picture=noise.astype(np.uint8), things=(thing,))
    assert is_erasable(thing, scene) == erasable


def test_a_prop_keeps_its_size_its_distance_and_its_background():
    scene = small_scene()
    avoid = scene.things[0].box
    prop = make_prop(scene.picture, SHARES, [avoid], np.random.default_rng(5))
    assert prop is not None
    share = prop.box.area / scene.picture[..., 0].size
    assert SHARES[0] * 0.7 < share < SHARES[1] * 1.05  # round motifs do not touch every edge
    assert prop.box.iou(avoid) == 0
    assert np.array_equal(prop.source[~prop.mask], scene.picture[~prop.mask])


def test_there_is_no_place_where_all_is_taken():
    scene = small_scene()
    whole = paint.mask_box(np.ones(scene.picture.shape[:2], bool))
    assert place(scene.picture, (20, 20), [whole], np.random.default_rng(0)) is None
    assert place(scene.picture, (1000, 20), (), np.random.default_rng(0)) is None
