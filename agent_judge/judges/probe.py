"""What an endpoint's model really takes and sees, found out with about six small requests.

`agent-judge doctor --base-url U --model M` prints it and writes a profile. Nothing is believed
that was not shown: a picture counts as seen when the number in it was read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from agent_judge.errors import InputError, JudgeError
from agent_judge.judges.base import Ledger, Message
from agent_judge.judges.coordinates import Convention, CoordinateSystem
from agent_judge.judges.endpoint import Profile, SchemaStrength
from agent_judge.judges.picture import LOSSLESS, data_url
from agent_judge.judges.prices import read_usage, usd_of
from agent_judge.judges.probe_pictures import (
    HEIGHTS_PX,
    RGB,
    details_picture,
    draw_numbers,
    number_picture,
    red_box_picture,
)
from agent_judge.judges.spoken import text_of
from agent_judge.judges.tool_calls import read_tool_calls
from agent_judge.judges.transport import Refused, Transport
from agent_judge.records import Box
from agent_judge.settings import JudgeSettings, Price

SMALL_DETAIL_PX = 28
"""Numbers of this height must be readable for small objects to be judged at all."""
_SYSTEMS: tuple[CoordinateSystem, ...] = ("shown_pixels", "xyxy_1000", "yxyx_1000")
_CERTAIN_IOU = 0.4
_DEFAULT_SIDE_PX = 1568
_TOOL = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Shows a picture of a number.",
        "parameters": {
            "type": "object",
            "properties": {"which": {"type": "integer"}},
            "required": ["which"],
        },
    },
}


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What the probes found; the keys of `doctor --json`."""

    model: str
    endpoint: str
    tools: bool
    """Whether it called a tool when told to."""
    schema: SchemaStrength
    """The strongest form of answer that it takes and keeps to."""
    two_pictures: bool
    """Whether it read both of two pictures in one request."""
    images_in_tool_messages: bool
    """Whether it read a picture inside a tool message."""
    coordinates: CoordinateSystem | None
    """The convention in which it writes boxes unasked; None when it found none right."""
    smallest_readable_px: int | None
    """Height of the smallest number that it read, pixels of the picture as sent."""
    small_detail: Literal["ok", "unreadable"]
    requests: int
    tokens_in: int | None
    tokens_out: int | None
    usd: float | None
    """What the probes cost; None when the price or a usage is unknown."""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)

    def to_toml(self) -> str:
        """A profile for `--profile FILE.toml`."""
        lines = [f"# {self.model} at {self.endpoint}, as found by agent-judge doctor", "[endpoint]"]
        if self.coordinates is not None:
            lines.append(f'coordinates = "{self.coordinates}"')
        lines.append(f"images_in_tool_messages = {str(self.images_in_tool_messages).lower()}")
        lines.append(f'schema = "{self.schema}"')
        if not self.two_pictures:
            lines.append("max_images = 1")
        return "\n".join(lines) + "\n"


async def probe(
    model: str,
    settings: JudgeSettings,
    profile: Profile,
    *,
    prices: Mapping[str, Price],
    seed: int = 0,
) -> Findings:
    """Ask the endpoint and see.

    Args:
        model: its name.
        settings: base URL, key, time limits.
        profile: where pictures get their size from.
        prices: `[prices]` of the settings.
        seed: of the numbers shown.

    Raises:
        InputError: the endpoint answers nothing at all; the message is its own.
    """
    transport = Transport(settings)
    asking = _Asking(model, profile, transport, prices)
    try:
        await asking.greet()
        called, tools = await asking.tool_call()
        schema, two = await asking.answer_forms(seed)
        in_tools = tools and await asking.picture_in_tool_message(called, seed)
        coordinates = await asking.box_convention()
        smallest = await asking.smallest_number(seed)
    finally:
        await transport.close()
    ledger = asking.ledger
    return Findings(
        model=model,
        endpoint=transport.endpoint,
        tools=tools,
        schema=schema,
        two_pictures=two,
        images_in_tool_messages=in_tools,
        coordinates=coordinates,
        smallest_readable_px=smallest,
        small_detail="ok" if smallest is not None and smallest <= SMALL_DETAIL_PX else "unreadable",
        requests=ledger.attempts,
        tokens_in=ledger.tokens_in,
        tokens_out=ledger.tokens_out,
        usd=ledger.usd,
    )


