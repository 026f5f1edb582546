"""Whatever a table holds, an import ends with rows or with a refusal that says why."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_judge.errors import AgentJudgeError
from agent_judge.formats.bpm import import_bpm
from agent_judge.formats.coco import read_coco
from agent_judge.formats.dice import import_dice
from agent_judge.formats.dlebench import import_dlebench
from agent_judge.formats.gedit import import_gedit
from agent_judge.formats.giebench import import_giebench
from agent_judge.formats.imgedit import import_imgedit
from agent_judge.formats.kris import import_kris
from agent_judge.formats.label_studio import read_label_studio
from agent_judge.formats.magicbrush import import_magicbrush
from agent_judge.formats.rise import import_rise
from tests.formats.trees import DEFAULTS, lay, put, rows_of

Reading = Callable[[Path, Any], object]


def dlebench(root, entry):
    put(root / "data.jsonl", [entry])
    return rows_of(import_dlebench(root, root / "out", options=DEFAULTS), root)


def gedit(root, entry):
    table = put(root / "t.json", [entry])
    return rows_of(import_gedit(table, root / "out", options=DEFAULTS), root)


def imgedit(root, entry):
    table = put(root / "t.json", {"a": entry})
    return rows_of(import_imgedit(table, root, root / "out", options=DEFAULTS), root)


def kris(root, entry):
    put(root / "c" / "annotation.json", {"a": entry})
    return rows_of(import_kris(root, root / "out", options=DEFAULTS), root)


def rise(root, entry):
    table = put(root / "t.json", [entry])
    return rows_of(import_rise(table, root / "out", options=DEFAULTS), root)


def giebench(root, entry):
    table = put(root / "t.json", [entry])
    return rows_of(import_giebench(table, root, root / "out", options=DEFAULTS), root)


def magicbrush(root, entry):
    put(root / "edit_turns.json", [entry])
    return rows_of(import_magicbrush(root, root / "out", setting="multi", options=DEFAULTS), root)


def bpm(root, entry):
    table = put(root / "t.json", [entry])
    return rows_of(import_bpm(table, root, editors={}, options=DEFAULTS), root)


def dice(root, entry):
    return rows_of(import_dice(put(root / "t.json", [entry]), root, options=DEFAULTS), root)


def coco(root, entry):
    parts = {"images": [entry], "annotations": [entry], "categories": [entry]}
    return list(read_coco(put(root / "t.json", parts)))


def label_studio(root, entry):
    task = {"data": {"image": "a.png"}, "annotations": [{"result": [{"value": entry}]}]}
    return list(read_label_studio(put(root / "t.json", [task])))


PAIR = {"original_path": "a.png", "edited_path": "out/a.png", "gt_prompt": "x"}
FORMATS: dict[Reading, dict[str, Any]] = {
    dlebench: {"image": "a.png", "edit_operation": "x", "bbox": [1, 2, 3, 4], "id": 1,
               "reference_image": "a.png", "edit_type": "color", "object": "cup"},
    gedit: {"key": "a", "task_type": "t", "instruction": "x", "instruction_language": "en"},
    imgedit: {"id": "a.png", "prompt": "x", "edit_type": "remove"},
    kris: {"ori_img": "a.png", "gt_img": "a.png", "ins_en": "x", "explain_en": ""},
    rise: {"index": "a", "category": "c", "image": ["a.png"], "instruction": "x",
           "reference_img": "a.png", "reference": "y"},
    giebench: {"image": "a.png", "edit_instruction": "x", "object_mask": [[0, 1]],
               "edited_image_path": "a.png", "edit_type": "t"},
    magicbrush: {"input": "a.png", "output": "a-output1.png", "mask": "a.png", "instruction": "x"},
    bpm: {"idx": 1, "source_image_path": "a.png", "instruction": "x", "LLM": {"gemma_origin": "b"},
          "edited_image1": {"image_path": "out/a.png"}},
    dice: {**PAIR, "complete_difference": "ADD: a", "bbox": [0, 0, 1, 1], "operation": "ADD",
           "gt": 1},
    coco: {"id": 1, "image_id": 1, "file_name": "a.png", "bbox": [1, 2, 3, 4], "name": "n",
           "category_id": 1, "width": 4, "height": 4},
    label_studio: {"x": 1, "y": 1, "width": 5, "height": 5, "rotation": 0, "points": [[1, 2]],
                   "rectanglelabels": ["a"], "original_width": 10, "original_height": 10},
}  # fmt: skip
JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 10**12)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "a.png", "../a.png", "/etc/passwd", "a\0b", ".", "..", "//", "\\"])
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    lay(folder, "a.png images/a/a.png Source_Images/a.png Reference_Images/a.png c/a.png")
    return lay(
        folder, "out/a.png out/1.png out/t/en/a.png out/t/en/a_SRCIMG.png out/c/a.png out/a/a_1.png"
    )


@pytest.mark.parametrize("read", FORMATS, ids=lambda read: read.__name__)
@settings(max_examples=25)
@given(data=st.data())
@pytest.mark.slow
def test_no_entry_breaks_an_import(root, read, data):
    entry = dict(FORMATS[read])
    for key in data.draw(st.lists(st.sampled_from(sorted(entry)), min_size=1, max_size=2)):
        entry[key] = data.draw(JUNK)
    with suppress(AgentJudgeError):
        read(root, entry)


@pytest.mark.parametrize("read", FORMATS, ids=lambda read: read.__name__)
def test_the_entry_itself_is_taken(root, read):
    assert read(root, FORMATS[read])


@pytest.mark.parametrize("read", FORMATS, ids=lambda read: read.__name__)
@pytest.mark.parametrize("entry", [None, 7, "x", [], [[]], {"a": {"b": []}}])
def test_an_entry_of_another_kind_is_refused_in_one_line(root, read, entry):
    if read is label_studio and isinstance(entry, dict):
        return  # a region without corners: told, no fault
    with pytest.raises(AgentJudgeError) as refused:
        read(root, entry)
    assert "\n" not in str(refused.value)
