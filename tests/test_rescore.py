"""Saved replies read again: what an older parser missed gets its level, nothing is sent."""

import pytest

from agent_judge.judges.coordinates import Convention
from agent_judge.records import Record
from agent_judge.rescore import rescore
from agent_judge.store import PlannedRow, Store
from tests.fakes import answers, calls, says

LOST = {"status": "unscored", "reason": "unparseable", "explanation": "an older parser"}


def kept(tmp_path, messages, looks=None, votes=None, **fields) -> Store:
    """A store with one record whose replies are `messages`."""
    store = Store.create(tmp_path, {"judge": {"model": "m"}})
    store.plan([PlannedRow(id="a", mode="tool", row={"id": "a"})])
    record = Record(
        id="a", item="a", editor="", type=None, mode="tool", criterion="IF", **{**LOST, **fields}
    )
    replies = [
        {
            "vote": votes[i] if votes else 0,
            "look": looks[i] if looks else 0,
            "size_wh": [100, 80],
            "boxes_asked": True,
            "message": message,
        }
        for i, message in enumerate(messages)
    ]
    store.save(record, round_=0, inputs={}, replies=replies)
    return store


def ended(store: Store) -> list[int | str | None]:
    return [c.after.level or c.after.reason for c in rescore(store, Convention(), write=False)]


@pytest.mark.parametrize(
    ("messages", "ends"),
    [
        ([answers("IF", 3)], [3]),
        ([says("hm"), answers("IF", 2)], [2]),
        ([calls(("difference", {})), answers("IF", 4)], [4]),
        ([says("still nothing")], []),
        ([calls(("difference", {}))], []),
        ([{"role": "assistant", "content": None, "refusal": "no"}], []),
        ([], []),
    ],
    ids=["now read", "the last counts", "after tools", "same", "cut off", "refused", "no replies"],
)
def test_only_final_answers_are_read_again(tmp_path, messages, ends):
    with kept(tmp_path, messages) as store:
        assert ended(store) == ends


def test_targets_and_votes_settle_as_in_a_run(tmp_path):
    messages = [answers("IF", level) for level in (4, 2, 4, 3)]
    with kept(tmp_path, messages, looks=[0, 1, 0, 1], votes=[0, 0, 1, 1]) as store:
        [change] = rescore(store, Convention(), write=False)
    assert (change.after.vote_levels, change.after.level) == ((2, 3), 2)


def test_a_level_that_can_no_longer_be_read_is_taken_back(tmp_path):
    scored = {"status": "scored", "level": 4, "label": "Flawless Execution", "reason": None}
    with kept(tmp_path, [says("four stars")], **scored) as store:
        assert ended(store) == ["unparseable"]


def test_a_transport_failure_has_no_answer_to_read(tmp_path):
    with kept(tmp_path, [answers("IF", 4)], reason="transport") as store:
        assert ended(store) == []


def test_changes_are_kept_as_a_further_round(tmp_path):
    with kept(tmp_path, [answers("IF", 3)]) as store:
        list(rescore(store, Convention(), write=True))
        rounds = [s.record.level for s in store.rounds("a", "IF")]
        assert rounds == [None, 3]
        assert list(rescore(store, Convention(), write=False)) == []
