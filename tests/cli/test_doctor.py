import json

from tests.cli.calls import call


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
