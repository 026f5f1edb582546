"""The LMM judge: a large multimodal model behind any OpenAI-compatible endpoint.

One turn of the loop is one request. What an endpoint refuses is written otherwise, once, and
remembered for the run; what cannot be mended is a typed fate, never a level.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any
from weakref import WeakValueDictionary

from agent_judge.album import Album
from agent_judge.errors import InputError, JudgeError, RunStopped
from agent_judge.judges.base import Ledger, Message, Reply, ReplyCache, Request
from agent_judge.judges.budget import Budget, Purse
from agent_judge.judges.coordinates import Convention
from agent_judge.judges.endings import BLOCKED, LENGTH, REFUSED, ending_of
from agent_judge.judges.endpoint import Profile, profile_for
from agent_judge.judges.manner import FOR_GOOD, Manner, Refusal, adapt, lacks_tools, reason_of
from agent_judge.judges.prices import Usage, read_usage, usd_of
from agent_judge.judges.transport import Refused, Transport
from agent_judge.judges.trim import pictures_in
from agent_judge.judges.wire import SCHEMA_FLAG, Letter, write
from agent_judge.settings import JudgeSettings, Price, Settings

_NO_USAGE = "the endpoint reported no usage"
_MOST_CHANGES = 25  # of the manner for one request; each gives up something, so they run out
_NO_ANSWERS = frozenset({LENGTH, BLOCKED, REFUSED})
_NO_TOOLS = (
    "the endpoint cannot call tools ({told}). Start vLLM with --enable-auto-tool-choice "
    "--tool-call-parser NAME, take another model, or judge with --mode direct"
)


class LmmJudge:
    """A model behind an endpoint, as a `Judge`."""

    def __init__(
        self,
        model: str,
        settings: JudgeSettings,
        profile: Profile,
        *,
        prices: Mapping[str, Price],
        cache: ReplyCache | None = None,
        purse: Purse | None = None,
        at_once: float = math.inf,
    ) -> None:
        """Set up; nothing is sent. No more than `at_once` requests will be in flight.

        Raises:
            InputError: no usable base URL or key.
        """
        self.name = model
        """The model as asked for."""
        self._settings = settings
        self._profile = profile
        self._prices = prices
        self._cache = cache
        self._purse = purse or Budget()
        self._manner = Manner.of(profile)
        self._transport = Transport(settings, at_once=at_once)
        self._fatal_in_a_row = 0
        self._asked = WeakValueDictionary[str, asyncio.Lock]()

    @classmethod
    def from_settings(
        cls,
        settings: Settings,
        cache: ReplyCache | None = None,
        *,
        at_once: float = math.inf,
        purse: Purse | None = None,
    ) -> LmmJudge:
        """The judge that the settings name.

        Raises:
            InputError: no usable base URL, key or profile.
        """
        model = settings.judge.model
        if model is None:
            raise InputError("name the model with --judge")
        profile = profile_for(model, settings.endpoint)
        budget = Budget(max_usd=settings.run.max_usd, max_tokens=settings.run.max_tokens_total)
        one = Usage(tokens_in=1, tokens_out=1)
        if budget.max_usd is not None and usd_of(one, model, settings.prices) is None:
            raise InputError(
                f"--max-usd: no price is known for {model!r}; "
                f"give one by --set 'prices.\"{model}\"={{input_per_mtok=2, output_per_mtok=8}}'"
            )
        return cls(
            model,
            settings.judge,
            profile,
            prices=settings.prices,
            cache=cache,
            purse=purse or budget,
            at_once=at_once,
        )

    @property
    def endpoint(self) -> str:
        """`host[:port]`."""
        return self._transport.endpoint

    @property
    def convention(self) -> Convention:
        """How this model writes boxes, and the size at which it sees pictures."""
        return self._profile.convention

    @property
    def manner(self) -> Manner:
        """How requests are written by now."""
        return self._manner

    async def close(self) -> None:
        """Let go of connections."""
        await self._transport.close()

    async def reply(self, request: Request) -> Reply:
        """The next assistant message, out of the cache where it was paid for before.

        Raises:
            JudgeError: none could be had.
            RunStopped: the endpoint fails for good.
            InputError: the endpoint cannot call tools at all.
        """
        key = await asyncio.to_thread(self._key, request)
        if self._cache is None:
            return await self._paid(request, key)
        # Whoever asks the same meanwhile waits for the reply, and finds it in the cache.
        async with self._asked.setdefault(key, asyncio.Lock()):
            saved = await self._cache.get(key)
            return self._replay(saved, request) if saved else await self._paid(request, key)

    async def _paid(self, request: Request, key: str) -> Reply:
        """A new reply; it is kept where it may be."""
        cap, attempts = self._settings.max_output_tokens, request.ledger.attempts
        letter, completion = await self._ask(request, cap)
        self._enter(completion, letter, request.ledger)
        if cap is not None and _finish_of(completion) == LENGTH:
            letter, completion = await self._ask(request, 2 * cap)
            self._enter(completion, letter, request.ledger)
        reply = Reply(message=_message_of(completion), finish_reason=_finish_of(completion))
        if self._cache is not None and _is_answer(reply):
            attempts = request.ledger.attempts - attempts
            kept = _saved(reply, completion, letter, attempts)
            self._cache.put(key, {**kept, "asker": request.asker})
        return reply

    async def _ask(self, request: Request, cap: int | None) -> tuple[Letter, dict[str, Any]]:
        for _ in range(_MOST_CHANGES):
            manner = self._manner
            letter = await asyncio.to_thread(
                write, request, manner, self._profile, model=self.name, cap=cap
            )
            try:
                async with self._purse.request() as spent:
                    completion = await self._transport.complete(letter.body, request.ledger)
                    usage = read_usage(completion.get("usage"))
                    spent.tokens = usage.tokens_in + usage.tokens_out if usage else None
                    spent.usd = usd_of(usage, self.name, self._prices)
            except Refused as err:
                self._learn(manner, letter, err.refusal)
                continue
            self._fatal_in_a_row = 0
            return letter, completion
        raise JudgeError("endpoint_rejected", "the endpoint refuses every form of the request")

    def _learn(self, manner: Manner, letter: Letter, refusal: Refusal) -> None:
        """Change the manner after a refusal; another request may have done so meanwhile.

        Raises:
            JudgeError: nothing can be given up that would help.
        """
        if self._manner != manner:
            return
        if lacks_tools(refusal):
            raise InputError(_NO_TOOLS.format(told=refusal.message))
        changed = adapt(manner, refusal, letter.sent)
        if changed is None:
            raise self._fate(refusal)
        self._manner = changed

    def _fate(self, refusal: Refusal) -> JudgeError | RunStopped:
        reason = reason_of(refusal)
        if reason == "endpoint_rejected" and refusal.status in FOR_GOOD:
            self._fatal_in_a_row += 1
            if self._fatal_in_a_row >= self._settings.fatal_in_a_row:
                told = f"{self._fatal_in_a_row} criteria in a row"
                return RunStopped(f"{self.endpoint} refused {told}: {refusal}")
        else:
            self._fatal_in_a_row = 0
        return JudgeError(reason, str(refusal), http_status=refusal.status)

    def _enter(self, completion: Mapping[str, Any], letter: Letter, ledger: Ledger) -> None:
        """Put one new reply into the ledger."""
        self._count(read_usage(completion.get("usage")), ledger)
        _note(completion.get("model"), letter.flags, letter.notes, ledger)

    def _replay(self, saved: Mapping[str, Any], request: Request) -> Reply:
        ledger = request.ledger
        if saved.get("asker", request.asker) == request.asker:
            ledger.attempts += saved["attempts"]
            ledger.replayed += saved["attempts"]
            self._count(Usage(**saved["usage"]) if saved["usage"] else None, ledger)
        _note(saved["model"], saved["flags"], saved["notes"], ledger)
        return Reply(message=saved["message"], finish_reason=saved["finish_reason"])

    def _count(self, usage: Usage | None, ledger: Ledger) -> None:
        """Put one reply's cost into the ledger."""
        ledger.count(
            (usage.tokens_in, usage.tokens_out) if usage else None,
            usd_of(usage, self.name, self._prices),
        )
        if usage is None and _NO_USAGE not in ledger.notes:
            ledger.notes.append(_NO_USAGE)

    def _key(self, request: Request) -> str:
        """sha256 of everything that the reply depends on."""
        content = {
            "model": self.name,
            "profile": repr(self._profile),
            "max_output_tokens": self._settings.max_output_tokens,
            "rubric": request.rubric_version,
            "messages": [_by_content(m, request.album) for m in request.messages],
            "tools": list(request.tools),
            "schema": request.answer_schema,
            "vote": request.vote,
            "round": request.round,
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _note(model: object, flags: Iterable[str], notes: Iterable[str], ledger: Ledger) -> None:
    """Put who answered one reply, and how it was asked, into the ledger."""
    if isinstance(model, str) and model not in ledger.models:
        ledger.models.append(model)
    of_last = {flag for flag in ledger.flags if flag.startswith(SCHEMA_FLAG)}
    ledger.flags -= of_last  # the last request is the one that the verdict answers
    ledger.flags.update(flags)
    ledger.notes += [note for note in notes if note not in ledger.notes]


def _by_content(message: Message, album: Album) -> Message:
    """The message with each picture's reference replaced by the hash of its pixels."""
    if not pictures_in(message):
        return message
    parts = [
        {"sha256": album.digest(part["image_url"]["url"])}
        if part.get("type") == "image_url"
        else part
        for part in message["content"]
    ]
    return {**message, "content": parts}


def _finish_of(completion: Mapping[str, Any]) -> str | None:
    return ending_of(completion["choices"][0])


def _message_of(completion: Mapping[str, Any]) -> Message:
    """The assistant message as it came, under that role: some servers send another one, or none."""
    return {**completion["choices"][0]["message"], "role": "assistant"}


def _is_answer(reply: Reply) -> bool:
    """Whether a reply may be kept: a refused, blocked or cut-off one is none."""
    return reply.finish_reason not in _NO_ANSWERS and not reply.message.get("refusal")


def _saved(
    reply: Reply, completion: Mapping[str, Any], letter: Letter, attempts: int
) -> dict[str, Any]:
    usage = read_usage(completion.get("usage"))
    model = completion.get("model")
    return {
        "message": reply.message,
        "finish_reason": reply.finish_reason,
        "model": model if isinstance(model, str) else None,
        "usage": asdict(usage) if usage else None,
        "params": dict(letter.params),
        "flags": sorted(letter.flags),
        "notes": list(letter.notes),
        "attempts": attempts,
    }
