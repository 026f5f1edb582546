"""From a judge's final answer to a number on a scale, or to the exact fault to tell it.

The answer is one JSON object: the reason, a yes or no where the rubric asks for one, then the
number. Without JSON, lines such as `Score: 4/5` count where they leave no doubt, and so does a
reply that is nothing but its number. A number out of range, between two levels or given twice
differently never becomes a level, and no number is ever looked for in prose.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agent_judge.errors import ContradictionError, ReplyError
from agent_judge.judges.labels import settles
from agent_judge.judges.reply import ToBox, clean, strict_object
from agent_judge.judges.spoken import (
    CONFLICT,
    beside,
    json_objects,
    refuse_broken_json,
    spoken,
    text_of,
)
from agent_judge.records import Verdict
from agent_judge.rubrics.rating import YES_NO, Rating

_SCORE_KEYS = ("score", "rating", "level")
_YES_NO_KEYS = (YES_NO, "yes_or_no")
_REASON_KEYS = ("reason", "justification", "explanation")
_MARKS = " \t\r\n*_`\"'\u2018\u2019\u201c\u201d"
_NUMBER = re.compile(
    r"(?P<number>[+-]?\d{1,9}(?:\.\d{1,9})?)"
    r"(?:\s*(?:/|out of|of)\s*(?P<whole>\d{1,9}(?:\.\d{1,9})?))?",
    re.IGNORECASE,
)
# What may stand between a word and its value. A sign or a point belongs to the value: `-4` and
# `.5` must not be read as 4 and 5.
_IS = rf"[{_MARKS}]*(?:(?:is\b:?|[:=]|[-\u2013\u2014]\s)[{_MARKS}]*|\s)"
_SCORE_LINE = re.compile(
    rf"[{_MARKS}#>]*(?:(?:final|overall|my|the)\s+)*(?:score|rating){_IS}(?P<value>.+)",
    re.IGNORECASE,
)
_LATER_LINE = re.compile(
    rf"[^\d\n]{{0,60}}?\b(?:score|rating){_IS}(?P<value>.+)",  # "Actually, the score is 3"
    re.IGNORECASE,
)
_YES_NO_LINE = re.compile(
    rf"[{_MARKS}#>]*(?:(?:yes[ _/]?(?:or[ _])?no|answer|verdict){_IS})?"
    rf"(?P<value>yes|no)[{_MARKS}.!]*",
    re.IGNORECASE,
)
_Object = tuple[int, int, dict[str, Any]]


def answer_schema(rating: Rating, *, boxes: bool) -> dict[str, Any]:
    """JSON schema of the final answer: the reason first, the number last. It holds no boxes."""
    properties: dict[str, Any] = {"reason": {"type": "string"}}
    if rating.yes_no is not None:
        properties[YES_NO] = {"type": "string", "enum": ["yes", "no"]}
    properties["score"] = {"type": "integer", "enum": list(rating.scale.levels)}
    return strict_object(properties)


def read_verdict(content: object, rating: Rating, *, to_box: ToBox | None) -> Verdict:
    """The verdict in a final answer; it holds no boxes.

    A number without a reason is accepted and flagged (`label_only`): it was asked for and stated
    once.

    Raises:
        ContradictionError: yes beside the worst number, or no beside the best.
        ReplyError: no number on the scale, or more than one; the message is for the judge.

    Example:
        >>> from agent_judge.rubrics.protocol import rubric_of
        >>> text = '{"reason": "blue, not red", "yes_no": "no", "score": 1}'
        >>> read_verdict(text, rubric_of("following"), to_box=None).level
        1
    """
    text = spoken(text_of(content))
    best = rating.scale.best
    objects = json_objects(text)
    rest = beside(text, objects)
    given = _from_json(text, objects, rest, best) or _from_lines(rest, best)
    level = _level(given["score"], rating)
    yes_no = _yes_no(given[YES_NO], rating)
    if yes_no is not None:
        _refuse_contradiction(yes_no, level, rating)
    reason = clean(given["reason"])
    return Verdict(
        level=level,
        label=yes_no or rating.label_of(level),
        answers=() if yes_no is None else ((YES_NO, yes_no),),
        label_only=not reason,
        explanation=reason,
    )


def _from_json(
    text: str, objects: Sequence[_Object], rest: str, best: float
) -> dict[str, Any] | None:
    """The final object with a number; None where there is none."""
    found = [(start, end, named) for start, end, data in objects for named in _named_in(data)]
    if not found:
        refuse_broken_json(rest)
        return None
    start, stop, last = found[-1]
    others = [(begin, end) for begin, end, one in found[:-1] if _said(one) != _said(last)]
    if others and (others[-1][0] == start or not settles(text[others[-1][1] : start])):
        raise _two_answers()
    lines = [*_score_lines(rest).values(), *_score_lines(rest[stop:], _LATER_LINE).values()]
    beside = {_number(value, best) for value in lines if _states(value)}
    if beside - {_number(last["score"], best)}:
        raise _two_answers()
    return last


def _named_in(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What an object says, or else what each object right inside it says."""
    if own := _named(data):
        return [own]
    inner = [_named(value) for value in data.values() if isinstance(value, dict)]
    return [named for named in inner if named]


