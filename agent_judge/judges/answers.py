"""What a final answer looks like and how it is read, by the form of the criterion's rubric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agent_judge.judges import changes_reply, parse_reply, rating_reply, reply
from agent_judge.judges.reply import ToBox
from agent_judge.rubrics.rubric import Rubric


@dataclass(frozen=True)
class _Form:
    schema: Callable[..., dict[str, Any]]
    read: Callable[..., Any]


_LADDER = _Form(reply.answer_schema, reply.read_verdict)
_FORMS: Mapping[str, _Form] = {
    "ladder": _LADDER,
    "rating": _Form(rating_reply.answer_schema, rating_reply.read_verdict),
    "changes": _Form(changes_reply.answer_schema, changes_reply.read_changes),
    "changes_decision": _LADDER,
    "measure_parse": _Form(parse_reply.answer_schema, parse_reply.read_parse),
}


def answer_schema(rubric: Rubric, *, boxes: bool) -> dict[str, Any]:
    """JSON schema of the final answer: evidence first, level last.

    Args:
        rubric: the criterion's.
        boxes: whether boxes are asked for (not for cropped pictures).
    """
    return _FORMS[rubric.form].schema(rubric, boxes=boxes and rubric.asks_boxes)


def read_answer(content: object, rubric: Rubric, *, to_box: ToBox | None) -> Any:  # noqa: ANN401
    """What a final answer says: a `Verdict`, or what the rubric's form asks for instead.

    Args:
        content: the assistant message's `content`: text, or a list of parts.
        rubric: the criterion's; only its levels count.
        to_box: the judge's box convention; None where no boxes are asked for.

    Raises:
        ContradictionError: the level does not follow from its own answers.
        ReplyError: no answer, or more than one; the message is for the judge.
    """
    return _FORMS[rubric.form].read(content, rubric, to_box=to_box if rubric.asks_boxes else None)
