"""From a judge's final answer to a verdict, or to the exact fault to tell it.

The answer is one JSON object: the ladder's questions answered in order, then the label
(evidence before verdict). Read forgivingly where the meaning is certain
(fences, prose around it, thinking, spelling of a label), never where a level would be a guess.

A label without any answers is accepted, with empty `answers`: it was on offer and stated once, so
nothing is invented, and weak endpoints would otherwise lose verdicts that they clearly gave. The
verdict says so (`label_only`), and the record is flagged. Answers that are given must lead to the
label.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_judge.errors import ContradictionError, ReplyError
from agent_judge.judges.labels import alternatives, mentions, named_label, settles, statements
from agent_judge.judges.spoken import (
    CONFLICT,
    beside,
    json_objects,
    refuse_broken_json,
    spoken,
    text_of,
)
from agent_judge.records import Box, Verdict
from agent_judge.rubrics.ladder import Ladder, Question

NOT_REACHED = "not reached"
"""The answer to a question behind the end of the walk."""
ToBox = Callable[[Sequence[float]], Box | None]
"""From four numbers in the judge's convention to canonical pixels; None or a ValueError: no box."""

_MAX_EXPLANATION = 4000
_MAX_ANOMALIES = 100
_AFTER_ANSWER = r"(?:$|\s?[.,;:(\u2013\u2014-])"


def answer_schema(ladder: Ladder, *, boxes: bool) -> dict[str, Any]:
    """JSON schema of the final answer: evidence first, label last.

    It keeps to what strict modes take: every property required, nothing additional.

    Args:
        ladder: the criterion's ladder.
        boxes: whether boxes are asked for (not for cropped pictures).
    """
    answers = {
        q.id: {"type": "string", "enum": [*q.outcomes, NOT_REACHED]} for q in ladder.questions
    }
    box = {"type": ["array", "null"], "items": {"type": "number"}}
    properties: dict[str, Any] = {
        "answers": strict_object(answers),
        "explanation": {"type": "string"},
    }
    if ladder.subject == "surroundings":
        anomaly = {"what": {"type": "string"}, **({"box": box} if boxes else {})}
        properties["anomalies"] = {"type": "array", "items": strict_object(anomaly)}
    elif boxes:
        properties["target_box"] = box
    properties["label"] = {"type": "string", "enum": list(ladder.labels)}
    return strict_object(properties)


def strict_object(properties: Mapping[str, Any]) -> dict[str, Any]:
    """A schema that keeps to what strict modes take: all required, nothing additional."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    start: int
    end: int
    label: str
    data: Mapping[str, Any] | None
    """The JSON object, None for a line of text."""


def read_verdict(content: object, ladder: Ladder, *, to_box: ToBox | None) -> Verdict:
    """The verdict in a final answer.

    Args:
        content: the assistant message's `content`: text, or a list of parts.
        ladder: the criterion's ladder; only its labels count.
        to_box: the judge's box convention; None where no boxes are asked for.

    Raises:
        ContradictionError: the label does not follow from its own answers.
        ReplyError: no verdict, or more than one; the message is for the judge.

    Example:
        >>> from agent_judge.rubrics.protocol import load_ladder
        >>> text = '{"answers": {"target_edited": "no"}, "label": "Localization Failure"}'
        >>> read_verdict(text, load_ladder("IF"), to_box=None).level
        1
    """
    text = spoken(text_of(content))
    chosen = _final(text, _candidates(text, ladder), ladder)
    if chosen.data is None:
        level = ladder.level_of(chosen.label)
        explanation = clean(text[: chosen.start])
        return Verdict(
            level=level, label=chosen.label, answers=(), explanation=explanation, label_only=True
        )
    return _from_object(chosen.data, chosen.label, ladder, to_box)


def _candidates(text: str, ladder: Ladder) -> list[_Candidate]:
    """Every JSON verdict and every line that states a label, in order of appearance."""
    objects = json_objects(text)
    rest = beside(text, objects)
    verdicts = [(s, e, verdict) for s, e, data in objects for verdict in _verdicts_in(data)]
    if verdicts:
        _require_label(verdicts[-1][2], ladder)
    else:
        refuse_broken_json(rest)
    found = [
        _Candidate(start=start, end=end, label=label, data=verdict)
        for start, end, verdict in verdicts
        if (label := _label(verdict, ladder)) is not None
    ]
    found += [
        _Candidate(start=s.start, end=s.end, label=s.label, data=None)
        for s in statements(rest, ladder)
    ]
    return sorted(found, key=lambda c: c.start)


def _verdicts_in(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The objects right inside a wrapper that carry a label or answers, then the object itself."""
    inner = [value for value in data.values() if isinstance(value, dict)]
    return [one for one in (*inner, data) if "label" in one or "answers" in one]


def _label(data: Mapping[str, Any], ladder: Ladder) -> str | None:
    value = data.get("label")
    return named_label(value, ladder) if isinstance(value, str) else None


