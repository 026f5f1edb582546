"""Tables become entries with their lines; columns are found under aliases or a user's map."""

from __future__ import annotations

import pytest

from agent_judge.errors import InputError
from agent_judge.formats.entries import BadEntry, Fields, read_entries
from tests.formats.trees import put


def told(path):
    return [(entry.line, entry.key, entry.value) for entry in read_entries(path)]


def test_an_array_gives_its_elements_with_their_lines(tmp_path):
    assert told(put(tmp_path / "t.json", [{"a": 1}, {"a": 2}])) == [
        (2, None, {"a": 1}),
        (5, None, {"a": 2}),
    ]


def test_an_object_gives_its_members_with_their_keys(tmp_path):
    assert told(put(tmp_path / "t.json", {"x": {"a": 1}, "y": [2]})) == [
        (2, "x", {"a": 1}),
        (5, "y", [2]),
    ]


def test_lines_give_theirs(tmp_path):
    assert told(put(tmp_path / "t.jsonl", [{"a": 1}, {"a": 2}])) == [
        (1, None, {"a": 1}),
        (2, None, {"a": 2}),
    ]


def test_what_stands_before_a_break_is_given_and_the_break_is_a_bad_entry(tmp_path):
    path = tmp_path / "t.json"
    path.write_text('[{"a": 1},\n {"a" 2}]')
    first, second = read_entries(path)
    assert first.values() == {"a": 1}
    with pytest.raises(BadEntry, match="Expecting ':' delimiter"):
        second.values()
    assert second.line == 2


def test_an_entry_that_is_no_object_is_told(tmp_path):
    (entry,) = read_entries(put(tmp_path / "t.json", [7]))
    with pytest.raises(BadEntry, match="expected an object of keys and values, got 7"):
        entry.values()


def test_a_missing_table_is_one_clear_line(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        list(read_entries(tmp_path / "t.json"))


ALIASES = {"source": ("image", "input"), "instruction": ("prompt",)}


def test_the_first_alias_that_holds_something_counts():
    fields = Fields(ALIASES, {})
    assert fields.text({"image": "", "input": "b.png"}, "source") == "b.png"
    assert fields.text({"image": "a.png", "input": "b.png"}, "source") == "a.png"


def test_a_map_takes_the_place_of_the_aliases_and_may_lead_into_objects():
    fields = Fields(ALIASES, {"source": "files.before"})
    assert fields.text({"files": {"before": "c.png"}, "image": "a.png"}, "source") == "c.png"


def test_other_keys_are_kept_and_lose_no_meaning():
    fields = Fields(ALIASES, {})
    entry = {"image": "a.png", "prompt": "x", "score": 3, "labels": "cat", "nothing": None}
    assert fields.rest(entry) == {"score": 3, "_labels": "cat"}


def test_the_summary_names_what_was_read_and_what_was_kept():
    fields = Fields(ALIASES, {})
    fields.text({"image": "a.png", "score": 3}, "source")
    assert fields.summary() == "image -> source; kept: score"


def test_a_column_without_a_key_names_the_way_out():
    with pytest.raises(BadEntry, match="expected a key image or input; name another with --map"):
        Fields(ALIASES, {}).text({"picture": "a.png"}, "source")


def test_a_map_of_an_unknown_column_or_key_is_refused_with_what_there_is():
    with pytest.raises(InputError, match=r"--map size=.*expected one of source, instruction"):
        Fields(ALIASES, {"size": "s"})
    fields = Fields(ALIASES, {"source": "picture"})
    with pytest.raises(BadEntry):
        fields.text({"image": "a.png", "prompt": "x"}, "source")
    with pytest.raises(InputError, match=r"--map source=picture.*found image, prompt"):
        fields.check()
