"""What every importer does, shown on the plainest layout: ImgEdit's."""

from __future__ import annotations

import json

import pytest

from agent_judge.errors import InputError, ManifestError
from agent_judge.formats.imgedit import import_imgedit
from agent_judge.formats.importing import ImportOptions
from agent_judge.manifest import write_manifest
from tests.formats.trees import DEFAULTS, lay, put, refusal, rows_of


def edit(name="animal/a.jpg", prompt="Make it red."):
    return {"id": name, "prompt": prompt, "edit_type": "adjust"}


@pytest.fixture
def imported(tmp_path):
    """Imports a table over two sources and the named outputs."""
    lay(tmp_path / "before", "animal/a.jpg animal/b.jpg")

    def run(table, outputs="1.png 2.png", options=DEFAULTS):
        path = tmp_path / "edits.json"
        if isinstance(table, str):
            path.write_text(table, encoding="utf-8")
        else:
            put(path, table)
        lay(tmp_path / "after", outputs)
        return import_imgedit(path, tmp_path / "before", tmp_path / "after", options=options)

    return run


def test_a_missing_output_becomes_a_row(imported, tmp_path):
    found = imported({"1": edit(), "2": edit("animal/b.jpg")}, outputs="2.png")
    rows = rows_of(found, tmp_path)
    assert [(r["id"], r["source"], r["edited"]) for r in rows] == [
        ("1", "before/animal/a.jpg", "after/1.png"),
        ("2", "before/animal/b.jpg", "after/2.png"),
    ]
    assert "missing  1: 1" in found.summary()


def test_a_missing_source_becomes_a_row_too(imported, tmp_path):
    found = imported({"1": edit(), "2": edit("animal/gone.jpg")})
    assert rows_of(found, tmp_path)[1]["source"] == "before/animal/gone.jpg"
    assert "odd      1: '2': no source 'gone.jpg'" in found.summary()


def test_the_summary_counts_every_kind(imported, tmp_path):
    found = imported({"1": edit(), "2": edit()}, outputs="1.jpg old.png notes.txt")
    rows_of(found, tmp_path)
    assert found.summary().splitlines() == [
        "found    2 entries that give 2 rows, 2 pictures among the outputs",
        "keys     id -> source, prompt -> instruction, edit_type -> type",
        "matched  1",
        "missing  1: 2",
        "odd      1: no row asks for the output 'old.png'",
        "faults   0",
    ]


def test_long_lists_are_cut(imported, tmp_path):
    found = imported({str(n): edit() for n in range(20)})
    rows_of(found, tmp_path)
    assert "missing  18: 0; 3; 4; 5; 6; and 13 more" in found.summary()


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"1": edit("../../etc/passwd")}, "'../../etc/passwd' leads out of"),
        ({"1": edit("a/../../x.jpg")}, "leads out of"),
        ({"1": {"id": "animal/a.jpg"}}, "instruction: expected a key prompt or instruction or"),
        ({"1": edit(prompt=" ")}, "instruction: expected text, got an empty one"),
        ({"1": edit(prompt=["x"])}, "instruction: expected text in prompt or"),
        ({"1": edit(), "a\u0007": edit()}, "id: expected printable text"),
        ({"1": edit(), "2": [1]}, "expected an object of keys and values, got [1]"),
        ([edit()], "expected one JSON object of edits by key"),
        ('{"1": {"id": "animal/a.jpg", "prompt": "x"}, "2": {', "edits.json:1: not JSON"),
        ('{"1": %s, "1": %s}' % ((json.dumps(edit()),) * 2), "'1' is the id of line 1 too"),
        ('{"1": {"id": "animal/a.jpg", "prompt": "\\ud800"}}', "half a surrogate pair is no text"),
        ('{"1": {"id": "animal/a.jpg", "prompt": "x", "n": 1e999}}', "a number without bounds"),
        ("", "not JSON"),
        ("{}", "the table has no entries"),
        ({"7": edit()}, "none of the 1 outputs is in"),
        ({"1": edit("animal/x.jpg")}, "none of the 1 sources is there"),
    ],
)
def test_what_cannot_be_imported_is_one_clear_line(imported, table, told):
    message = refusal(imported(table))
    assert told in message
    assert "\n" not in message


def test_all_faults_are_listed_and_nothing_is_written(imported, tmp_path):
    found = imported({"1": edit(prompt=""), "2": edit(), "3": edit("../x.jpg")})
    with pytest.raises(ManifestError) as refused:
        write_manifest(tmp_path / "m.jsonl", found)
    assert [fault.id for fault in refused.value.faults] == ["1", "3"]
    assert not (tmp_path / "m.jsonl").exists()
    assert "faults   2: " in found.summary()


def test_two_outputs_of_one_name_are_told(imported):
    assert "several outputs have the stem '1': 1.jpg, 1.png" in refusal(
        imported({"1": edit()}, outputs="1.png 1.jpg")
    )


def test_a_link_out_of_the_folder_needs_a_root(imported, tmp_path):
    elsewhere = lay(tmp_path.parent / f"{tmp_path.name}-elsewhere", "x.jpg")
    (tmp_path / "before" / "linked.jpg").symlink_to(elsewhere / "x.jpg")
    table = {"1": edit("linked.jpg")}
    assert "--root" in refusal(imported(table))
    options = ImportOptions(roots=(elsewhere,))
    assert len(rows_of(imported(table, options=options), tmp_path)) == 1


def test_a_loop_of_links_ends(imported, tmp_path):
    (tmp_path / "before" / "animal" / "up").symlink_to(tmp_path / "before")
    assert len(rows_of(imported({"1": edit()}), tmp_path)) == 1


def test_the_editor_and_a_map_are_taken_from_the_user(imported, tmp_path):
    options = ImportOptions(editor="mine", mapping={"instruction": "text.en"})
    entry = {"id": "animal/a.jpg", "text": {"en": "Do it.", "cn": "x"}, "edit_type": "remove"}
    (row,) = rows_of(imported({"1": entry}, options=options), tmp_path)
    assert (row["editor"], row["instruction"], row["type"]) == ("mine", "Do it.", "removal")
    assert row["benchmark_type"] == "remove"


def test_a_missing_folder_is_one_clear_line(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        import_imgedit(tmp_path / "e.json", tmp_path / "no", tmp_path, options=DEFAULTS)