def _require_label(data: Mapping[str, Any], ladder: Ladder) -> None:
    if _label(data, ladder) is not None:
        return
    offered = alternatives(ladder.labels)
    value = data.get("label")
    if value is None:
        raise ReplyError(f"'label' is missing; it must be {offered}")
    came = repr(value[:80]) if isinstance(value, str) else "no text"
    came = "given twice, differently" if value is CONFLICT else came
    raise ReplyError(f"'label' must be exactly one of {offered}, but was {came}")


def _final(text: str, found: Sequence[_Candidate], ladder: Ladder) -> _Candidate:
    """The one verdict: all say the same, or the last says that it replaces the others."""
    if not found:
        raise ReplyError(f"no label was stated; end on {alternatives(ladder.labels)}")
    last = found[-1]
    others = [c for c in found if c.label != last.label]
    between = last.end if last.data is None else last.start
    if others and not settles(text[others[-1].end : between]):
        raise ReplyError(f"two different labels were stated: {others[-1].label!r}, {last.label!r}")
    later = {label for _, _, label in mentions(text[last.end :], ladder)}
    if later - {last.label}:
        raise ReplyError(f"another label is named after {last.label!r}; state one only")
    with_data = [c for c in found if c.label == last.label and c.data is not None]
    return with_data[-1] if with_data else last


def _from_object(
    data: Mapping[str, Any], label: str, ladder: Ladder, to_box: ToBox | None
) -> Verdict:
    level = ladder.level_of(label)
    answers = _walked(_answers(data.get("answers"), ladder), level, ladder)
    return Verdict(
        level=level,
        label=label,
        answers=answers,
        label_only=not answers,
        explanation=clean(data.get("explanation")),
        anomalies=_anomalies(data.get("anomalies"), to_box),
        target_box=_box(data.get("target_box"), to_box),
    )


def _answers(value: object, ladder: Ladder) -> dict[str, str]:
    """Answers by question id, spelt as on offer; odd ones as they came, unreached ones left out."""
    if isinstance(value, list):  # [{"question": id, "answer": text}, ...]
        rows = [row for row in value if isinstance(row, Mapping)]
        value = {str(row.get("question", row.get("id"))): row.get("answer") for row in rows}
    if value is CONFLICT:
        raise ReplyError("'answers' was given twice, differently")
    if not isinstance(value, Mapping):
        return {}
    given = {re.sub(r"\W+", "_", str(key).strip().casefold()): v for key, v in value.items()}
    read = {q.id: _answer(given.get(q.id.casefold()), q) for q in ladder.questions}
    return {key: answer for key, answer in read.items() if answer is not None}


def _answer(value: object, question: Question) -> str | None:
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if value is None:
        return None
    if not isinstance(value, str):
        return "no text"
    text = value.strip(" *_`\"'.\n").casefold()
    if text in ("", NOT_REACHED, "not_reached", "n/a", "null"):
        return None
    for answer in question.outcomes:
        if re.match(re.escape(answer) + _AFTER_ANSWER, text):
            return answer
    return text[:40]


def _walked(answers: Mapping[str, str], level: int, ladder: Ladder) -> tuple[tuple[str, str], ...]:
    """The answers up to the end of the walk, which must lead to `level`."""
    if not answers:
        return ()
    walked: list[tuple[str, str]] = []
    for question in ladder.questions:
        answer = answers.get(question.id)
        if answer is None or answer not in question.outcomes:
            offered = alternatives(list(question.outcomes))
            came = "is missing" if answer is None else f"was {answer!r}"
            raise ReplyError(f"the answer to {question.id!r} must be {offered}, but {came}")
        walked.append((question.id, answer))
        if question.outcomes[answer] is not None:
            break
    led_to = ladder.walk(answers)
    if led_to is not None and led_to != level:
        raise ContradictionError(
            f"your answers lead to the label {ladder.label_of(led_to)!r}, "
            f"but you wrote {ladder.label_of(level)!r}"
        )
    return tuple(walked)


def _anomalies(value: object, to_box: ToBox | None) -> tuple[dict[str, Any], ...]:
    rows = value if isinstance(value, list) else []
    found = []
    for row in rows[:_MAX_ANOMALIES]:
        what = row.get("what") if isinstance(row, Mapping) else row
        if isinstance(what, str) and what.strip():
            box = _box(row.get("box") if isinstance(row, Mapping) else None, to_box)
            found.append({"what": clean(what), "box": box and list(box.xyxy)})
    return tuple(found)


def _box(value: object, to_box: ToBox | None) -> Box | None:
    """A box that cannot be read is none: it decorates a verdict and does not make it."""
    if to_box is None or not isinstance(value, list) or len(value) != 4:
        return None
    try:
        return to_box(value)
    except ValueError:
        return None


def clean(value: object) -> str:
    """Text that can be stored: bounded, no control characters, no lone surrogates."""
    if not isinstance(value, str):
        return ""
    text = value.encode("utf-8", "replace").decode("utf-8").strip()
    text = "".join(c for c in text if c in "\n\t" or c.isprintable())
    return text[:_MAX_EXPLANATION]
