"""Saved replies read again with today's parser, offline: no request is sent.

Only final answers are read again. A criterion that ended for another reason (transport, a refusal)
has no answer to read and stays as it is. So does one of whose conversations any left none, be it
that it broke off or that its pictures were identical: the others alone would make another verdict.
And so does one whose changes were judged apart: which ones were follows from how they were named.

The pictures are not looked at: flags of the pixel cross-check belong to the earlier verdict and are
left out of the new record, and a note says so.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent_judge.errors import ContradictionError, ReplyError
from agent_judge.judges.answers import read_answer
from agent_judge.judges.coordinates import Convention
from agent_judge.judges.spoken import text_of
from agent_judge.records import Reason, Record, Verdict, covered_area
from agent_judge.rubrics.protocol import rubric_of
from agent_judge.settle import are_apart, median_level, verdict_fields, worst_of
from agent_judge.store import Saved, Store

_READABLE: frozenset[Reason | None] = frozenset({None, "unparseable", "inconsistent"})
_OF_A_VERDICT = ("claims_", "votes_apart", "label_only")
"""How flags begin that an earlier reading left."""
RESCORED = "rescored: read again from the saved replies, without the pixel cross-check"
"""The note of every record that was."""
_Reading = Verdict | ReplyError


@dataclass(frozen=True, kw_only=True)
class Reread:
    """A record that today's parser reads otherwise."""

    before: Record
    after: Record


def rescore(store: Store, convention: Convention, *, write: bool) -> Iterator[Reread]:
    """Every record of a run that reads otherwise today.

    Args:
        store: the run; open for writing where `write` is set.
        convention: how the run's judge writes boxes.
        write: keep each change as a further round; the earlier round stays.
    """
    for planned in list(store.planned()):
        for criterion in store.criteria:
            saved = store.latest(planned.id, criterion)
            after = _read_again(saved, convention) if saved else None
            if saved is None or after is None or _same(saved.record, after):
                continue
            if write:
                store.save(
                    after, round_=saved.round + 1, inputs=saved.inputs, replies=saved.replies
                )
            yield Reread(before=saved.record, after=after)


def _read_again(saved: Saved, convention: Convention) -> Record | None:
    record = saved.record
    if record.status not in ("scored", "unscored") or record.reason not in _READABLE:
        return None
    n_conversations = _n_conversations(saved)
    if n_conversations is None:
        return None
    votes = [
        [_reading(list(look), record, convention) for _, look in itertools.groupby(vote, _look)]
        for _, vote in itertools.groupby(saved.replies, lambda entry: entry["vote"])
    ]
    readings = [reading for vote in votes for reading in vote if reading is not None]
    if len(readings) != n_conversations:
        return None
    return _settled_again(record, votes, saved.replies[0]["size_wh"])


def _n_conversations(saved: Saved) -> int | None:
    """How many there were, those without a reply included; None where no reply tells it."""
    looks = next((entry.get("looks") for entry in saved.replies), None)
    return None if looks is None else looks * len(saved.record.vote_levels)


def _look(entry: Mapping[str, Any]) -> int:
    return int(entry["look"])


def _reading(
    entries: Sequence[Mapping[str, Any]], record: Record, convention: Convention
) -> _Reading | None:
    """What the last message of a conversation says; None when it is no answer."""
    last = entries[-1]
    content = text_of(last["message"].get("content"))
    if last["message"].get("refusal") or last["message"].get("tool_calls"):
        return None
    width, height = last["size_wh"]
    to_box = convention.reader((width, height)) if last["boxes_asked"] else None
    try:
        answer = read_answer(content, rubric_of(record.criterion).first_step, to_box=to_box)
    except ReplyError as err:
        return err
    return answer if isinstance(answer, Verdict) else None


def _settled_again(
    record: Record, votes: Sequence[Sequence[_Reading | None]], size_wh: tuple[int, int]
) -> Record:
    levels = [[_level(reading) for reading in vote] for vote in votes]
    scale = rubric_of(record.criterion).scale
    worst = [worst_of(of_vote, scale) for of_vote in levels]
    vote_levels = tuple(of_vote[look] for of_vote, look in zip(levels, worst, strict=True))
    level = median_level(vote_levels)
    number = vote_levels.index(level) if level in vote_levels else 0
    chosen = votes[number][worst[number]]
    fields: dict[str, Any] = {
        "level": None, "label": None, "score_100": None, "reason": None, "answers": (),
        "anomalies": (), "vote_levels": vote_levels,
        "per_target": _per_target(record, votes[number]),
        "flags": _flags(record, votes, vote_levels),
        "notes": tuple(dict.fromkeys((*record.notes, RESCORED))),
        **_target_fields(record, chosen, size_wh),
    }  # fmt: skip
    if isinstance(chosen, Verdict) and level is not None:
        return replace(record, **{**fields, **verdict_fields(chosen, scale)})
    reason = "inconsistent" if isinstance(chosen, ContradictionError) else "unparseable"
    told = {"status": "unscored", "reason": reason, "explanation": str(chosen)}
    return replace(record, **{**fields, **told})


def _flags(
    record: Record, votes: Sequence[Sequence[_Reading | None]], vote_levels: Sequence[float | None]
) -> tuple[str, ...]:
    flags = {flag for flag in record.flags if not flag.startswith(_OF_A_VERDICT)}
    if are_apart(vote_levels, rubric_of(record.criterion).scale):
        flags.add("votes_apart")
    if any(isinstance(r, Verdict) and r.label_only for vote in votes for r in vote):
        flags.add("label_only")
    return tuple(sorted(flags))


def _target_fields(
    record: Record, chosen: _Reading | None, size_wh: tuple[int, int]
) -> dict[str, Any]:
    """Where the judge saw the target; given boxes stay."""
    if record.box_origin == "given":
        return {}
    box = chosen.target_box if isinstance(chosen, Verdict) else None
    if box is None:
        return {"target_boxes": (), "box_origin": None, "area_pct": None}
    area_pct = round(100 * covered_area([box]) / (size_wh[0] * size_wh[1]), 4)
    return {"target_boxes": (box.xyxy,), "box_origin": "judge", "area_pct": area_pct}


def _per_target(record: Record, vote: Sequence[_Reading | None]) -> tuple[Mapping[str, Any], ...]:
    """The targets as they are read today; one look may show them all."""
    readings = vote if len(vote) > 1 else [*vote] * len(record.per_target)
    return tuple(
        {
            **target,
            "level": _level(reading),
            "label": reading.label if isinstance(reading, Verdict) else None,
        }
        for target, reading in zip(record.per_target, readings, strict=True)
    )


def _level(reading: _Reading | None) -> float | None:
    return reading.level if isinstance(reading, Verdict) else None


def _same(before: Record, after: Record) -> bool:
    return (before.level, before.reason, before.answers) == (
        after.level,
        after.reason,
        after.answers,
    )
