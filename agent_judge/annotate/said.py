"""What a page sends about one row, checked before it is kept."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_judge.errors import InputError
from agent_judge.rubrics.ladder import Ladder

_FORMULA = ("=", "+", "-", "@")
_MAX_NAME, _MAX_COMMENT, _MAX_BOXES = 60, 2000, 100


class Said(BaseModel):
    """What a page sends about one row."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    by: str
    answers: dict[str, dict[str, str]]
    boxes: list[list[float]] = Field(max_length=_MAX_BOXES)
    comment: str = Field(max_length=_MAX_COMMENT)
    saw_difference: bool


def parse_said(data: object) -> Said:
    """What a page sent, with its name and comment on one line.

    Raises:
        InputError: it is of another form; the message names the field.
    """
    try:
        said = Said.model_validate(data)
    except ValidationError as err:
        fault = err.errors(include_url=False, include_input=False)[0]
        raise InputError(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}") from err
    comment = " ".join(said.comment.split())
    return said.model_copy(update={"by": rater_name(said.by), "comment": comment})


def rater_name(text: str) -> str:
    """A rater's name that tables, terminals and spreadsheets can hold.

    Raises:
        InputError: it is none.

    Example:
        >>> rater_name("  Ann   Lee ")
        'Ann Lee'
    """
    name = " ".join(text.split())
    if not name or len(name) > _MAX_NAME or not name.isprintable():
        raise InputError(f"by: expected a name of 1 to {_MAX_NAME} printable characters")
    if name.startswith(_FORMULA):
        raise InputError(f"by: a name does not start with {name[0]!r}: spreadsheets would run it")
    return name


def on_the_way(ladder: Ladder, answers: Mapping[str, str]) -> dict[str, str]:
    """The answers that the ladder's walk looks at; what comes after its end is dropped.

    Raises:
        InputError: an answer that its question does not have.
    """
    walked: dict[str, str] = {}
    for question in ladder.questions:
        answer = answers.get(question.id)
        if answer is None:
            break
        if answer not in question.outcomes:
            raise InputError(f"answers: {question.id} has no answer {answer!r:.40}")
        walked[question.id] = answer
        if question.outcomes[answer] is not None:
            break
    return walked
