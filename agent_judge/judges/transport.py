"""Requests over the wire: retries, waits and time limits; and what came back, told apart.

An answer comes out as the completion's JSON. Everything else is one of three: worth another try
(here, a bounded number of times), refused for good (`Refused`: the caller may write it otherwise),
or a fate (`JudgeError`). The text of an error never leaves as an answer.
"""

from __future__ import annotations

import asyncio
import base64
import json
import math
import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import httpx2
import openai
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type

from agent_judge.address import shown_address
from agent_judge.errors import InputError, JudgeError
from agent_judge.judges.base import Ledger
from agent_judge.judges.endings import BROKEN, ending_of
from agent_judge.judges.error_body import asked_to_wait, error_in, message_of, read_error
from agent_judge.judges.manner import Refusal, is_final
from agent_judge.judges.throttle import Throttle
from agent_judge.records import Reason
from agent_judge.settings import JudgeSettings

DEFAULT_BASE_URL = "https://api.openai.com/v1"
_WORTH_A_RETRY = frozenset({408, 409, 425, 429})
_NEVER_RETRIED = frozenset({501, 505})
_MAX_TIMEOUTS = 2  # each may have been paid for
_MAX_MESSAGE = 500
_SHORTEST_SECRET = 6
"""A shorter text is no key, and taking it out would garble messages."""
_MAX_REPLY_BYTES = 16 << 20
"""Far above the longest answer; a reply that never ends, or unpacks to gigabytes, is cut here."""
_OF_BODY = frozenset(
    {b"content-encoding", b"content-length", b"content-type", b"transfer-encoding"}
)
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_JSON_HEADERS = {"Content-Type": "application/json"}


