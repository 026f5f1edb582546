"""Errors in the forms in which endpoints send them, read in our terms."""

import pytest

from agent_judge.judges.error_body import error_in, read_error

GEMINI_KEY = {
    "code": 400,
    "message": "API key not valid. Please pass a valid API key.",
    "status": "INVALID_ARGUMENT",
}
QUOTA = {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": None}


@pytest.mark.parametrize(
    ("data", "status", "told"),
    [
        ({"error": {"message": "no", "code": "x", "param": "seed"}}, 400, "HTTP 400: no"),
        ([{"error": {"message": "no", "code": 400}}], 400, "HTTP 400: no"),
        ({"object": "error", "message": "no", "code": 400}, 400, "HTTP 400: no"),
        ({"detail": "Not Found"}, 404, "HTTP 404: Not Found"),
        ({"error": "no", "code": 404}, None, "HTTP 404: no"),
        ({"error": {"message": "up", "metadata": {"raw": "why"}}}, 502, "HTTP 502: up: why"),
        ({"errors": [{"message": "no"}]}, 400, 'HTTP 400: {"errors": [{"message": "no"}]}'),
        ("<h1>Bad <b>Gateway</b></h1>", 502, "HTTP 502: Bad Gateway"),
        ("", 500, "HTTP 500: no message (HTTP 500)"),
        ([], 500, "HTTP 500: no message (HTTP 500)"),
        ({"error": {"message": "no"}}, None, "HTTP 502: no"),
        ({"error": {"message": "no", "code": 200}}, None, "HTTP 502: no"),
    ],
)
def test_an_error_is_told_in_its_own_words(data, status, told):
    assert str(read_error(data, status)) == told


@pytest.mark.parametrize(
    ("error", "came", "meant"),
    [
        (GEMINI_KEY, 400, 401),
        ({"message": "API key expired. Please renew the API key."}, 400, 401),
        ({"message": "Incorrect API key provided: sk-***"}, 400, 401),
        ({"message": "Your credit balance is too low to access the API."}, 400, 402),
        ({"message": "no", "code": "billing_hard_limit_reached"}, 400, 402),
        (QUOTA, 429, 402),
        ({"message": "Insufficient balance. Please recharge.", "code": "1113"}, 429, 402),
        ({"message": "You exceeded your current quota: 10 a minute"}, 429, 429),
        ({"message": "the key 'seed' is invalid"}, 400, 400),
    ],
)
def test_a_bad_key_and_an_empty_account_are_known_under_any_status(error, came, meant):
    assert read_error([{"error": error}], came).status == meant
    assert read_error({"error": {**error, "code": error.get("code") or came}}).status == meant


@pytest.mark.parametrize(
    "data", [None, 5, "x", [], {}, {"choices": []}, {"error": None, "choices": [], "message": "x"}]
)
def test_what_tells_of_no_error_is_none(data):
    assert error_in(data) is None
