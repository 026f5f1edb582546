import pytest

from agent_judge.installation import (
    checks,
    clash_check,
    endpoint_check,
    missing_library,
    opencv_check,
    tracing_check,
)


def test_this_installation_has_no_fault():
    assert [check for check in checks({}) if check.state == "fault"] == []


def test_two_opencv_wheels_are_a_fault_with_the_remedy():
    found = opencv_check({"opencv-python", "opencv-python-headless"}, lambda name: object())
    assert found.state == "fault"
    assert "pip uninstall -y opencv-python opencv-python-headless" in found.message


@pytest.mark.parametrize(
    ("message", "told"),
    [
        # Case T19.
        ("libGL.so.1: cannot open shared object file: No such file", "apt-get install libgl1"),
        ("numpy.core\nfailed to import", "cannot be imported: numpy.core failed to import"),
    ],
)
def test_opencv_that_cannot_be_imported_is_one_line(message, told):
    def load(name):
        raise ImportError(message)

    found = opencv_check({"opencv-python"}, load)
    assert found.state == "fault"
    assert told in found.message
    assert "\n" not in found.message


def test_other_import_errors_are_not_about_a_system_library():
    assert missing_library(ImportError("No module named 'x'")) is None


@pytest.mark.parametrize(
    ("installed", "state", "told"),
    [
        pytest.param({"numpy": "2.4.6", "torch": "2.14.1+cpu"}, "ok", "none", id="all fit"),
        pytest.param({}, "ok", "none", id="missing ones are told elsewhere"),
        pytest.param(
            {"numpy": "1.26.4", "torch": "2.14.1"}, "fault", "numpy 1.26.4 (needs >=2.0)", id="core"
        ),
        pytest.param(
            {"numpy": "2.0", "transformers": "4.40.0"},
            "note",
            "transformers 4.40.0 (needs >=4.57)",
            id="T02: an extra",
        ),
        pytest.param({"numpy": "2.0", "ruff": "0.1"}, "ok", "none", id="a tool of ours"),
    ],
)
def test_versions_that_do_not_fit_are_named(installed, state, told):
    requires = [
        "numpy>=2.0",
        "torch>=2.11; extra == 'models'",
        "transformers>=4.57; extra == 'models'",
        "ruff>=0.12; extra == 'dev'",
    ]
    found = clash_check(requires, installed.get)
    assert found.state == state
    assert told in found.message


def test_key_is_named_and_never_shown():
    found = endpoint_check({"OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": "http://h/v1"})
    assert "a key" in found.message
    assert "secret" not in found.message


@pytest.mark.parametrize("url", ["http://me:sk-secret@h/v1", "sk-secret"])
def test_a_password_or_a_key_in_the_address_is_not_shown(url):
    found = endpoint_check({"OPENAI_BASE_URL": url})
    assert found.state == "note"
    assert "secret" not in found.message


@pytest.mark.parametrize(("value", "noted"), [("true", True), ("1", True), ("false", False)])
def test_tracing_is_noted_only_when_it_is_on(value, noted):
    assert (tracing_check({"LANGSMITH_TRACING": value}) is not None) == noted
