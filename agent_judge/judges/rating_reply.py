"""From a judge's final answer to a number on a scale, or to the exact fault to tell it.

The answer is one JSON object: the reason, a yes or no where the rubric asks for one, then the
number. Without JSON, lines such as `Score: 4/5` count where they leave no doubt. A number out of
range, between two levels or given twice differently never becomes a level.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from agent_judge.errors import ContradictionError, ReplyError
from agent_judge.judges.labels import settles
from agent_judge.judges.reply import ToBox, clean, strict_object
from agent_judge.judges.spoken import CONFLICT, json_objects, refuse_broken_json, spoken, text_of
from agent_judge.records import Verdict
from agent_judge.rubrics.rating import YES_NO, Rating

_SCORE_KEYS = ("score", "rating", "level")
_NUMBER = re.compile(
    r"(?P<number>[+-]?\d+(?:\.\d+)?)(?:\s*(?:/|out of|of)\s*(?P<whole>\d+(?:\.\d+)?))?",
    re.IGNORECASE,
)
_SCORE_LINE = re.compile(
    r"^[\W_]*(?:(?:final|overall|my|the)\s+)*(?:score|rating)\b[\W_]{0,8}(?:is\b\s*)?(?P<value>.*)$",
    re.IGNORECASE,
)
_YES_NO_LINE = re.compile(
    r"^[\W_]*(?:(?:yes[ _/]?(?:or[ _])?no|answer|verdict)\b[\W_]{0,8})?(?P<value>yes|no)\b[\W_]*$",
    re.IGNORECASE,
)


def answer_schema(rating: Rating, *, boxes: bool) -> dict[str, Any]:
    """JSON schema of the final answer: the reason first, the number last. It holds no boxes."""
    properties: dict[str, Any] = {"reason": {"type": "string"}}
    if rating.yes_no is not None:
        properties[YES_NO] = {"type": "string", "enum": ["yes", "no"]}
    properties["score"] = {"type": "integer", "enum": list(rating.scale.levels)}
    return strict_object(properties)


def read_verdict(content: object, rating: Rating, *, to_box: ToBox | None) -> Verdict:
    """The verdict in a final answer; it holds no boxes.

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
    given = _from_json(text) or _from_lines(text)
    level = _level(given.get("score"), rating)
    yes_no = _yes_no(given.get(YES_NO), rating)
    if yes_no is not None:
        _refuse_contradiction(yes_no, level, rating)
    return Verdict(
        level=level,
        label=yes_no or rating.label_of(level),
        answers=() if yes_no is None else ((YES_NO, yes_no),),
        explanation=clean(given.get("reason")),
    )


def _from_json(text: str) -> dict[str, Any] | None:
    """The final object with a number; None where there is none."""
    found = []
    rest = text
    for start, end, data in json_objects(text):
        rest = rest[:start] + " " * (end - start) + rest[end:]
        for inner in (data, *data.values()):
            if isinstance(inner, dict) and (named := _named(inner)):
                found.append((start, end, named))
                break
    if not found:
        refuse_broken_json(rest)
        return None
    start, _, last = found[-1]
    others = [(end, one) for _, end, one in found[:-1] if _said(one) != _said(last)]
    if others and not settles(text[others[-1][0] : start]):
        raise ReplyError("two different answers were given; give one JSON object only")
    return last


def _named(data: Mapping[str, Any]) -> dict[str, Any]:
    """Score, yes or no and reason under our own names; empty where no score is among them."""
    keys = {re.sub(r"\W+", "_", str(key).strip()): value for key, value in data.items()}
    scores = [keys[key] for key in _SCORE_KEYS if key in keys]
    if not scores:
        return {}
    reason = keys.get("reason", keys.get("justification", keys.get("explanation")))
    yes_no = keys.get(YES_NO, keys.get("answer", keys.get("yes_or_no")))
    return {"score": scores[0], YES_NO: yes_no, "reason": reason}


def _said(named: Mapping[str, Any]) -> tuple[str, str]:
    return str(named["score"]), str(named[YES_NO])


def _from_lines(text: str) -> dict[str, Any]:
    scores, answers, reason = [], [], []
    for line in text.splitlines():
        if found := _SCORE_LINE.match(line):
            scores.append(found["value"].strip(" *_`.#"))
        elif found := _YES_NO_LINE.match(line):
            answers.append(found["value"].casefold())
        else:
            reason.append(line)
    if len(set(scores)) > 1 or len(set(answers)) > 1:
        raise ReplyError("two different answers were given; give one JSON object only")
    first = {"score": scores[0] if scores else None, YES_NO: answers[0] if answers else None}
    return {**first, "reason": "\n".join(reason)}


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


def _number(value: object, best: float) -> float | None:
    """The number that a value states; a fraction only where its whole is the best level."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if math.isfinite(value) else None
    if not isinstance(value, str):
        return None
    stated = _NUMBER.fullmatch(value.strip(" *_`.\"'"))
    if stated is None or (stated["whole"] is not None and float(stated["whole"]) != best):
        return None
    return float(stated["number"])


def _yes_no(value: object, rating: Rating) -> str | None:
    if rating.yes_no is None:
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = value.strip(" *_`.\"'!").casefold() if isinstance(value, str) else ""
    if text not in ("yes", "no"):
        came = "is missing" if value is None else f"was {str(value)[:40]!r}"
        raise ReplyError(f"'{YES_NO}' must be 'yes' or 'no', but {came}")
    return text


def _refuse_contradiction(yes_no: str, level: int, rating: Rating) -> None:
    against = rating.scale.worst if yes_no == "yes" else rating.scale.best
    if level == against:
        raise ContradictionError(
            f"you answered {yes_no!r} and gave {level}, which contradict each other"
        )
