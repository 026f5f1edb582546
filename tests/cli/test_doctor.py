import json
import tomllib

from agent_judge.testing import LoopbackEndpoint, in_turn
from tests.cli.calls import call

PROBED = {
    "tools",
    "schema",
    "images_in_tool_messages",
    "coordinates",
    "smallest_readable_px",
    "small_detail",
}


def test_doctor_lists_its_checks_and_exits_0(capsys):
    assert call("doctor", "--json") == 0
    names = [check["name"] for check in json.loads(capsys.readouterr().out)["checks"]]
    assert {"python", "versions", "opencv", "device", "enhance", "endpoint"} <= set(names)


def test_weights_that_are_not_here_are_told_with_the_way_to_get_them(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert call("weights", "list") == 0
    assert "Apache-2.0" in capsys.readouterr().out
    assert call("weights", "path", "groundingdino-swint") == 2
    assert "weights fetch groundingdino-swint" in capsys.readouterr().err
    assert call("weights", "path", "nosuch") == 2


def test_endpoint_is_asked_and_its_profile_written(capsys, tmp_path):
    out = tmp_path / "profile.toml"
    with LoopbackEndpoint(in_turn("I cannot help with that.")) as endpoint:
        args = ("doctor", "--base-url", endpoint.base_url, "--model", "m")
        assert call(*args, "--json", "-o", out) == 0
        assert set(json.loads(capsys.readouterr().out)) >= PROBED
        assert tomllib.loads(out.read_text())["endpoint"]["schema"] == "none"
        assert call(*args) == 0
        assert "small details             unreadable" in capsys.readouterr().out


def test_endpoint_that_is_not_there_is_one_line(capsys):
    assert call("doctor", "--base-url", "http://127.0.0.1:9/v1", "--model", "m") == 2
    shown = capsys.readouterr().err
    assert "127.0.0.1:9" in shown
    assert shown.count("\n") == 1


def test_profile_needs_an_endpoint(capsys, tmp_path):
    assert call("doctor", "-o", tmp_path / "p.toml") == 2
    assert "--base-url" in capsys.readouterr().err
