"""The ladders: four levels each, every one reached by exactly one walk."""

import itertools
import re

import pytest

from agent_judge.records import Criterion
from agent_judge.rubrics.protocol import load_ladder, rubric_version

CRITERIA: list[Criterion] = ["IF", "VC"]
LABELS = {
    "IF": ["Flawless Execution", "Over Modification", "Wrong Action", "Localization Failure"],
    "VC": ["Perfect Consistency", "Single Anomaly", "Multiple Anomalies", "Scene Collapse"],
}


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_levels_are_those_of_the_paper_best_first(criterion):
    ladder = load_ladder(criterion)
    assert list(ladder.labels) == LABELS[criterion]
    assert [level.number for level in ladder.levels] == [4, 3, 2, 1]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_the_walk_along_a_levels_path_leads_to_it(criterion, level):
    ladder = load_ladder(criterion)
    assert ladder.walk(ladder.path_to(level)) == level
    assert ladder.level_of(ladder.label_of(level)) == level


@pytest.mark.parametrize("criterion", CRITERIA)
def test_every_full_set_of_answers_leads_to_one_level(criterion):
    ladder = load_ladder(criterion)
    ids = [question.id for question in ladder.questions]
    for answers in itertools.product(*(question.outcomes for question in ladder.questions)):
        assert ladder.walk(dict(zip(ids, answers, strict=True))) in (1, 2, 3, 4)


@pytest.mark.parametrize(
    ("answers", "level"),
    [
        ({}, None),
        ({"target_edited": "yes"}, None),
        ({"target_edited": "perhaps"}, None),
        ({"target_edited": "no"}, 1),
        ({"target_edited": "no", "action_right": "perhaps"}, 1),
        ({"action_right": "no"}, None),
    ],
)
def test_a_walk_ends_at_the_first_answer_that_names_a_level(answers, level):
    assert load_ladder("IF").walk(answers) == level


def test_what_is_not_on_the_ladder_is_a_key_error():
    ladder = load_ladder("IF")
    for call in (ladder.path_to, ladder.label_of):
        with pytest.raises(KeyError):
            call(5)
    with pytest.raises(KeyError):
        ladder.level_of("flawless execution")


def test_the_version_names_revision_and_content():
    assert re.fullmatch(r"dlebench-\d+-[0-9a-f]{8}", rubric_version())
