"""What doctor finds out about an endpoint, against models of known ability."""

import io
import json
import tomllib
from typing import Any

import numpy as np
import pytest
from PIL import Image

from agent_judge.errors import InputError
from agent_judge.judges.coordinates import Convention
from agent_judge.judges.endpoint import Profile, profile_for
from agent_judge.judges.probe import Findings, convention_of, probe
from agent_judge.judges.probe_pictures import (
    HEIGHTS_PX,
    details_picture,
    draw_numbers,
    number_picture,
    red_box_picture,
)
from agent_judge.records import Box
from agent_judge.settings import EndpointSettings, JudgeSettings, Price
from agent_judge.testing import Answer, ChatRequest, LoopbackEndpoint, Policy, calls, fails, in_turn

SEED = 5


def red_box(request: ChatRequest) -> tuple[Box, tuple[int, int]]:
    pixels = np.asarray(Image.open(io.BytesIO(request.pictures[0].data))).astype(int)
    rows, columns = np.nonzero(pixels[..., 0] - pixels[..., 1] > 100)
    box = Box(columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
    return box, (pixels.shape[1], pixels.shape[0])


def a_model(
    *,
    tools: bool = True,
    forms: tuple[str, ...] = ("json_schema", "json_object"),
    most_images: int = 2,
    tool_pictures: str = "seen",
    system: Any = "xyxy_1000",
    reads_px: int = 13,
) -> Policy:
    """A model that sees as well as it is told to."""
    first, second, third, *_ = draw_numbers(SEED).values()
    tiny = draw_numbers(SEED + 1)

    def answer(request: ChatRequest) -> Answer | str:
        asked = request.text
        if request.tools:
            if not tools:
                return fails(400, "does not support tools")
            if not request.replies:
                return calls(("look", {"which": 1}))
            if tool_pictures == "refused":
                return fails(400, "tool messages take text only")
            return str(third) if tool_pictures == "seen" else "I see no picture."
        if request.response_format and request.response_format["type"] not in forms:
            return fails(400, "response_format is not supported")
        if "each picture" in asked:
            seen = {"first": first, "second": second if most_images > 1 else 0}
            return json.dumps(seen) if request.response_format else f"Sure: {json.dumps(seen)}"
        if "red rectangle" in asked:
            box, size_wh = red_box(request)
            return str([round(v) for v in Convention(system=system).encode(box, size_wh)])
        if "each letter" in asked:
            heights = dict(zip(tiny, HEIGHTS_PX, strict=True))
            read = {k: n if heights[k] >= reads_px else None for k, n in tiny.items()}
            return f"```json\n{json.dumps(read)}\n```"
        return "OK"

    return answer


async def found(policy: Policy, profile: Profile | None = None) -> Findings:
    with LoopbackEndpoint(policy) as endpoint:
        settings = JudgeSettings(base_url=endpoint.base_url, backoff_max_s=0, transport_retries=0)
        prices = {"m": Price(input_per_mtok=1, output_per_mtok=1)}
        return await probe("m", settings, profile or Profile(), prices=prices, seed=SEED)


async def test_a_model_that_does_everything():
    findings = await found(a_model())
    assert findings.tools
    assert findings.two_pictures
    assert findings.images_in_tool_messages
    assert (findings.schema, findings.coordinates) == ("strict", "xyxy_1000")
    assert (findings.smallest_readable_px, findings.small_detail) == (13, "ok")
    assert findings.requests == 6
    assert findings.usd == pytest.approx(6 * 110 / 1e6)


@pytest.mark.parametrize(
    ("ability", "finding"),
    [
        ({"tools": False}, {"tools": False, "images_in_tool_messages": False}),
        ({"tool_pictures": "overlooked"}, {"tools": True, "images_in_tool_messages": False}),
        ({"tool_pictures": "refused"}, {"tools": True, "images_in_tool_messages": False}),
        ({"forms": ("json_object",)}, {"schema": "object", "two_pictures": True}),
        ({"forms": ()}, {"schema": "none", "two_pictures": True}),
        ({"most_images": 1}, {"schema": "strict", "two_pictures": False}),
        ({"system": "shown_pixels"}, {"coordinates": "shown_pixels"}),
        ({"system": "yxyx_1000"}, {"coordinates": "yxyx_1000"}),
        ({"reads_px": 28}, {"smallest_readable_px": 28, "small_detail": "ok"}),
        ({"reads_px": 38}, {"smallest_readable_px": 38, "small_detail": "unreadable"}),
        ({"reads_px": 999}, {"smallest_readable_px": None, "small_detail": "unreadable"}),
    ],
)
@pytest.mark.slow
async def test_what_a_model_lacks_is_found(ability, finding):
    findings = (await found(a_model(**ability))).to_json()
    assert {key: findings[key] for key in finding} == finding


async def test_pictures_are_shown_at_the_size_of_the_profile():
    sizes: list[tuple[int, int]] = []

    def watching(request: ChatRequest) -> Answer | str:
        sizes.extend(Image.open(io.BytesIO(p.data)).size for p in request.pictures)
        return a_model()(request)

    profile = profile_for("gpt-4o", EndpointSettings())
    await found(watching, profile)
    assert max(sizes) == (1024, 768)


async def test_a_model_that_says_nothing_useful_has_no_abilities():
    findings = await found(in_turn("I cannot help with that."))
    assert findings.to_json() | {"requests": 0} == {
        "model": "m",
        "endpoint": findings.endpoint,
        "tools": False,
        "schema": "none",
        "two_pictures": False,
        "images_in_tool_messages": False,
        "coordinates": None,
        "smallest_readable_px": None,
        "small_detail": "unreadable",
        "requests": 0,
        "tokens_in": findings.tokens_in,
        "tokens_out": findings.tokens_out,
        "usd": findings.usd,
    }


async def test_an_endpoint_that_does_not_answer_is_an_input_error_with_its_words():
    with pytest.raises(InputError, match="bad key"):
        await found(in_turn(fails(401, "bad key")))


async def test_the_profile_written_is_one_that_can_be_read(tmp_path):
    findings = await found(a_model(most_images=1, system="yxyx_1000", forms=()))
    path = tmp_path / "found.toml"
    path.write_text(findings.to_toml(), encoding="utf-8")
    assert tomllib.loads(path.read_text(encoding="utf-8"))["endpoint"]["schema"] == "none"
    profile = profile_for("m", EndpointSettings(profile=str(path)))
    assert (profile.max_images, profile.schema) == (1, "none")
    assert profile.convention.system == "yxyx_1000"


@pytest.mark.parametrize("size_wh", [(1568, 1176), (1024, 768), (1536, 1152)])
@pytest.mark.parametrize("system", ["shown_pixels", "xyxy_1000", "yxyx_1000"])
def test_no_two_conventions_agree_on_the_red_box(system, size_wh):
    _, box = red_box_picture(size_wh)
    numbers = [round(n) for n in Convention(system=system).encode(box, size_wh)]
    assert convention_of(f"The box is {numbers}.", box, size_wh) == system


@pytest.mark.parametrize("answer", ["", "no box", "[1, 2, 3]", "[5, 5, 1, 1]", "[0, 0, 10, 10]"])
def test_a_box_that_fits_no_convention_is_none(answer):
    assert convention_of(answer, Box(600, 100, 800, 250), (1000, 750)) is None


def test_numbers_are_drawn_at_their_exact_height():
    picture = details_picture(draw_numbers(1), (1200, 900)).astype(int)
    dark = picture.sum(axis=2) < 400
    rows = np.nonzero(dark[:300, 72:380].any(axis=1))[0]
    assert rows.max() - rows.min() + 1 == HEIGHTS_PX[0]
    assert number_picture(1234).shape == (200, 320, 3)
