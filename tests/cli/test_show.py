import json

import pytest

from agent_judge.records import Record
from agent_judge.store import Store
from tests.cli.calls import call
from tests.report.runs import BINDING, demo_rows, make_run, plan_rows, record, save, scored

ROW = demo_rows()[1]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("show") / "run", [ROW])


def test_terminal_shows_verdict_answers_evidence_and_cost(run, capsys):
    assert call("show", str(run), ROW["id"]) == 0
    shown = capsys.readouterr().out
    for text in (
        "instruction: Paint the handle of the cup blue.",
        "IF: Wrong Action (level 2 of 4, 33.33 of 100)",
        "action_right: no",
        "VC: Single Anomaly (level 3 of 4, 66.67 of 100)",
        "step 1: zoom_in(picture=source, box=[196, 233, 251, 309])",
        "step 3: difference()",
        "label by planted: IF 2, VC 3",
        "3 requests to 127.0.0.1:1, 5,210 tokens in, 311 tokens out, $0.0123",
    ):
        assert text in shown
    paths = [line.rsplit(": ", 1)[1] for line in shown.splitlines() if line.endswith(".png")]
    assert len(paths) >= 6


def test_pictures_that_are_gone_are_told(tmp_path, capsys):
    folder = make_run(tmp_path / "run", [ROW])
    for path in (folder / "blobs").rglob("*.png"):
        path.unlink()
    assert call("show", str(folder), ROW["id"]) == 0
    assert capsys.readouterr().out.count(".png (gone)\n") >= 6


def test_json_is_the_record_with_raw_replies_and_versions(run, capsys):
    call("show", str(run), ROW["id"], "--criterion", "IF", "--json")
    shown = json.loads(capsys.readouterr().out)
    with Store.open(run) as store:
        saved = store.latest(ROW["id"], "IF")
    assert saved is not None
    assert Record.from_json({k: shown[k] for k in saved.record.to_json()}) == saved.record
    assert json.loads(shown["replies"][-1])["label"] == "Wrong Action"
    assert len(shown["messages"]) == 4
    assert shown["versions"]["rubric"] == saved.record.rubric_version


def test_json_of_both_criteria_is_a_list(run, capsys):
    call("show", str(run), ROW["id"], "--json")
    assert [one["criterion"] for one in json.loads(capsys.readouterr().out)] == ["IF", "VC"]


def test_unknown_id_names_the_nearest(run, capsys):
    assert call("show", str(run), "coffee_handle_c") == 2
    assert "did you mean 'coffee_handle_b'?" in capsys.readouterr().err


def test_rows_without_a_level_say_why(tmp_path, capsys):
    with Store.create(tmp_path / "run", BINDING) as store:
        plan_rows(store, [ROW])
        save(store, record(ROW, "IF", status="unscored", reason="needs_lmm", explanation="look"))
    assert call("show", str(tmp_path / "run"), ROW["id"]) == 0
    shown = capsys.readouterr().out
    assert "IF: unscored, needs_lmm\n  look" in shown
    assert "VC: not run" in shown
    assert call("show", str(tmp_path / "run"), ROW["id"], "--criterion", "VC", "--json") == 2


def test_data_cannot_steer_the_terminal(tmp_path, capsys):
    row = {**ROW, "instruction": "a\x1b]0;owned\x07\x1b[2Jb\nc"}
    with Store.create(tmp_path / "run", BINDING) as store:
        plan_rows(store, [row])
        save(store, scored(row, "IF", explanation="\x9b31m red", evidence=()))
    call("show", str(tmp_path / "run"), ROW["id"])
    shown = capsys.readouterr().out
    assert not any(c in shown for c in "\x1b\x07\x9b")
    assert "b\nc" in shown


def test_a_criterion_that_the_run_has_not_is_named(run, capsys):
    assert call("show", str(run), ROW["id"], "--criterion", "XX") == 2
    assert "--criterion XX: the criteria of this run are IF, VC" in capsys.readouterr().err
