"""What an error response says, whatever its form: OpenAI's, Gemini's, OpenRouter's, FastAPI's."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

import httpx2

from agent_judge.judges.manner import Refusal

_MAX_MESSAGE = 500
_BAD_KEY = re.compile(
    r"api[_ ]?key[_ ](?:is )?(?:not valid|invalid|expired)|(?:invalid|incorrect) api[_ ]?key", re.I
)
_EMPTY_ACCOUNT = re.compile(
    r"insufficient[_ ](?:quota|balance|funds|credits?)|balance is too low|billing[_ ]hard[_ ]limit",
    re.I,
)


def error_in(data: object) -> object | None:
    """The error in the JSON of a response; None where it holds none.

    Gemini puts its errors into a list; some servers send one without an `error` around it.
    """
    data = _unlisted(data)
    if not isinstance(data, Mapping):
        return None
    bare = data if "choices" not in data and message_of(data) else None
    return data.get("error") or bare


def read_error(data: object, status: int | None = None) -> Refusal:
    """An error response in our terms.

    Args:
        data: its JSON, or its text where it is none.
        status: of the response; None for a 200, which may name one in its body.

    Example:
        >>> str(read_error([{"error": {"message": "API key not valid"}}], 400))
        'HTTP 401: API key not valid'
    """
    data, error = _unlisted(data), error_in(data)
    fields = error if isinstance(error, Mapping) else data if isinstance(data, Mapping) else {}
    if status is None:
        status = _status_in(fields)
    said = fields or data
    message = (message_of(said) or json.dumps(said)) if said else ""
    words = " ".join(str(fields.get(key)) for key in ("code", "type"))
    return Refusal(
        status=_as_meant(status, f"{words} {message}"),
        message=message[:_MAX_MESSAGE] or f"no message (HTTP {status})",
        code=next((str(fields[key]) for key in ("code", "type") if fields.get(key)), ""),
        param=str(fields.get("param") or ""),
    )


def message_of(error: object) -> str:
    """The words of an error."""
    if isinstance(error, str):
        return " ".join(re.sub(r"<[^>]{0,200}>", " ", error).split())
    if not isinstance(error, Mapping):
        return json.dumps(error)
    metadata = error.get("metadata")
    inner = metadata.get("raw") if isinstance(metadata, Mapping) else None
    found = [error.get(key) for key in ("message", "error", "detail", "msg")]
    texts = [v if isinstance(v, str) else json.dumps(v) for v in (*found, inner) if v]
    return ": ".join(dict.fromkeys(texts))


def asked_to_wait(headers: httpx2.Headers, text: str) -> float | None:
    """Seconds that the endpoint asks to wait: in a header, or Gemini's `retryDelay` in the body."""
    value = headers.get("retry-after", "")
    delay = re.search(r'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"', text)
    if (milliseconds := _number(headers.get("retry-after-ms", ""))) is not None:
        return milliseconds / 1000
    if (seconds := _number(value)) is not None:
        return seconds
    if delay:
        return float(delay.group(1))
    try:
        until, sent = parsedate_to_datetime(value), parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, (until - sent).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None


def _unlisted(data: object) -> object:
    return data[0] if isinstance(data, list) and len(data) == 1 else data


def _status_in(fields: Mapping[str, object]) -> int:
    """The status that an error body inside a 200 names; 502 where it names none."""
    try:
        status = int(str(fields.get("code", fields.get("status"))))
    except ValueError:
        return 502
    return status if 400 <= status <= 599 else 502


def _as_meant(status: int, words: str) -> int:
    """401 for a bad key and 402 for an empty account, whatever status they come under.

    Gemini and xAI call a bad key a 400, Anthropic and OpenAI's billing limit an empty account;
    OpenAI and Zhipu send an empty account as a 429 that no waiting mends.
    """
    if _BAD_KEY.search(words):
        return 401
    return 402 if _EMPTY_ACCOUNT.search(words) else status


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\s*\d+(\.\d+)?\s*", text) else None
