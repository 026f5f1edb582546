"""Profiles: which model gets which, and how the user overrides them."""

import pytest

from agent_judge.errors import InputError
from agent_judge.judges.endpoint import PROFILES, Profile, profile_for
from agent_judge.settings import EndpointSettings


def profile(model, **endpoint):
    return profile_for(model, EndpointSettings.model_validate(endpoint))


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-4o", "openai"),
        ("gpt-4.1-2025-04-14", "openai"),
        ("openai/gpt-4o", "openai"),
        ("gpt-4.1-mini", "openai-mini"),
        ("gpt-5", "openai-reasoning"),
        ("gpt-5.1", "openai-reasoning"),
        ("gpt-5-mini", "openai-reasoning-mini"),
        ("gpt-5.4", "openai-patches"),
        ("gpt-6-astra", "openai-patches"),
        ("o3", "openai-o"),
        ("o4-mini", "openai-reasoning-mini"),
        ("gemini-3-pro-preview", "gemini"),
        ("google/gemini-2.5-flash", "gemini"),
        ("claude-sonnet-4-5", "claude"),
        ("anthropic/claude-opus-4.7", "claude-high"),
        ("Qwen/Qwen3-VL-8B-Instruct", "qwen3-vl"),
        ("Qwen/Qwen2.5-VL-7B-Instruct", "qwen2.5-vl"),
        ("qwen2.5vl:7b", "qwen2.5-vl"),
        ("qwen2-vl", "qwen3-vl"),
        ("agent-judge-measured", "measured"),
        ("agent-judge-measured-loopback", "measured"),
        ("llava:13b", "unknown"),
        ("olmo", "unknown"),
        ("my-gpt-4o-clone", "unknown"),
    ],
)
def test_profiles_go_by_the_models_name(model, name):
    assert profile(model).name == name


@pytest.mark.parametrize("known", [p for _, p in PROFILES], ids=lambda p: p.name)
def test_no_picture_of_a_known_family_reaches_2000_px(known):
    side = max(known.convention.shown_wh((4000, 3000)))
    assert side < 2000 or known.name == "measured"


@pytest.mark.parametrize(
    ("model", "system"),
    [
        ("gemini-3-pro", "yxyx_1000"),
        ("qwen3-vl", "xyxy_1000"),
        ("qwen2.5-vl", "shown_pixels"),
        ("claude-opus-4", "shown_pixels"),
        ("gpt-4o", "shown_pixels"),
    ],
)
def test_each_family_has_its_box_convention(model, system):
    assert profile(model).convention.system == system


def test_overrides_win_over_the_models_profile():
    changed = profile(
        "gemini-3-pro",
        coordinates="xyxy_1000",
        max_side_px=900,
        schema="none",
        max_images=3,
        max_body_mb=1.5,
        token_param="max_completion_tokens",
        sampling_params={"temperature": 0.5},
        parallel_tools=False,
        images_in_tool_messages=True,
    )
    assert (changed.name, changed.token_rule) == ("gemini", "gemini")
    assert (changed.convention.system, changed.convention.max_side_px) == ("xyxy_1000", 900)
    assert (changed.schema, changed.max_images, changed.max_body_mb) == ("none", 3, 1.5)
    assert changed.token_param == "max_completion_tokens"
    assert changed.sampling_params == {"temperature": 0.5}
    assert (changed.parallel_tools, changed.images_in_tool_messages) == (False, True)


def test_an_own_side_replaces_the_familys_whole_rule():
    assert profile("gpt-4o", max_side_px=1600).convention.shown_wh((4000, 3000)) == (1600, 1200)


def test_a_profile_can_be_named():
    assert profile("my-model", profile="qwen3-vl").name == "qwen3-vl"
    assert profile("gpt-4o", profile="unknown") == Profile()


@pytest.mark.parametrize("text", ['schema = "object"\n', '[endpoint]\nschema = "object"\n'])
def test_a_profile_can_be_a_file(tmp_path, text):
    path = tmp_path / "own.toml"
    path.write_text(text, encoding="utf-8")
    assert profile("gpt-4o", profile=str(path)).schema == "object"
    assert profile("gpt-4o", profile=str(path), schema="none").schema == "none"


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("nothing", None, "no profile 'nothing'"),
        ("missing.toml", None, "cannot be read"),
        ("bad.toml", "schema = ", "cannot be read"),
        ("bad.toml", 'schema = "loose"', "schema"),
        ("bad.toml", "scheme = 1", "scheme"),
    ],
)
def test_a_profile_at_fault_is_told(tmp_path, name, text, told):
    path = tmp_path / name
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=told):
        profile("gpt-4o", profile=str(path) if name.endswith(".toml") else name)
