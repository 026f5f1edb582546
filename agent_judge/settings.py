"""One frozen Settings, made once from a TOML file, the environment and flags, and passed down."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    ValidationError,
    model_validator,
)

from agent_judge.errors import InputError
from agent_judge.records import Criterion
from agent_judge.rubrics.protocol import DEFAULT, load_protocol, protocol_names

MEASURED = "measured"
"""Name of the embedded judge."""
DEFAULT_CONFIG = "agent-judge.toml"
"""Read when it lies beside the manifest and no other file is named."""


class _Table(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, hide_input_in_errors=True
    )


_Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class JudgeSettings(_Table):
    """`[judge]`: who decides, and how patiently."""

    model: _Words | None = None
    """None: the embedded judge, or the only model of the endpoint when there is a base URL."""
    base_url: _Words | None = None
    api_key: SecretStr | None = Field(default=None, exclude=True)
    max_steps: int = Field(default=8, ge=0, le=100)
    """Tool turns a criterion."""
    format_retries: int = Field(default=2, ge=0, le=20)
    transport_retries: int = Field(default=5, ge=0, le=100)
    backoff_max_s: float = Field(default=60, ge=0)
    request_timeout_s: float = Field(default=120, gt=0)
    sample_timeout_s: float = Field(default=600, gt=0)
    max_output_tokens: int | None = Field(default=None, ge=1)
    fatal_in_a_row: int = Field(default=5, ge=1)
    votes: int = Field(default=1, ge=1, le=99)


class EndpointSettings(_Table):
    """`[endpoint]`: overrides of the model's profile; None leaves the profile's value."""

    profile: str | None = None
    """Name of a built-in profile, or a TOML file."""
    coordinates: Literal["shown_pixels", "xyxy_1000", "yxyx_1000"] | None = None
    images_in_tool_messages: bool | None = None
    schema_: Literal["strict", "object", "none"] | None = Field(default=None, alias="schema")
    parallel_tools: bool | None = None
    max_images: int | None = Field(default=None, ge=1)
    max_side_px: int | None = Field(default=None, ge=64)
    max_body_mb: float | None = Field(default=None, gt=0)
    token_param: Literal["max_completion_tokens", "max_tokens"] | None = None
    sampling_params: dict[str, float | int | str | bool] | None = None


class OracleSettings(_Table):
    """`[oracle]`: how far crops and masks reach beyond the boxes (the paper does not say)."""

    crop_margin_share: float = Field(default=0.5, ge=0, le=100)
    """Growth on each side, as a share of the box's longer side."""
    crop_margin_min_px: float = Field(default=32, ge=0, le=100_000)
    mask_margin_px: float = Field(default=4, ge=0, le=100_000)
    mask_margin_share: float = Field(default=0.02, ge=0, le=100)


class ToolSettings(_Table):
    """`[tools]`: the four visual tools."""

    enhance_crops: bool = False
    """Enhance every crop of zoom_in and difference, as the paper does (DLEBench 4.2)."""
    max_crops: int = Field(default=6, ge=1, le=50)
    """Crops in one reply of `difference`."""
    detector: str | None = None
    """Weights of the grounding detector: a known name, a file or a folder."""
    enhancer: str = "animevideov3"
    """Weights of the super-resolution network: `animevideov3`, `x4plus`, a known name or a file."""
    clip: str | None = None
    """A CLIP-family network for BPM's modification: a folder or a hub name of transformers."""
    segmenter: str | None = None
    """A SAM-family network for BPM's masks: a folder or a hub name; None: boxes are the masks."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where networks run."""


class RunSettings(_Table):
    """`[run]`: how many at once and when to stop; changes no verdict."""

    jobs: int | None = Field(default=None, ge=1, le=1024)
    """Samples judged, or requests in flight, at once; None: the cores if embedded, else 8."""
    max_unscored: float = Field(default=0.02, ge=0, le=1)
    mask_out: Path | None = None
    """Folder for the masks of edited regions that a measure was computed with."""
    max_usd: float | None = Field(default=None, ge=0)
    max_tokens_total: int | None = Field(default=None, ge=0)
    engine: Literal["local", "ray"] = "local"
    """Where samples are judged: in this process, or by Ray workers."""
    ray_address: _Words | None = None
    """HOST:PORT of a cluster, or `auto`; None: one of its own on this machine."""


class Price(_Table):
    """`[prices."MODEL"]`: USD per million tokens."""

    input_per_mtok: float = Field(ge=0)
    output_per_mtok: float = Field(ge=0)