class Refused(Exception):
    """The endpoint refused a request for good."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


class _Transient(Exception):
    def __init__(
        self,
        message: str,
        *,
        reason: Reason = "transport",
        status: int | None = None,
        wait_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.status = status
        self.wait_s = wait_s


class Transport:
    """The connection to one endpoint, shared by all samples of a run."""

    def __init__(self, settings: JudgeSettings, *, at_once: float = math.inf) -> None:
        """Set up; nothing is sent. No more than `at_once` requests will be in flight.

        Raises:
            InputError: the base URL is none, or the key is missing.
        """
        self._settings = settings
        base_url, _, query = (settings.base_url or DEFAULT_BASE_URL).strip().partition("?")
        base_url = base_url.rstrip("/").removesuffix("/chat/completions")  # pasted whole
        host, port, is_secure = _address(base_url)
        key = settings.api_key.get_secret_value().strip() if settings.api_key else ""
        if not key and settings.base_url is None:
            raise InputError("no API key: set OPENAI_API_KEY, or name an endpoint with --base-url")
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise InputError("the API key holds characters that no key has: paste it again")
        self.endpoint = _host(host, port)
        """`host[:port]`."""
        secrets = [form for one in (key, *_credentials_in(base_url)) for form in _forms_of(one)]
        self._secrets = tuple(secret for secret in secrets if len(secret) >= _SHORTEST_SECRET)
        self._throttle = Throttle(at_once)
        self._client = openai.AsyncOpenAI(
            base_url=base_url,
            api_key=key or "none",
            default_query=dict(parse_qsl(query)),  # Azure's `?api-version=`
            max_retries=0,  # tenacity's work
            timeout=settings.request_timeout_s,
            http_client=_http_client(own=not is_secure and host in _LOOPBACK),
        )

    async def complete(self, body: bytes, ledger: Ledger) -> dict[str, Any]:
        """The completion that answers a chat request.

        Args:
            body: of `POST /chat/completions`.
            ledger: counts each request sent.

        Raises:
            Refused: sending the same again would not help.
            JudgeError: `transport` or `timeout`, after all tries.
        """
        retrying = AsyncRetrying(
            stop=self._gives_up,
            wait=self._wait_s,
            retry=retry_if_exception_type(_Transient),
            reraise=True,
        )
        try:
            completion: dict[str, Any] = await retrying(self._once, body, ledger)
        except _Transient as err:
            raise JudgeError(err.reason, str(err), http_status=err.status) from err
        return completion

    async def models(self) -> list[str]:
        """The ids that `/models` lists.

        Raises:
            InputError: the endpoint cannot be asked.
        """
        try:
            async with asyncio.timeout(self._settings.request_timeout_s):
                response = await self._client.get("/models", cast_to=httpx2.Response)
            page = self._json(response.text)
        except (openai.OpenAIError, TimeoutError, ValueError, RecursionError) as err:
            told = self._clean(str(err.__cause__ or err)) or "no answer in time"
            raise InputError(f"{self.endpoint} does not list its models: {told}") from err
        listed = page.get("data") if isinstance(page, Mapping) else None
        entries = [e for e in listed if isinstance(e, Mapping)] if isinstance(listed, list) else []
        return [entry["id"] for entry in entries if isinstance(entry.get("id"), str)]

    async def close(self) -> None:
        """Let go of connections."""
        await self._client.close()

    def _gives_up(self, state: RetryCallState) -> bool:
        err = state.outcome.exception() if state.outcome else None
        assert isinstance(err, _Transient)
        if err.wait_s is not None and self._is_too_long(err.wait_s):
            return True
        tries = self._settings.transport_retries + 1
        return state.attempt_number >= (
            min(tries, _MAX_TIMEOUTS) if err.reason == "timeout" else tries
        )

    def _wait_s(self, state: RetryCallState) -> float:
        """At least what the endpoint asks for; spread, so that workers do not come back at once.

        Some ask for 0 s and go on refusing: what they ask for is no reason to hurry.
        """
        err = state.outcome.exception() if state.outcome else None
        asked = (err.wait_s if isinstance(err, _Transient) else None) or 0.0
        longest = min(self._settings.backoff_max_s, 2.0 ** (state.attempt_number - 1))
        backoff = random.uniform(longest / 2, longest)
        return max(backoff, asked + random.uniform(0, min(1.0, asked / 4)))

    async def _once(self, body: bytes, ledger: Ledger) -> dict[str, Any]:
        async with self._throttle.slot() as taken_at:
            ledger.attempts += 1
            try:
                async with asyncio.timeout(self._settings.request_timeout_s):
                    response = await self._client.post(
                        "/chat/completions",
                        cast_to=httpx2.Response,
                        content=body,
                        options={"headers": _JSON_HEADERS},
                    )
            except (TimeoutError, openai.APITimeoutError) as err:
                told = f"no answer within {self._settings.request_timeout_s:g} s"
                raise _Transient(told, reason="timeout") from err
            except openai.APIStatusError as err:
                raise self._told(err.status_code, err.response, taken_at) from err
            except openai.APIConnectionError as err:
                why = err.__cause__ or err
                what = "connection to" if isinstance(why, httpx2.ConnectError) else "answer from"
                raise _Transient(self._clean(f"no {what} {self.endpoint}: {why}")) from err
            self._throttle.went_well()
        return self._read(response, taken_at)

    def _read(self, response: httpx2.Response, taken_at: float) -> dict[str, Any]:
        """The completion in a 200, which may hold an error all the same."""
        try:
            data = self._json(response.text)
        except (ValueError, RecursionError) as err:
            came = self._clean(response.text)[:80]
            raise _Transient(f"the endpoint answered with no JSON: {came!r}") from err
        if error_in(data) is not None:
            raise self._told(None, response, taken_at)
        if not isinstance(data, dict):
            raise _Transient("the endpoint answered with JSON that is no completion")
        choices = data.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, Mapping) or not isinstance(choice.get("message"), Mapping):
            raise _Transient("the completion has no choices[0].message")
        if ending_of(choice) == BROKEN or choice.get("error"):
            raise _Transient(f"the model ended in an error: {message_of(choice)[:_MAX_MESSAGE]}")
        return data

    def _told(
        self, status: int | None, response: httpx2.Response, taken_at: float
    ) -> Refused | _Transient:
        """What an error response means; `status` is None for one inside a 200."""
        try:
            data = self._json(response.text)
        except (ValueError, RecursionError):
            data = self._clean(response.text, longest=None)
        refusal = read_error(data, status)
        wait_s = asked_to_wait(response.headers, response.text)
        if wait_s is not None and self._is_too_long(wait_s):
            told = f"asks to wait {wait_s:g} s, longer than judge.sample_timeout_s"
            refusal = replace(refusal, message=f"{refusal.message} ({told})")
        if refusal.status == 429:
            closed_s = None if wait_s is None or self._is_too_long(wait_s) else wait_s
            self._throttle.slow_down(taken_at, closed_s)
        again = refusal.status in _WORTH_A_RETRY or (
            refusal.status >= 500 and refusal.status not in _NEVER_RETRIED
        )
        if again and not is_final(refusal.status, refusal.message):
            return _Transient(str(refusal), status=refusal.status, wait_s=wait_s)
        return Refused(refusal)

    def _is_too_long(self, wait_s: float) -> bool:
        """Whether the sample's time would be over before such a wait."""
        return wait_s > self._settings.sample_timeout_s

    def _json(self, text: str) -> Any:  # noqa: ANN401 - JSON
        """The JSON of a response as it can be kept: without API key, lone surrogates, infinity.

        Raises:
            ValueError: it is none. RecursionError: it is nested too deep.
        """
        data = json.loads(
            text.lstrip("\ufeff"), parse_constant=lambda name: None, parse_float=_finite
        )
        came = json.dumps(data, ensure_ascii=False)
        kept = self._clean(came.encode("utf-8", "replace").decode(), longest=None)
        return data if kept == came else json.loads(kept)

    def _clean(self, text: str, *, longest: int | None = _MAX_MESSAGE) -> str:
        """The text without the API key, should the endpoint have sent it back."""
        for secret in self._secrets:
            text = text.replace(secret, "[API key]")
        return text if longest is None else text[:longest]


