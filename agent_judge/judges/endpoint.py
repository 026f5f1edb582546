"""Capability profiles: what an endpoint's model takes, and how it is best asked.

Built-in profiles go by the model's name, whatever the host. A profile is where a run starts: what
an endpoint then refuses is dropped once and remembered (`manner.py`). Sources: the
providers' own documentation, November 2026; see docs/endpoints.md.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from agent_judge.errors import InputError
from agent_judge.judges.coordinates import Convention
from agent_judge.settings import EndpointSettings

SchemaStrength = Literal["strict", "object", "none"]
TokenParam = Literal["max_completion_tokens", "max_tokens"]
TokenRule = Literal["tiles", "patches", "gemini", "unknown"]
Scalar = float | int | str | bool


@dataclass(frozen=True, kw_only=True)
class Profile:
    """One family of models. The defaults are those for a model that nobody knows."""

    name: str = "unknown"
    convention: Convention = field(
        default_factory=lambda: Convention(max_side_px=1568, min_side_px=28)
    )
    """Box convention, and the size at which pictures are really used: they are sent at that."""
    images_in_tool_messages: bool = False
    schema: SchemaStrength = "strict"
    """The strongest form of structured answer to ask for."""
    schema_with_tools: bool = False
    """Whether a schema may be asked for while tools are on offer: where decoding is constrained
    by it (vLLM), the model could not call a tool any more; Gemini refuses both together."""
    parallel_tools: bool = True
    max_images: int | None = None
    """Pictures in one request; None: no limit known."""
    max_body_mb: float = 20.0
    max_png_mb: float | None = 1.5
    """Pictures whose PNG is larger go out as JPEG of high quality; None: always PNG."""
    token_param: TokenParam = "max_tokens"
    sampling_params: Mapping[str, Scalar] = field(default_factory=lambda: {"temperature": 0})
    token_rule: TokenRule = "unknown"
    """How pictures are counted, see `tokens.py`."""
    tokens_base: float = 0.0
    """Tiles: tokens of any picture. Gemini: tokens of one picture."""
    tokens_each: float = 1.0
    """Tokens of one tile or patch."""


_TILES = Convention(max_side_px=1999, max_short_side_px=768, min_side_px=28)
_PATCHES_1536 = Convention(max_side_px=1999, patch_px=32, max_patches=1536, min_side_px=28)
_PATCHES_2500 = Convention(max_side_px=1999, patch_px=32, max_patches=2500, min_side_px=28)
_CLAUDE = Convention(max_side_px=1568, patch_px=28, max_patches=1568, min_side_px=28)
_CLAUDE_HIGH = Convention(max_side_px=1999, patch_px=28, max_patches=4784, min_side_px=28)
_QWEN3 = Convention(system="xyxy_1000", max_side_px=1536, patch_px=32, min_side_px=32)
_QWEN25 = Convention(max_side_px=1568, patch_px=28, min_side_px=28)
_GEMINI = Convention(system="yxyx_1000", max_side_px=1999, min_side_px=28)

_OPENAI = Profile(
    name="openai",
    convention=_TILES,
    schema_with_tools=True,
    max_body_mb=45,
    token_param="max_completion_tokens",
    token_rule="tiles",
    tokens_base=85,
    tokens_each=170,
)
_OPENAI_REASONING = replace(
    _OPENAI, name="openai-reasoning", sampling_params={}, tokens_base=70, tokens_each=140
)
_CLAUDE_PROFILE = Profile(
    name="claude",
    convention=_CLAUDE,
    schema="none",
    max_body_mb=30,
    sampling_params={},
    token_rule="patches",
)
_QWEN = Profile(name="qwen3-vl", convention=_QWEN3, token_rule="patches")

PROFILES: tuple[tuple[str, Profile], ...] = (
    (
        r"agent-judge-measured",
        Profile(
            name="measured",
            convention=Convention(),
            schema_with_tools=True,
            max_body_mb=1000,
            max_png_mb=None,
            sampling_params={},
        ),
    ),
    (r"gpt-4\.1-mini|gpt-4\.1-nano", replace(
        _OPENAI, name="openai-mini", convention=_PATCHES_1536,
        token_rule="patches", tokens_base=0, tokens_each=1.62,
    )),
    (r"gpt-5(\.\d+)?-(mini|nano)|o4-mini", replace(
        _OPENAI_REASONING, name="openai-reasoning-mini", convention=_PATCHES_1536,
        token_rule="patches", tokens_base=0, tokens_each=1.2,
    )),
    (r"gpt-5\.[2-9]|gpt-[6-9]", replace(
        _OPENAI_REASONING, name="openai-patches", convention=_PATCHES_2500,
        token_rule="patches", tokens_base=0, tokens_each=1.2,
    )),
    (r"gpt-5", _OPENAI_REASONING),
    (r"o[1-9](-|$)", replace(_OPENAI_REASONING, name="openai-o", tokens_base=75, tokens_each=150)),
    (r"gpt-4|chatgpt", _OPENAI),
    (r"gemini", Profile(
        name="gemini", convention=_GEMINI, max_body_mb=18, sampling_params={},
        token_rule="gemini", tokens_base=1120,
    )),
    (r"claude-(opus|sonnet|haiku)-(4[-.][7-9]|[5-9])", replace(
        _CLAUDE_PROFILE, name="claude-high", convention=_CLAUDE_HIGH
    )),
    (r"claude", _CLAUDE_PROFILE),
    (r"qwen-?2\.5-?vl", replace(_QWEN, name="qwen2.5-vl", convention=_QWEN25)),
    (r"qwen", _QWEN),
)  # fmt: skip
"""(pattern at the start of the model's name, profile): the first that fits counts."""


def profile_for(model: str, endpoint: EndpointSettings) -> Profile:
    """The profile of a model with the user's overrides.

    Args:
        model: the model's name as the endpoint knows it; a path such as `openai/gpt-4o` counts by
            its last part.
        endpoint: `[endpoint]` of the settings; `profile` names a built-in one or a TOML file.

    Raises:
        InputError: there is no such profile, or the file is at fault.

    Example:
        >>> profile_for("google/gemini-3-pro", EndpointSettings()).convention.system
        'yxyx_1000'
    """
    profile = _by_model(model)
    if endpoint.profile:
        named = {known.name: known for _, known in PROFILES} | {Profile().name: Profile()}
        if endpoint.profile in named:
            profile = named[endpoint.profile]
        elif Path(endpoint.profile).suffix == ".toml":
            profile = _overridden(profile, _read_file(Path(endpoint.profile)))
        else:
            raise InputError(
                f"there is no profile {endpoint.profile!r}: "
                f"give a .toml file or one of {', '.join(named)}"
            )
    return _overridden(profile, endpoint)


def _by_model(model: str) -> Profile:
    name = model.casefold().rsplit("/", 1)[-1]
    return next((p for pattern, p in PROFILES if re.match(pattern, name)), Profile())


def _read_file(path: Path) -> EndpointSettings:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        return EndpointSettings.model_validate(data.get("endpoint", data))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as err:
        raise InputError(f"profile {str(path)!r} cannot be read: {err}") from err
    except ValidationError as err:
        fault = err.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, fault["loc"]))
        raise InputError(f"profile {str(path)!r}: {where}: {fault['msg']}") from err


def _overridden(profile: Profile, endpoint: EndpointSettings) -> Profile:
    given: dict[str, Any] = endpoint.model_dump(exclude_none=True, by_alias=True)
    given.pop("profile", None)
    system, side = given.pop("coordinates", None), given.pop("max_side_px", None)
    convention = profile.convention
    if system is not None:
        convention = replace(convention, system=system)
    if side is not None:  # the user's own word replaces the family's rule
        convention = replace(convention, max_side_px=side, max_short_side_px=None, max_patches=None)
    return replace(profile, convention=convention, **given)
