import pytest

from agent_judge.metrics.preference import ground_truth_test, preference_agreement


def counts(found):
    return found.n_right, found.n_wrong, found.n_undecided, found.n_tied, found.n_unscored


def test_agreement_counts_pairs_in_which_both_sides_prefer_one():
    pairs = [
        ((0.9, 0.1), (5, 3)),
        ((0.1, 0.9), (3, 5)),
        ((0.9, 0.1), (3, 5)),
        ((0.5, 0.5), (3, 5)),
        ((0.9, 0.1), (4, 4)),
        ((0.5, 0.5), (4, 4)),
        ((None, 0.1), (5, 3)),
        ((0.9, 0.1), (5, None)),
    ]
    found = preference_agreement(pairs)
    assert counts(found) == (2, 1, 1, 2, 2)
    assert found.share == pytest.approx(2 / 3)


def test_agreement_does_not_depend_on_which_picture_comes_first():
    pairs = [((0.9, 0.1), (5, 3)), ((0.2, 0.3), (5, 3)), ((0.7, 0.2), (2, 3)), ((1, 1), (2, 3))]
    swapped = [(metric[::-1], people[::-1]) for metric, people in pairs]
    assert preference_agreement(pairs) == preference_agreement(swapped)


@pytest.mark.parametrize("pairs", [[], [((0.5, 0.5), (1, 2))], [((0.9, 0.1), (2, 2))]])
def test_agreement_over_no_decided_pair_has_no_share(pairs):
    assert preference_agreement(pairs).share is None


def test_ground_truth_is_won_only_by_a_higher_figure():
    found = ground_truth_test([(0.9, 0.5), (0.4, 0.5), (0.5, 0.5), (None, 0.5), (0.5, None)])
    assert counts(found) == (1, 1, 1, 0, 2)
    assert found.share == pytest.approx(1 / 3)


@pytest.mark.parametrize("pairs", [[], [(None, 0.5)]])
def test_ground_truth_test_of_nothing_has_no_share(pairs):
    assert ground_truth_test(pairs).share is None
