import json

import pytest

from agent_judge.audit import card as cards
from agent_judge.audit.score import ExamPart, Score
from agent_judge.errors import InputError
from agent_judge.records import Record
from agent_judge.stats.intervals import Estimate
from agent_judge.stats.size import SIZE_BINS

SMALL, MIDDLE, LARGE = SIZE_BINS


def score(accuracy, n_planned=10, n_scored=8):
    return Score(
        n_planned=n_planned,
        n_scored=n_scored,
        reasons={},
        accuracy=Estimate(value=accuracy, low=0.1, high=0.9),
        spearman=Estimate(value=0.5),
        mae=Estimate(value=0.2),
        kappa=Estimate(value=0.6),
        confusion=((1, 0, 0, 0),) * 4,
    )


def make(judge="gpt-x", **by_size):
    sizes = {MIDDLE: score(0.5), LARGE: score(0.9, n_scored=10), **by_size}
    part = ExamPart(mode="oracle", criterion="IF", overall=score(0.8), splits={"size_bin": sizes})
    return cards.make_card(judge, [part], versions={"rubric": "1"}, exam={"seed": 7})


def record(area_pct, mode="oracle"):
    return Record(
        id="a", item="a", editor="", type=None, mode=mode, criterion="IF", status="scored",
        level=4, area_pct=area_pct,
    )  # fmt: skip


def test_a_card_comes_back_as_it_was_saved(tmp_path):
    card = make()
    cards.save_card(card, tmp_path)
    assert cards.find_card("gpt-x", tmp_path) == card


def test_a_judge_without_a_card_has_none(tmp_path):
    cards.save_card(make(), tmp_path)
    assert cards.find_card("gpt-y", tmp_path) is None


@pytest.mark.parametrize(("one", "other"), [("a/b", "a_b"), ("a:b", "a b"), ("x" * 90, "x" * 91)])
def test_judges_with_like_names_do_not_share_a_card(tmp_path, one, other):
    cards.save_card(make(one), tmp_path)
    assert cards.find_card(other, tmp_path) is None
    assert cards.find_card(one, tmp_path) == make(one)


def test_a_newer_card_takes_the_place_of_the_older(tmp_path):
    cards.save_card(make(), tmp_path)
    newer = make(**{SMALL: score(0.1)})
    cards.save_card(newer, tmp_path)
    assert cards.find_card("gpt-x", tmp_path) == newer


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 99}', '{"format": 1, "modes": {"oracle": {"IF": {}}}}']
)
def test_a_file_that_is_no_card_is_an_input_error(tmp_path, text):
    path = tmp_path / "card.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="no judge card"):
        cards.load_card(path)


def test_the_expectation_is_weighted_by_the_sizes_of_the_run():
    expected = cards.expectation(make(), "oracle", "IF", {MIDDLE: 1, LARGE: 3})
    assert expected.accuracy == pytest.approx((0.5 + 3 * 0.9) / 4)
    assert expected.share_scored == pytest.approx((0.8 + 3 * 1.0) / 4)
    assert expected.covered == 1


def test_sizes_that_the_card_does_not_know_are_said_to_be_uncovered():
    expected = cards.expectation(make(), "oracle", "IF", {SMALL: 3, LARGE: 1})
    assert expected.accuracy == pytest.approx(0.9)
    assert expected.covered == pytest.approx(0.25)


@pytest.mark.parametrize(("mode", "sizes"), [("tool", {LARGE: 1}), ("oracle", {SMALL: 1})])
def test_nothing_is_expected_where_nothing_is_known(mode, sizes):
    expected = cards.expectation(make(), mode, "IF", sizes)
    assert (expected.accuracy, expected.covered) == (None, 0)


def test_a_bin_in_which_nothing_was_scored_gives_a_share_but_no_accuracy():
    card = make(**{SMALL: score(None, n_scored=0)})
    expected = cards.expectation(card, "oracle", "IF", {SMALL: 1})
    assert expected.accuracy is None
    assert expected.share_scored == 0


def test_the_words_beside_a_headline():
    rows = [record(2.0), record(2.0), record(0.5), record(None)]
    (line,) = cards.describe(make(), rows)
    assert line.startswith("IF, oracle mode: right on 77% of the planted edits")
    assert "75% of the rows have one" in line
    assert cards.describe(None, rows) == ("this judge was never audited",)
    assert cards.describe(make(), [record(2.0, mode="tool")]) == (
        "IF, tool mode: never audited at these sizes",
    )


def test_the_file_is_readable_json(tmp_path):
    data = json.loads(cards.save_card(make(), tmp_path).read_text("utf-8"))
    assert data["modes"]["oracle"]["IF"]["by_size"][LARGE]["accuracy"] == 0.9
    assert data["judge"] == "gpt-x"