async def only_model(settings: JudgeSettings) -> str:
    """The one model of an endpoint, for a base URL that was given without a model.

    Raises:
        InputError: it lists none or several, or cannot be asked.
    """
    transport = Transport(settings)
    try:
        models = await transport.models()
    finally:
        await transport.close()
    if len(models) != 1:
        listed = ", ".join(sorted(models)[:20]) or "none"
        raise InputError(f"name a model with --judge: {transport.endpoint} lists {listed}")
    return models[0]


class _Client(openai.DefaultAsyncHttpxClient):
    """An HTTP client that reads no reply without end."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:  # noqa: ANN401
        """The response with its body, read and unpacked up to `_MAX_REPLY_BYTES`.

        The body is read as UTF-8, whatever the headers say: JSON knows no other encoding.

        Raises:
            httpx2.RemoteProtocolError: it is longer.
        """
        response = await super().send(request, **{**options, "stream": True})
        try:
            body = bytearray()
            async for part in response.aiter_bytes():
                body += part
                if len(body) > _MAX_REPLY_BYTES:
                    told = f"the reply is longer than {_MAX_REPLY_BYTES >> 20} MB"
                    raise httpx2.RemoteProtocolError(told, request=request)
        finally:
            await response.aclose()
        kept = [(k, v) for k, v in response.headers.raw if k.lower() not in _OF_BODY]
        return httpx2.Response(
            response.status_code,
            headers=[*kept, (b"Content-Type", b"application/json")],
            content=bytes(body),
            request=response.request,
        )


def _http_client(*, own: bool) -> _Client:
    """The HTTP client; for our own machine without proxy, certificates and redirects."""
    if own:  # reading the certificates would take a tenth of a second for nothing
        return _Client(trust_env=False, verify=False, follow_redirects=False)
    return _Client()


def _address(base_url: str) -> tuple[str, int | None, bool]:
    """Host, port, and whether it is https.

    Raises:
        InputError: it is no such address; it is not shown where it may be a key in the wrong place,
            or hold a password.
    """
    without = shown_address(base_url)
    shown = f", got {without!r:.200}" if without else ""
    try:
        parts, url = urlsplit(base_url), httpx2.URL(base_url)
        if url.scheme in ("http", "https") and parts.hostname:
            return parts.hostname, parts.port, url.scheme == "https"
    except (ValueError, httpx2.InvalidURL) as err:
        if without not in ("", base_url):  # the error's own words may quote the password
            told = "a password in it must be percent-encoded"
            raise InputError(f"judge.base_url is no address ({told}){shown}") from None
        raise InputError(f"judge.base_url is no address ({err}){shown}") from err
    raise InputError(f"judge.base_url must be an address like http://host:8000/v1{shown}")


def _credentials_in(base_url: str) -> tuple[str, ...]:
    """What must not be shown of an address like `https://user:password@host`, in every form.

    Some gateways are entered this way (Basic authentication); it takes the place of the API key.
    """
    parts = urlsplit(base_url)
    if parts.password is None:
        return ()
    user, password = unquote(parts.username or ""), unquote(parts.password)
    return parts.password, password, base64.b64encode(f"{user}:{password}".encode()).decode()


def _forms_of(secret: str) -> set[str]:
    """A secret as it may come back: as it is, in JSON, in an address, in a header."""
    encoded = base64.b64encode(secret.encode()).decode()
    return {secret, json.dumps(secret)[1:-1], quote(secret, safe=""), encoded}


def _host(hostname: str, port: int | None) -> str:
    host = f"[{hostname}]" if ":" in hostname else hostname
    return host if port is None else f"{host}:{port}"


def _finite(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None
