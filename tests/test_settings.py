"""Settings: one frozen object from defaults < file < environment < flags < --set."""

import traceback

import pytest
from pydantic import ValidationError

from agent_judge.errors import InputError
from agent_judge.settings import Settings, load_settings


def made(tmp_path, toml="", env=None, flags=None, assignments=()):
    config = tmp_path / "agent-judge.toml"
    config.write_text(toml, encoding="utf-8")
    return load_settings(
        config=config, env=env or {}, flags=flags or {}, assignments=list(assignments)
    )


def test_the_order_of_precedence(tmp_path):
    toml = '[judge]\nmodel = "file"\nmax_steps = 3\n'
    assert made(tmp_path, toml).judge.model == "file"
    env = {"AGENT_JUDGE_MODEL": "env"}
    assert made(tmp_path, toml, env).judge.model == "env"
    flags = {"judge.model": "flag", "mode": None}
    assert made(tmp_path, toml, env, flags).judge.model == "flag"
    last = made(tmp_path, toml, env, flags, ["judge.model=set"])
    assert (last.judge.model, last.judge.max_steps, last.mode) == ("set", 3, "auto")


@pytest.mark.parametrize(
    ("assignment", "read"),
    [
        ("judge.max_steps=5", lambda s: s.judge.max_steps == 5),
        ("judge.model=gpt-4.1", lambda s: s.judge.model == "gpt-4.1"),
        ('judge.model="12"', lambda s: s.judge.model == "12"),
        ("tools.enhance_crops=true", lambda s: s.tools.enhance_crops is True),
        ("endpoint.schema=object", lambda s: s.endpoint.schema_ == "object"),
        (
            "endpoint.sampling_params={temperature=0}",
            lambda s: s.endpoint.sampling_params == {"temperature": 0},
        ),
        (
            'prices."gpt-4.1"={input_per_mtok=2, output_per_mtok=8}',
            lambda s: s.prices["gpt-4.1"].output_per_mtok == 8,
        ),
    ],
)
def test_assignments_reach_any_setting(tmp_path, assignment, read):
    assert read(made(tmp_path, assignments=[assignment]))


@pytest.mark.parametrize(
    ("toml", "assignments", "told"),
    [
        ("[judge]\nmax_stepz = 3", [], "unknown setting 'judge.max_stepz'"),
        ("[judge]\nmax_steps = -1", [], "judge.max_steps"),
        ("[judge", [], "cannot be read"),
        ("", ["max_steps"], "expected table.key=value"),
        ("", ["judge.max_steps.x=1"], "judge.max_steps"),
        ("", ["judge.=1"], "--set"),
        ("", ["mode=orakel"], "mode"),
        ("judge = 3", ["judge.model=x"], "is no table"),
        ("x = " + "[" * 9999, [], "cannot be read"),
        ("", ["x.y=" + "[" * 9999], "unknown setting 'x'"),
        ("criteria = []", [], "criteria"),
        ("", ["tools.device=tpu"], "tools.device"),
        ("", ["judge.model="], "judge.model"),
        ("", ['judge.base_url="  "'], "judge.base_url"),
        ("[judge]\nrequest_timeout_s = inf", [], "judge.request_timeout_s"),
        ("[oracle]\ncrop_margin_min_px = 1e308", [], "oracle.crop_margin_min_px"),
    ],
)
def test_mistakes_name_the_setting(tmp_path, toml, assignments, told):
    with pytest.raises(InputError, match=told):
        made(tmp_path, toml, assignments=assignments)


def test_a_key_never_shows(tmp_path):
    settings = made(tmp_path, env={"OPENAI_API_KEY": "sk-secret"})
    assert settings.judge.api_key is not None
    assert "sk-secret" not in repr(settings) + str(settings.model_dump())
    assert "sk-secret" not in str(settings.verdict_settings())


@pytest.mark.parametrize(
    ("toml", "assignments"),
    [
        ('[judge]\napikey = "sk-secret"', []),
        ('[judge]\napi_key = ["sk-secret"]', []),
        ('api_key = "sk-secret"', []),
        ("", ["api_key=sk-secret"]),
        ("", ["judge.api key=sk-secret"]),
        ("", ["judge.api_key=['sk-secret']"]),
    ],
)
def test_a_key_in_the_wrong_place_shows_in_no_message_and_no_traceback(tmp_path, toml, assignments):
    with pytest.raises(InputError) as caught:
        made(tmp_path, toml, assignments=assignments)
    assert "sk-secret" not in "".join(traceback.format_exception(caught.value))


def test_criteria_are_asked_for_once_in_the_order_of_the_report(tmp_path):
    assert made(tmp_path, 'criteria = ["VC", "IF", "VC"]').criteria == ("IF", "VC")


def test_settings_are_frozen():
    with pytest.raises(ValidationError):
        Settings().mode = "tool"


def test_patience_is_not_part_of_what_a_run_is_bound_to():
    patient = Settings.model_validate({"judge": {"transport_retries": 9, "format_retries": 9}})
    assert patient.verdict_settings() == Settings().verdict_settings()
    assert (
        Settings.model_validate({"judge": {"votes": 3}}).verdict_settings()
        != Settings().verdict_settings()
    )
