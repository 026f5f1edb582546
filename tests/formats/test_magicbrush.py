import numpy as np
import pytest
from PIL import Image

from agent_judge.errors import InputError
from agent_judge.formats.magicbrush import import_magicbrush
from tests.formats.trees import DEFAULTS, lay, put, refusal, rows_of

OUTPUTS = "30/30_1.png 139/139_1.png 139/139_inde_2.png 139/139_iter_2.png 139/139_iter_3.png"


def turn(session, number, instruction):
    before = f"{session}-input.png" if number == 1 else f"{session}-output{number - 1}.png"
    return {
        "input": before,
        "mask": f"{session}-mask{number}.png",
        "output": f"{session}-output{number}.png",
        "instruction": instruction,
    }


TURNS = [
    turn("139", 2, "Then remove the hat"),
    turn("30", 1, "Make the cup red."),
    turn("139", 1, "Add a hat"),
    turn("139", 3, "Is the sky blue now?"),
]


def mask(path, x1, y1, x2, y2):
    pixels = np.full((100, 200, 4), 255, np.uint8)
    pixels[y1:y2, x1:x2] = 0
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "dev"
    put(folder / "edit_turns.json", TURNS)
    put(folder / "global_descriptions.json", {"139": {"139-output2.png": "A man without a hat."}})
    lay(
        folder / "images",
        "30/30-input.png 30/30-output1.png 139/139-input.png 139/139-output1.png "
        "139/139-output2.png 139/139-output3.png",
    )
    mask(folder / "images" / "139" / "139-mask1.png", 20, 10, 40, 30)
    mask(folder / "images" / "139" / "139-mask2.png", 100, 50, 150, 100)
    return folder


def test_turns_are_matched_by_their_names(tmp_path, data):
    found = import_magicbrush(data, lay(tmp_path / "model", OUTPUTS), options=DEFAULTS)
    rows = {row["id"]: row for row in rows_of(found, tmp_path)}
    assert list(rows) == ["139-2", "30-1", "139-1", "139-3"]
    second = rows["139-2"]
    assert second["source"] == "dev/images/139/139-output1.png"
    assert second["edited"] == "model/139/139_inde_2.png"
    assert second["reference"] == "dev/images/139/139-output2.png"
    assert second["instruction"] == "Then remove the hat"
    assert second["edited_caption"] == "A man without a hat."
    assert second["boxes"] == [[0.5, 0.5, 0.75, 1.0]]
    assert rows["30-1"]["edited"] == "model/30/30_1.png"
    assert "missing  1: 139-3" in found.summary()
    assert "'30-1': no mask '30-mask1.png': no boxes of turn 1" in found.summary()
    assert "no row asks for" not in found.summary()


def test_a_session_is_judged_from_its_first_source_to_its_last_output(tmp_path, data):
    outputs = lay(tmp_path / "model", OUTPUTS)
    found = import_magicbrush(data, outputs, setting="multi", options=DEFAULTS)
    rows = {row["id"]: row for row in rows_of(found, tmp_path)}
    assert sorted(rows) == ["139", "30"]
    session = rows["139"]
    assert session["source"] == "dev/images/139/139-input.png"
    assert session["edited"] == "model/139/139_iter_3.png"
    assert session["reference"] == "dev/images/139/139-output3.png"
    assert session["instruction"] == "Add a hat. Then remove the hat. Is the sky blue now?"
    assert session["boxes"] == [[0.1, 0.1, 0.2, 0.3], [0.5, 0.5, 0.75, 1.0]]
    assert rows["30"]["edited"] == "model/30/30_1.png"


@pytest.mark.parametrize("setting", ["single", "multi"])
def test_a_table_of_sessions_gives_the_same(tmp_path, data, setting):
    outputs = lay(tmp_path / "model", OUTPUTS)
    by_turns = rows_of(
        import_magicbrush(data, outputs, setting=setting, options=DEFAULTS), tmp_path
    )
    (data / "edit_turns.json").unlink()
    sessions = {"30": [TURNS[1]], "139": [TURNS[2], TURNS[0], TURNS[3]]}
    put(data / "edit_sessions.json", sessions)
    by_sessions = rows_of(
        import_magicbrush(data, outputs, setting=setting, options=DEFAULTS), tmp_path
    )
    assert sorted(by_turns, key=str) == sorted(by_sessions, key=str)


@pytest.mark.parametrize(
    ("turns", "setting", "told"),
    [
        ([turn("139", 1, "x"), turn("139", 3, "y")], "multi", "expected the turns 1 to 2 of 139"),
        ([{**turn("139", 1, "x"), "output": "139-2.png"}], "multi", "expected a name as 139306-"),
        ([{**turn("139", 1, "x"), "output": "139-2.png"}], "single", "expected a name as 139306-"),
        ([{**turn("139", 1, "x"), "input": "../../x.png"}], "single", "leads out of"),
        ([7], "multi", "expected an object"),
    ],
)
def test_what_is_no_session_is_told(tmp_path, data, turns, setting, told):
    put(data / "edit_turns.json", turns)
    outputs = lay(tmp_path / "model", OUTPUTS)
    assert told in refusal(import_magicbrush(data, outputs, setting=setting, options=DEFAULTS))


def test_a_split_without_a_table_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"edit_turns.json or edit_sessions.json"):
        import_magicbrush(tmp_path, tmp_path, options=DEFAULTS)
