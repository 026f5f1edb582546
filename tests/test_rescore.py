"""Saved replies read again: what an older parser missed gets its level, nothing is sent."""

import pytest

from agent_judge.judges.coordinates import Convention
from agent_judge.records import Record
from agent_judge.rescore import RESCORED, rescore
from agent_judge.rubrics.protocol import load_ladder
from agent_judge.store import PlannedRow, Store
from tests.fakes import answers, calls, says

LOST = {"status": "unscored", "reason": "unparseable", "explanation": "an older parser"}


def kept(tmp_path, messages, looks=None, votes=None, n_looks=1, **fields) -> Store:
    """A store with one record whose replies are `messages`."""
    store = Store.create(tmp_path, {"judge": {"model": "m"}})
    store.ask_for(["IF", "VC"])
    store.plan([PlannedRow(id="a", mode="tool", row={"id": "a"})])
    fields = {**LOST, "vote_levels": (None,) * len(set(votes or [0])), **fields}
    record = Record(id="a", item="a", editor="", type=None, mode="tool", criterion="IF", **fields)
    replies = [
        {
            "vote": votes[i] if votes else 0,
            "look": looks[i] if looks else 0,
            "looks": n_looks,
            "size_wh": [100, 80],
            "boxes_asked": True,
            "message": message,
        }
        for i, message in enumerate(messages)
    ]
    store.save(record, round_=0, inputs={}, replies=replies)
    return store


def targets(*levels: int | None) -> tuple[dict[str, object], ...]:
    ladder = load_ladder("IF")
    labels = (None if level is None else ladder.label_of(level) for level in levels)
    return tuple(
        {"box": [n, 0, n + 1, 1], "level": level, "label": label}
        for n, (level, label) in enumerate(zip(levels, labels, strict=True))
    )


def ended(store: Store) -> list[float | str | None]:
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
    lost = {"n_looks": 2, "per_target": targets(None, None)}
    with kept(tmp_path, messages, looks=[0, 1, 0, 1], votes=[0, 0, 1, 1], **lost) as store:
        [change] = rescore(store, Convention(), write=False)
    assert (change.after.vote_levels, change.after.level) == ((2, 3), 2)
    assert change.after.per_target == targets(4, 2)


def test_one_look_at_all_targets_speaks_for_each(tmp_path):
    with kept(tmp_path, [answers("IF", 3)], per_target=targets(None, None)) as store:
        [change] = rescore(store, Convention(), write=False)
    assert change.after.per_target == targets(3, 3)


@pytest.mark.parametrize(
    ("messages", "record"),
    [
        pytest.param([answers("IF", 4)], {"n_looks": 2}, id="a target whose judge fell silent"),
        pytest.param(
            [answers("IF", 4)],
            {"n_looks": 2, "status": "scored", "level": 1, "reason": None, "vote_levels": (1,)},
            id="a target that was identical, so that no judge was asked",
        ),
        pytest.param([answers("IF", 4)], {"vote_levels": (None,) * 3}, id="votes that broke off"),
    ],
)
def test_conversations_without_an_answer_are_not_passed_over(tmp_path, messages, record):
    with kept(tmp_path, messages, **record) as store:
        assert ended(store) == []


def test_what_an_earlier_verdict_left_does_not_stay_with_a_new_one(tmp_path):
    """Flags of the cross-check and of the votes, and where the judge saw the target."""
    flags = ("claims_no_edit_but_target_changed", "label_only", "unrelated_pair", "votes_apart")
    before = {
        **{"status": "scored", "level": 1, "label": "Localization Failure", "reason": None},
        **{"flags": flags, "target_boxes": ((0.0, 0.0, 9.0, 9.0),), "box_origin": "judge"},
    }
    messages = [answers("IF", 4, target_box=[10, 20, 30, 40])]
    with kept(tmp_path, messages, notes=("scaled",), **before) as store:
        [change] = rescore(store, Convention(), write=True)
        assert list(rescore(store, Convention(), write=False)) == []
    after = change.after
    assert (after.level, after.flags) == (4, ("unrelated_pair",))
    assert (after.target_boxes, after.box_origin) == (((10.0, 20.0, 30.0, 40.0),), "judge")
    assert after.area_pct == 100 * 20 * 20 / (100 * 80)
    assert after.notes == ("scaled", RESCORED)


def test_given_boxes_stay_and_flags_of_today_s_reading_are_set(tmp_path):
    given = {"target_boxes": ((1.0, 1.0, 5.0, 5.0),), "box_origin": "given", "area_pct": 0.2}
    messages = [answers("IF", 4), answers("IF", 2), says("Label: Flawless Execution")]
    with kept(tmp_path, messages, votes=[0, 1, 2], **given) as store:
        [change] = rescore(store, Convention(), write=False)
    assert change.after.vote_levels == (4, 2, 4)
    assert change.after.flags == ("label_only", "votes_apart")
    assert (change.after.target_boxes, change.after.area_pct) == (((1.0, 1.0, 5.0, 5.0),), 0.2)


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
