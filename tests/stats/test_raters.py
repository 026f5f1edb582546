import pytest
from scipy import stats

from agent_judge.stats.raters import rater_pairs


def test_pairs_of_raters_compare_only_the_rows_that_both_rated():
    rows = {
        "a": {"ann": 4, "bob": 3, "cy": 1},
        "b": {"ann": 2, "bob": 2},
        "c": {"ann": 1, "bob": 2},
        "d": {"ann": 3, "cy": 1},
        "e": {"bob": 4},
    }

    ann_bob, ann_cy, bob_cy = rater_pairs(rows)

    assert (ann_bob.a, ann_bob.b, ann_bob.n) == ("ann", "bob", 3)
    assert ann_bob.spearman == pytest.approx(stats.spearmanr([4, 2, 1], [3, 2, 2]).statistic)
    assert ann_bob.exact == pytest.approx(1 / 3)
    assert (ann_cy.n, ann_cy.spearman, ann_cy.exact) == (2, None, 0)  # cy gave one value only
    assert bob_cy.n == 1


@pytest.mark.parametrize("rows", [{}, {"a": {"ann": 4}}, {"a": {"ann": 4}, "b": {"bob": 4}}])
def test_no_shared_row_is_no_pair(rows):
    assert rater_pairs(rows) == []
