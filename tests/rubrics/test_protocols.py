"""Every protocol as data: it loads whole, shares no criterion, and tells the judge what it must."""

from dataclasses import replace

import pytest

from agent_judge.plan import PLANS
from agent_judge.records import Mode
from agent_judge.rubrics.prompts import system_prompt
from agent_judge.rubrics.protocol import (
    DEFAULT,
    all_criteria,
    load_protocol,
    protocol_names,
    protocol_of,
    rubric_of,
    rubric_version,
    version_of,
)
from agent_judge.rubrics.rating import Rating
from tests.rubrics.contexts import PLAIN

RATED = [
    rubric
    for name in ("multi-reward", "twelve-factors")
    for rubric in load_protocol(name).rubrics.values()
]
FACTORS = list(load_protocol("twelve-factors").rubrics.values())
MODES: list[Mode] = ["tool", "oracle", "direct"]
by_criterion = pytest.mark.parametrize("rubric", RATED, ids=lambda rubric: rubric.criterion)


def test_the_default_comes_first_and_nothing_outside_is_a_protocol():
    assert protocol_names()[0] == DEFAULT
    assert {"multi-reward", "twelve-factors"} < set(protocol_names())
    with pytest.raises(KeyError):
        load_protocol("../dlebench")


def test_no_two_protocols_share_a_criterion():
    assert len(set(all_criteria())) == len(all_criteria())
    assert len({criterion.casefold() for criterion in all_criteria()}) == len(all_criteria())


@pytest.mark.parametrize("criterion", all_criteria())
def test_every_criterion_can_be_judged_in_every_mode(criterion):
    rubric = rubric_of(criterion)
    assert rubric.criterion == criterion
    assert all((mode, rubric.subject) in PLANS for mode in MODES)
    assert rubric.when_identical is None or rubric.when_identical in rubric.scale
    assert rubric.scale.worst < rubric.scale.best


@pytest.mark.parametrize("name", protocol_names())
def test_a_version_names_its_protocol_and_no_two_are_the_same(name):
    assert rubric_version(name).startswith(f"{name}-{load_protocol(name).revision}-")
    assert {version_of(criterion) for criterion in load_protocol(name).criteria} == {
        rubric_version(name)
    }
    assert len(set(map(rubric_version, protocol_names()))) == len(protocol_names())


def test_criteria_of_two_protocols_are_of_none():
    assert protocol_of([]).name == DEFAULT
    assert protocol_of(["quality", "following"]).name == "multi-reward"
    with pytest.raises(ValueError, match="two protocols: dlebench, multi-reward"):
        protocol_of(["IF", "quality"])
    with pytest.raises(KeyError):
        protocol_of(["IQ"])


@by_criterion
def test_a_judge_is_told_the_question_the_scale_each_anchor_and_the_form(rubric):
    told = system_prompt(rubric, PLAIN)
    assert rubric.asks in told
    worst, best = rubric.scale.worst, rubric.scale.best
    assert f"whole number from {worst:g} (worst) to {best:g} (best)" in told
    for number, means in rubric.anchors.items():
        assert f"- {number}: {means}\n" in told
    assert (rubric.yes_no in told) if rubric.yes_no else ("yes" not in told)
    assert told.index('"reason"') < told.index('"score"')
    assert told.endswith(f'"score": whole number from {worst:g} to {best:g}}}')
    assert "is data" in told
    assert PLAIN.convention not in told  # its answer holds no boxes


@by_criterion
def test_without_a_reference_the_word_is_never_said(rubric):
    for context in (
        PLAIN,
        replace(PLAIN, tools=["zoom_in"], max_steps=8),
        replace(PLAIN, cropped=True),
    ):
        assert "reference" not in system_prompt(rubric, context).casefold()
        offline = system_prompt(rubric, replace(context, has_reference=True))
        assert ("ground truth" in offline) == (rubric in FACTORS)
        assert ("It is context" in offline) == (rubric not in FACTORS)


def test_the_twelve_factors_are_those_of_the_paper_in_its_three_groups():
    groups: dict[str | None, list[str]] = {}
    for rubric in FACTORS:
        groups.setdefault(rubric.category, []).append(rubric.criterion)
    assert groups == {
        "Preservation": ["unchanged_regions", "global_consistency", "identity_preservation"],
        "Quality": [
            "scale_realism",
            "spatial_relationship",
            "texture_and_detail",
            "image_quality",
            "color_and_lighting",
            "seamlessness",
        ],
        "Fidelity": ["alignment", "completeness", "plausibility"],
    }


@pytest.mark.parametrize("rubric", FACTORS, ids=lambda rubric: rubric.criterion)
def test_a_factor_has_anchors_at_1_4_and_7_and_a_justification_of_10_to_25_words(rubric):
    assert isinstance(rubric, Rating)
    assert rubric.scale.levels == (1, 2, 3, 4, 5, 6, 7)
    assert list(rubric.anchors) == [1, 4, 7]
    assert "10 to 25 words" in rubric.reason
    assert rubric.yes_no is None
    assert "lie between their neighbours" in system_prompt(rubric, PLAIN)


def test_what_is_known_of_identical_pictures_is_what_cannot_be_otherwise():
    known = {r.criterion: r.when_identical for r in RATED if r.when_identical is not None}
    assert known == {
        "following": 0,
        "preserving": 5,
        "unchanged_regions": 7,
        "global_consistency": 7,
        "identity_preservation": 7,
        "alignment": 1,
        "completeness": 1,
    }


def test_quality_is_judged_on_the_edited_picture_alone():
    subjects = {r.criterion: r.subject for r in load_protocol("multi-reward").rubrics.values()}
    assert subjects == {"following": "target", "preserving": "surroundings", "quality": "edited"}
    alone = system_prompt(rubric_of("quality"), replace(PLAIN, alone=True))
    assert "source" not in alone
    assert "Judge it by itself" in alone


@by_criterion
def test_yes_goes_with_the_upper_half_of_a_scale(rubric):
    for level in rubric.scale.levels:
        wanted = "yes" if level > 2 else "no"
        assert rubric.path_to(level) == ({"yes_no": wanted} if rubric.yes_no else {})
        assert rubric.answered_as(level) == (wanted if rubric.yes_no else str(level))
        assert rubric.label_of(level) == str(level)
