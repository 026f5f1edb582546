"""Pairs of editors on one item: does the judge prefer the picture that people prefer?"""

import pytest

from agent_judge.stats.overall import overall_by_row
from agent_judge.stats.preferences import OVERALL, preference_agreement, preferences
from agent_judge.stats.ratings import HumanRating, RatingIndex, rated_records
from tests.stats.rows import record


def rating(id_, criterion, value):
    return HumanRating(by="p", criterion=criterion, value=value, id=id_)


def two_editors(*levels, item="x"):
    """Editor a and b on one item: `(level, people's level)` each."""
    records = [
        record(level, id=f"{item}-{editor}", item=item, editor=editor)
        for editor, (level, _) in zip("ab", levels, strict=True)
    ]
    ratings = [rating(r.id, "IF", people) for r, (_, people) in zip(records, levels, strict=True)]
    return records, ratings


def counts(found):
    return found.n_right, found.n_wrong, found.n_undecided, found.n_tied


def test_agreement_counts_pairs_in_which_both_sides_prefer_one():
    pairs = [
        ((0.9, 0.1), (5, 3)),
        ((0.1, 0.9), (3, 5)),
        ((0.9, 0.1), (3, 5)),
        ((0.5, 0.5), (3, 5)),
        ((0.9, 0.1), (4, 4)),
        ((0.5, 0.5), (4, 4)),
    ]
    found = preference_agreement(pairs)
    assert counts(found) == (2, 1, 1, 2)
    assert found.share == pytest.approx(2 / 3)
    swapped = [(ours[::-1], theirs[::-1]) for ours, theirs in pairs]
    assert preference_agreement(swapped) == found


@pytest.mark.parametrize("pairs", [[], [((0.5, 0.5), (1, 2))], [((0.9, 0.1), (2, 2))]])
def test_agreement_over_no_decided_pair_has_no_share(pairs):
    assert preference_agreement(pairs).share is None


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((4, 3), (1, 1), (1, 0, 0, 0)),
        ((1, 3), (4, 1), (0, 1, 0, 0)),
        ((2, 3), (2, 1), (0, 0, 1, 0)),
        ((4, 2), (1, 2), (0, 0, 0, 1)),
    ],
)
def test_a_pair_is_right_when_people_prefer_the_same(a, b, expected):
    records, ratings = two_editors(a, b)
    found = preferences(rated_records(records, ratings), records)["tool", "IF"]
    assert counts(found) == expected


def test_pictures_of_other_items_are_no_pair():
    one, of_one = two_editors((4, 4), (1, 1), item="x")
    other, of_other = two_editors((4, 1), (1, 4), item="y")
    both = [*one, *other]
    found = preferences(rated_records(both, [*of_one, *of_other]), both)["tool", "IF"]
    assert (found.n_right, found.n_wrong, found.share) == (1, 1, 0.5)


def test_the_overall_figure_needs_all_criteria_of_a_row():
    row = {"id": "r", "item": "r"}
    both = [record(4, criterion="IF", **row), record(1, criterion="VC", **row)]
    assert overall_by_row(both) == {("tool", "r"): 50.0}
    assert overall_by_row(both[:1]) == {}


def test_people_s_overall_is_the_mean_of_what_they_rated():
    records, ratings = two_editors((4, 4), (3, 1))
    vc = [record(1, criterion="VC", id=r.id, item=r.item, editor=r.editor) for r in records]
    people = [rating(r.id, "VC", value) for r, value in zip(vc, (1, 4), strict=True)]
    both = [*records, *vc]
    found = preferences(rated_records(both, [*ratings, *people]), both)
    assert found["tool", OVERALL].n_tied == 1  # (4 + 1) / 2 and (1 + 4) / 2
    assert ("tool", OVERALL) not in preferences(rated_records(both, ratings), both)  # IF alone


def measured(editor, modify, *, labels):
    """BPM's four records of one picture of item x, and people's labels for IF and VC."""
    levels = {"size": 1.0, "position": 1.0, "modify": modify, "preserve": -0.1}
    records = [
        record(level, criterion=name, id=editor, item="x", editor=editor)
        for name, level in levels.items()
    ]
    return records, [rating(editor, name, value) for name, value in labels.items()]


@pytest.mark.parametrize(
    ("of_b", "expected"),
    [
        ({"IF": 1, "VC": 4}, (1, 0, 0, 0)),
        ({"IF": 4, "VC": 4}, (0, 1, 0, 0)),
        ({"VC": 4}, None),  # 4 is not more than (3 + 3) / 2: it is a mean of other criteria
    ],
)
def test_bpm_s_overall_figure_is_compared_where_people_rated_other_criteria(of_b, expected):
    """Nobody rates size and position: the figure needs their records, not people's levels."""
    of_a, rated_a = measured("a", 0.5, labels={"IF": 3, "VC": 3})
    others, rated_b = measured("b", 0.1, labels=of_b)
    records = [*of_a, *others]
    found = preferences(rated_records(records, [*rated_a, *rated_b]), records)
    overall = found.get(("tool", OVERALL))
    assert (overall and counts(overall)) == expected


def test_preferences_come_in_the_protocols_order_and_the_overall_figure_last():
    labels = {"VC": 1, "IF": 2}
    runs = [measured(editor, 0.1, labels=labels) for editor in "ab"]
    records = [one for of_one, _ in runs for one in reversed(of_one)]
    found = preferences(rated_records(records, [r for _, of in runs for r in of]), records)
    assert [what for _, what in found] == ["modify", "preserve", OVERALL]


def test_labels_of_the_criterion_named_beside_it_count_by_their_order_alone():
    measured = [
        record(level, criterion="preserve", id=id_, item=id_)
        for id_, level in (("a", -0.5), ("b", -0.1))
    ]
    ratings = [rating("a", "VC", 2), rating("b", "VC", 4)]
    rated = rated_records(measured, ratings)
    assert [list(row.values.values()) for row in rated] == [[2.0], [4.0]]
    assert not any(row.on_levels for row in rated)


def test_own_labels_come_before_those_of_another_criterion():
    index = RatingIndex([rating("a", "VC", 2), rating("a", "preserve", -0.2)])
    found = index.of_row("preserve", id="a", item="a", editor="m")
    assert [one.value for one in found.values()] == [-0.2]
    assert all(one.on_levels for one in found.values())