class Settings(_Table):
    """Everything a run depends on besides its manifest."""

    protocol: str = DEFAULT
    """Which criteria there are and how their levels are found; docs/protocols.md."""
    mode: Literal["auto", "tool", "oracle", "direct"] = "auto"
    criteria: tuple[Criterion, ...] = ()
    """In the protocol's order; none given: all of the protocol."""
    judge: JudgeSettings = JudgeSettings()
    endpoint: EndpointSettings = EndpointSettings()
    oracle: OracleSettings = OracleSettings()
    tools: ToolSettings = ToolSettings()
    run: RunSettings = RunSettings()
    prices: dict[str, Price] = {}

    @model_validator(mode="before")
    @classmethod
    def _criteria_of_the_protocol(cls, data: Any) -> Any:  # noqa: ANN401 - pydantic's
        if not isinstance(data, dict):
            return data
        name, asked = data.get("protocol", DEFAULT), data.get("criteria")
        if name not in protocol_names():
            raise ValueError(f"no protocol {name!r}; there are {', '.join(protocol_names())}")
        known = load_protocol(name).criteria
        names = {word.casefold(): word for word in known}
        words = [asked] if isinstance(asked, str) else list(known if asked is None else asked)
        found = [names.get(str(word).strip().casefold()) for word in words]
        if not found or None in found:
            expected = f"{','.join(known)} or some of them"
            raise ValueError(f"criteria of {name}: expected {expected}, got {words}")
        return {**data, "criteria": tuple(word for word in known if word in found)}

    def verdict_settings(self) -> dict[str, Any]:
        """The settings that can change a verdict, as plain JSON types: a run is bound to them.

        Patience (retries, time-outs, token limits) is left out: it only decides whether there is
        a verdict. So is the base URL, which may move while the model stays.
        """
        judge = self.judge.model_dump(include={"model", "max_steps", "votes"})
        return {
            "mode": self.mode,
            "judge": judge,
            "endpoint": self.endpoint.model_dump(by_alias=True, exclude_none=True),
            "oracle": self.oracle.model_dump(),
            "tools": self.tools.model_dump(exclude={"device"}),
        }


def load_settings(
    *,
    config: Path | None = None,
    env: Mapping[str, str],
    flags: Mapping[str, Any],
    assignments: Sequence[str] = (),
) -> Settings:
    """The settings of one invocation: defaults < TOML file < environment < flags < `--set`.

    Args:
        config: TOML file, or None.
        env: environment; `AGENT_JUDGE_MODEL`, `OPENAI_BASE_URL`, `OPENAI_API_KEY` and
            `RAY_ADDRESS` are read.
        flags: dotted setting names with their values; None values are left out.
        assignments: `table.key=value` texts, values in TOML syntax (bare words are text).

    Raises:
        InputError: a file that cannot be read, an unknown name or a bad value.
    """
    table = _read_toml(config) if config else {}
    for name, variable in (
        ("judge.model", "AGENT_JUDGE_MODEL"),
        ("judge.base_url", "OPENAI_BASE_URL"),
        ("judge.api_key", "OPENAI_API_KEY"),
        ("run.ray_address", "RAY_ADDRESS"),
    ):
        if env.get(variable):
            _assign(table, name, env[variable])
    for name, value in flags.items():
        if value is not None:
            _assign(table, name, value)
    for text in assignments:
        _merge(table, _parse_assignment(text))
    try:
        return Settings.model_validate(table)
    except ValidationError as err:
        raise InputError(_first_fault(err, config)) from err


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as err:
        raise InputError(f"config {str(path)!r} cannot be read: {err}") from err


def _parse_assignment(text: str) -> dict[str, Any]:
    """`table.key=value` in TOML; a value that is no TOML is text."""
    name, equals, value = text.partition("=")
    if not equals or ("." not in name and name.strip() not in Settings.model_fields):
        raise InputError(f"--set {name!r}: expected table.key=value")  # the value may be a key
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        pass
    try:
        return tomllib.loads(f"{name} = {json.dumps(value.strip())}")
    except tomllib.TOMLDecodeError as err:
        raise InputError(f"--set {name!r}: {err}") from err


def _assign(table: dict[str, Any], dotted: str, value: object) -> None:
    *parents, key = dotted.split(".")
    nested: dict[str, Any] = {key: value}
    for parent in reversed(parents):
        nested = {parent: nested}
    _merge(table, nested)


def _merge(table: dict[str, Any], more: Mapping[str, Any]) -> None:
    for key, value in more.items():
        if isinstance(value, dict) and key in table:
            if not isinstance(table[key], dict):
                raise InputError(f"setting {key!r} is no table")
            _merge(table[key], value)
        else:
            table[key] = value


def _first_fault(err: ValidationError, config: Path | None) -> str:
    fault = err.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        return f"unknown setting {where!r}" + (f" (in {str(config)!r} or --set)" if config else "")
    told = fault["msg"].removeprefix("Value error, ")
    return f"setting {where!r}: {told}" if where else told