class _Asking:
    """The questions, one method each."""

    def __init__(
        self, model: str, profile: Profile, transport: Transport, prices: Mapping[str, Price]
    ) -> None:
        self._model = model
        self._profile = profile
        self._transport = transport
        self._prices = prices
        self.ledger = Ledger()

    async def greet(self) -> None:
        """One word: everything else is pointless where not even this works."""
        try:
            await self._send([_user("Say OK.")])
        except (Refused, JudgeError) as err:
            raise InputError(f"{self._transport.endpoint} does not answer: {err}") from err

    async def tool_call(self) -> tuple[Message, bool]:
        """The assistant message and whether it holds the call asked for."""
        try:
            reply = await self._send([_user("Call the tool look with which=1.")], tools=[_TOOL])
        except (Refused, JudgeError):
            return {}, False
        message, calls = read_tool_calls(reply)
        return message, any(c.name == "look" and c.fault is None for c in calls)

    async def answer_forms(self, seed: int) -> tuple[SchemaStrength, bool]:
        """The strongest form of answer, and whether two pictures were both read."""
        numbers = list(draw_numbers(seed).values())[:2]
        question = _user(
            "Read the number in each picture. Answer with a JSON object with the keys "
            '"first" and "second", the numbers as integers.',
            *(self._picture(number_picture(n)) for n in numbers),
        )
        strengths: tuple[SchemaStrength, ...] = ("strict", "object", "none")
        for strength in strengths:
            try:
                reply = await self._send([question], **_form(strength))
            except (Refused, JudgeError):
                continue
            data = _json_in(text_of(reply.get("content")), bare=strength != "none")
            if isinstance(data.get("first"), int) and isinstance(data.get("second"), int):
                return strength, [data["first"], data["second"]] == numbers
        return "none", False

    async def picture_in_tool_message(self, called: Message, seed: int) -> bool:
        """Whether a picture inside a tool message is seen, not only taken."""
        number = list(draw_numbers(seed).values())[2]
        message, calls = read_tool_calls(called)
        answers = [
            {
                "role": "tool",
                "tool_call_id": call.id,
                "content": [_text("The picture:"), self._picture(number_picture(number))],
            }
            for call in calls
        ]
        replayed = {k: v for k, v in message.items() if v is not None}
        replayed.setdefault("content", "")
        ask = _user("Which number does the picture show? Answer with the number only.")
        try:
            reply = await self._send(
                [_user("Call the tool look with which=1."), replayed, *answers, ask], tools=[_TOOL]
            )
        except (Refused, JudgeError):
            return False
        return str(number) in (text_of(reply.get("content")) or "")

    async def box_convention(self) -> CoordinateSystem | None:
        """The convention that fits the box of a red rectangle best, asked for in no convention."""
        size_wh = self._size_wh()
        picture, box = red_box_picture(size_wh)
        question = _user(
            "Give the bounding box of the red rectangle as a JSON list of four numbers.",
            self._picture(picture),
        )
        try:
            reply = await self._send([question])
        except (Refused, JudgeError):
            return None
        return convention_of(text_of(reply.get("content")) or "", box, size_wh)

    async def smallest_number(self, seed: int) -> int | None:
        """Height of the smallest number read, all larger ones read as well."""
        numbers = draw_numbers(seed + 1)
        question = _user(
            "Beside each letter stands a four-digit number, some of them tiny. Answer with a JSON "
            "object from letter to number as integer, null where you cannot read it.",
            self._picture(details_picture(numbers, self._size_wh())),
        )
        try:
            reply = await self._send([question])
        except (Refused, JudgeError):
            return None
        read = _json_in(text_of(reply.get("content")), bare=False)
        smallest = None
        for (letter, number), height in zip(numbers.items(), HEIGHTS_PX, strict=True):
            if str(read.get(letter)) != str(number):
                break
            smallest = height
        return smallest

    def _size_wh(self) -> tuple[int, int]:
        side = self._profile.convention.max_side_px or _DEFAULT_SIDE_PX
        return self._profile.convention.shown_wh((side, side * 3 // 4))

    def _picture(self, pixels: RGB) -> dict[str, Any]:
        url = data_url(pixels, LOSSLESS, self._profile.convention)
        return {"type": "image_url", "image_url": {"url": url}}

    async def _send(self, messages: Sequence[Message], **fields: Any) -> Message:  # noqa: ANN401 - request fields
        body = {"model": self._model, **fields, "messages": list(messages)}
        completion = await self._transport.complete(json.dumps(body).encode(), self.ledger)
        usage = read_usage(completion.get("usage"))
        self.ledger.count(
            (usage.tokens_in, usage.tokens_out) if usage else None,
            usd_of(usage, self._model, self._prices),
        )
        return {**completion["choices"][0]["message"], "role": "assistant"}


def convention_of(answer: str, box: Box, size_wh: tuple[int, int]) -> CoordinateSystem | None:
    """The convention in which four numbers of an answer mean `box` best.

    Args:
        answer: text with four numbers in it.
        box: the truth, in pixels of the picture.
        size_wh: of the picture.

    Returns:
        None when they mean it in none.

    Example:
        >>> convention_of("[250, 500, 500, 750]", Box(400, 100, 600, 200), (800, 400))
        'yxyx_1000'
    """
    numbers = [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", answer)][-4:]
    fits: dict[CoordinateSystem, float] = {}
    for system in _SYSTEMS:
        try:
            fits[system] = Convention(system=system).decode(numbers, size_wh).iou(box)
        except ValueError:
            continue
    best = max(fits, key=lambda system: fits[system], default=None)
    return best if best is not None and fits[best] >= _CERTAIN_IOU else None


def _form(strength: SchemaStrength) -> dict[str, Any]:
    if strength == "none":
        return {}
    if strength == "object":
        return {"response_format": {"type": "json_object"}}
    schema = {
        "type": "object",
        "properties": {"first": {"type": "integer"}, "second": {"type": "integer"}},
        "required": ["first", "second"],
        "additionalProperties": False,
    }
    named = {"name": "numbers", "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _json_in(text: str | None, *, bare: bool) -> dict[str, Any]:
    """The JSON object of an answer; with `bare`, only one that stands alone counts."""
    text = (text or "").strip()
    match = None if bare else re.search(r"\{[^{}]*\}", text)
    try:
        data = json.loads(match.group() if match else text)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _user(text: str, *pictures: dict[str, Any]) -> Message:
    return {"role": "user", "content": [*pictures, _text(text)] if pictures else text}
