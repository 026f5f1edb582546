import csv
import json

import pytest

from agent_judge.errors import InputError
from agent_judge.rubrics.protocol import load_ladder
from tests.annotate.sessions import (
    FLAWLESS,
    PERFECT,
    WRONG,
    number_of,
    open_session,
    said,
    write_rows,
)


@pytest.fixture
def manifest(tmp_path):
    return write_rows(tmp_path, 4)


@pytest.fixture
def session(manifest):
    with open_session(manifest) as running:
        yield running


def labels(manifest):
    with manifest.with_name("labels.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_ladders_are_those_that_judges_get(session):
    for told in session.about()["ladders"]:
        ladder = load_ladder(told["criterion"])
        assert [q["ask"] for q in told["questions"]] == [q.ask for q in ladder.questions]
        assert [q["outcomes"] for q in told["questions"]] == [q.outcomes for q in ladder.questions]
        assert [level["label"] for level in told["levels"]] == list(ladder.labels)
        assert told["type_notes"] == ladder.type_notes


def test_nothing_that_a_page_gets_names_the_editor(session):
    session.save(0, said())
    got = [
        session.about(),
        session.entries_of("ann"),
        session.calibration("ann"),
        *(session.row(n) for n in range(4)),
    ]
    assert "secret" not in json.dumps(got)


def test_a_saved_rating_is_in_the_table_at_once(session, manifest):
    number = number_of(session, "gpt-secret-2")
    session.save(number, said(comment=" too \n red "))

    (row,) = labels(manifest)
    assert (row["id"], row["by"], row["IF"], row["VC"]) == ("gpt-secret-2", "ann", "4", "4")
    assert row["comment"] == "too red"
    assert row["calibration"] == ("yes" if number < 2 else "")


def test_answers_beyond_the_end_of_the_walk_are_dropped(session):
    kept = session.save(0, said(answers={"IF": {**WRONG, "rest_kept": "yes"}}))
    assert kept["answers"] == {"IF": WRONG, "VC": {}}
    assert kept["levels"] == {"IF": 2}


def test_a_rater_gets_back_own_ratings_only(session):
    session.save(0, said())
    session.save(1, said("bob", answers={"IF": WRONG, "VC": PERFECT}))

    assert session.entries_of("ann").keys() == {"0"}
    assert session.entries_of(" bob ")["1"]["levels"] == {"IF": 2, "VC": 4}
    assert session.entries_of("cy") == {}
    assert session.about()["raters"] == ["ann", "bob"]


def test_ratings_are_there_after_a_restart(manifest):
    with open_session(manifest) as first:
        first.save(1, said())
    with open_session(manifest) as again:
        assert again.entries_of("ann")["1"]["answers"]["IF"] == FLAWLESS


@pytest.mark.parametrize(
    ("box", "kept"),
    [
        ([10, 10, 20, 30], (10, 10, 20, 30)),
        ([-5, 100, 20, 999], (0, 100, 20, 120)),
    ],
)
def test_drawn_boxes_are_kept_inside_the_picture(session, manifest, box, kept):
    number = number_of(session, "gpt-secret-3")
    assert session.row(number)["draw_boxes"]
    assert session.save(number, said(boxes=[box]))["boxes"] == (kept,)
    assert json.loads(labels(manifest)[0]["boxes"]) == [list(kept)]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"by": ""}, "1 to 60"),
        ({"by": "x" * 61}, "1 to 60"),
        ({"by": "a\x1bb"}, "printable"),
        ({"by": "=HYPERLINK()"}, "spreadsheets"),
        ({"by": 3}, "by: Input should be a valid string"),
        ({"answers": {"IF": {"target_edited": "maybe"}}}, "has no answer 'maybe'"),
        ({"answers": []}, "answers: "),
        ({"level": 4}, "level: Extra inputs"),
        ({"comment": "x" * 2001}, "comment: "),
        ({"comment": "\ud800"}, "comment: "),
        ({"boxes": [[1, 1, 1, 5]]}, "box 1: box must have x2 > x1"),
        ({"boxes": [[1, 1, 5]]}, "box 1: "),
        ({"boxes": [[500, 500, 510, 510]]}, "box 1 lies outside"),
        ({"boxes": [[0, 0, float("nan"), 5]]}, "box 1: box coordinates must be finite"),
    ],
)
def test_what_cannot_be_kept_is_refused_and_changes_nothing(session, manifest, changes, complaint):
    with pytest.raises(InputError, match=complaint):
        session.save(number_of(session, "gpt-secret-3"), said(**changes))
    assert labels(manifest) == []


def test_rows_with_boxes_of_their_own_take_no_others(session):
    with pytest.raises(InputError, match="has its own"):
        session.save(number_of(session, "gpt-secret-0"), said(boxes=[[1, 1, 5, 5]]))


def test_a_row_that_cannot_be_shown_cannot_be_rated(session, manifest):
    (manifest.parent / "gpt-secret.png").write_bytes(b"no picture")

    assert session.row(0)["pictures"] is None
    with pytest.raises(InputError, match="cannot be rated"):
        session.save(0, said())
    for name in ("source", "difference"):
        with pytest.raises(LookupError):
            session.picture(0, name)


@pytest.mark.parametrize("number", [-1, 4])
def test_there_are_no_other_rows(session, number):
    with pytest.raises(LookupError):
        session.row(number)


def test_others_ratings_stay_hidden_until_the_row_is_rated(session):
    session.save(0, said("bob"))
    session.save(1, said("bob"))
    assert session.calibration("ann")["rows"] == []

    session.save(1, said(answers={"IF": FLAWLESS}))  # not complete
    assert session.calibration("ann")["rows"] == []

    session.save(0, said(answers={"IF": WRONG, "VC": PERFECT}))
    (row,) = session.calibration("ann")["rows"]
    assert row["number"] == 0
    assert {by: one["levels"]["IF"] for by, one in row["said"].items()} == {"ann": 2, "bob": 4}


def test_only_the_calibration_round_is_shown_side_by_side(session):
    for number in range(4):
        session.save(number, said())
        session.save(number, said("bob"))
    assert [row["number"] for row in session.calibration("ann")["rows"]] == [0, 1]


def test_the_raters_agreement_is_told(session):
    session.save(0, said())
    session.save(1, said(answers={"IF": WRONG, "VC": PERFECT}))
    session.save(0, said("bob"))
    session.save(1, said("bob"))
    agreement = session.calibration("ann")["agreement"]

    (pair,) = agreement["IF"]["pairs"]
    assert (pair["a"], pair["b"], pair["n"], pair["exact"]) == ("ann", "bob", 2, 0.5)
    assert agreement["IF"]["alpha"] == pytest.approx(0)  # 4 4, 2 4: as far apart as chance
    assert agreement["VC"]["alpha"] is None  # nobody gave another value