def _named(data: Mapping[str, Any]) -> dict[str, Any]:
    """Score, yes or no and reason under our own names; empty where no score is among them."""
    values: dict[str, list[Any]] = {}
    for key, value in data.items():
        values.setdefault(re.sub(r"\W+", "_", str(key).strip()), []).append(value)
    keys = [key for key in _SCORE_KEYS if key in values]
    if not keys or (keys == ["level"] and "label" in values):  # that is a level of some ladder
        return {}
    reasons = [value for key in _REASON_KEYS for value in values.get(key, ())]
    return {
        "score": _one([v for key in _SCORE_KEYS for v in values.get(key, ())]),
        YES_NO: _one([v for key in _YES_NO_KEYS for v in values.get(key, ())]),
        "reason": next((reason for reason in reasons if reason is not None), None),
    }


def _one(values: Sequence[object]) -> object:
    """The value that is given; `CONFLICT` where several are that differ."""
    known = [value for value in values if value is not None]
    if any(value is not known[0] and value != known[0] for value in known):
        return CONFLICT
    return known[0] if known else None


def _said(named: Mapping[str, Any]) -> tuple[str, str]:
    return str(named["score"]), str(named[YES_NO])


def _two_answers() -> ReplyError:
    return ReplyError("two different answers were given; give one JSON object only")


def _from_lines(text: str, best: float) -> dict[str, Any]:
    """What lines state, the others as the reason."""
    if _states(text):
        return {"score": text, YES_NO: None, "reason": None}
    lines = _score_lines(text)
    stated = {line: value for line, value in lines.items() if _states(value)} or lines
    answers = {
        line: found["value"].casefold()
        for line in text.splitlines()
        if (found := _YES_NO_LINE.fullmatch(line))
    }
    if len({_number(v, best) for v in stated.values()}) > 1 or len(set(answers.values())) > 1:
        raise _two_answers()
    reason = [line for line in text.splitlines() if line not in stated and line not in answers]
    return {
        "score": next(iter(stated.values()), None),
        YES_NO: next(iter(answers.values()), None),
        "reason": "\n".join(reason),
    }


def _score_lines(text: str, form: re.Pattern[str] = _SCORE_LINE) -> dict[str, str]:
    """By line that begins with the word, or is of another form: what stands behind the word."""
    found = {line: form.fullmatch(line) for line in text.splitlines()}
    return {line: match["value"] for line, match in found.items() if match}


def _states(value: str) -> bool:
    """Whether a text is a number and nothing else."""
    return _NUMBER.fullmatch(_bare(value)) is not None


def _number(value: object, best: float) -> float | None:
    """The number that a value states; a fraction only where its whole is the best level."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    stated = _NUMBER.fullmatch(_bare(value)) if isinstance(value, str) else None
    if stated is None or (stated["whole"] is not None and float(stated["whole"]) != best):
        return None
    return float(stated["number"])


def _bare(text: str) -> str:
    return text.strip(_MARKS).rstrip(f".{_MARKS}")


def _level(value: object, rating: Rating) -> int:
    worst, best = rating.scale.worst, rating.scale.best
    wanted = f"'score' must be one whole number from {worst:g} to {best:g}"
    if value is None:
        raise ReplyError(f"'score' is missing; {wanted}")
    if value is CONFLICT:
        raise ReplyError(f"'score' was given twice, differently; {wanted}")
    number = _number(value, best)
    if number is None or number not in rating.scale:
        raise ReplyError(f"{wanted}, but was {str(value)[:80]!r}")
    return int(number)


def _yes_no(value: object, rating: Rating) -> str | None:
    if rating.yes_no is None:
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = value.strip(f".!{_MARKS}").casefold() if isinstance(value, str) else ""
    if text not in ("yes", "no"):
        came = "is missing" if value is None else f"was {str(value)[:40]!r}"
        came = "was given twice, differently" if value is CONFLICT else came
        raise ReplyError(f"'{YES_NO}' must be 'yes' or 'no', but {came}")
    return text


def _refuse_contradiction(yes_no: str, level: int, rating: Rating) -> None:
    against = rating.scale.worst if yes_no == "yes" else rating.scale.best
    if level == against:
        raise ContradictionError(
            f"you answered {yes_no!r} and gave {level}, which contradict each other"
        )
