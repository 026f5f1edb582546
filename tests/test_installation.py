import pytest

from agent_judge.installation import (
    checks,
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


def test_key_is_named_and_never_shown():
    found = endpoint_check({"OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": "http://h/v1"})
    assert "a key" in found.message
    assert "secret" not in found.message


@pytest.mark.parametrize(("value", "noted"), [("true", True), ("1", True), ("false", False)])
def test_tracing_is_noted_only_when_it_is_on(value, noted):
    assert (tracing_check({"LANGSMITH_TRACING": value}) is not None) == noted
