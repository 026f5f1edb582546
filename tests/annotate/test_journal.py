import dataclasses
import resource

import pytest

from agent_judge.annotate.journal import Entry, Journal
from agent_judge.errors import InputError

ENTRY = Entry(
    by="ann",
    id="a",
    answers={"IF": {"target_edited": "no"}, "VC": {}},
    levels={"IF": 1},
    boxes=((1, 2, 3, 4),),
    comment="é <b>",
    saw_difference=True,
    calibration=True,
    rubric="dlebench-1-0",
    at="2026-11-29T10:00:00.000+00:00",
)


def said(**changes):
    return dataclasses.replace(ENTRY, **changes)


def test_what_was_added_is_there_when_opened_again(tmp_path):
    path = tmp_path / "j"
    with Journal.open(path) as journal:
        journal.add(ENTRY)
        journal.add(said(by="bob"))
    with Journal.open(path) as journal:
        assert journal.latest() == [ENTRY, said(by="bob")]


def test_the_later_entry_of_a_rater_holds_and_the_earlier_stays_in_the_file(tmp_path):
    path = tmp_path / "j"
    with Journal.open(path) as journal:
        journal.add(ENTRY)
        journal.add(said(levels={"IF": 4}))
        assert journal.latest() == [said(levels={"IF": 4})]
    assert path.read_text(encoding="utf-8").count("\n") == 2


@pytest.mark.parametrize("cut", [1, 30])
def test_a_line_cut_short_by_a_kill_is_dropped_and_the_next_is_whole(tmp_path, cut):
    path = tmp_path / "j"
    with Journal.open(path) as journal:
        journal.add(ENTRY)
        journal.add(said(by="bob"))
    path.write_bytes(path.read_bytes()[:-cut])
    with Journal.open(path) as journal:
        assert journal.latest() == [ENTRY]
        journal.add(said(by="cy"))
    with Journal.open(path) as journal:
        assert [entry.by for entry in journal.latest()] == ["ann", "cy"]


def test_a_full_disk_leaves_no_half_line(tmp_path):
    path = tmp_path / "j"
    with Journal.open(path) as journal:
        journal.add(ENTRY)
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 20, limits[1]))
        try:
            with pytest.raises(OSError, match="File too large"):
                journal.add(said(by="bob"))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert journal.latest() == [ENTRY]
        journal.add(said(by="cy"))
    with Journal.open(path) as journal:
        assert [entry.by for entry in journal.latest()] == ["ann", "cy"]


def test_two_programs_cannot_write_one_journal(tmp_path):
    with (
        Journal.open(tmp_path / "j"),
        pytest.raises(InputError, match="in use by another annotate"),
    ):
        Journal.open(tmp_path / "j")


@pytest.mark.parametrize("line", ["{}", "[]", "nothing", '{"by": "ann"}'])
def test_a_foreign_file_is_refused_and_left_alone(tmp_path, line):
    path = tmp_path / "j"
    path.write_text(f"{line}\n{line}", encoding="utf-8")
    with pytest.raises(InputError, match="j:1: expected what a rater said"):
        Journal.open(path)
    assert path.read_text(encoding="utf-8") == f"{line}\n{line}"


def test_a_folder_that_does_not_exist_is_the_users_to_mend(tmp_path):
    with pytest.raises(InputError, match="pass --out"):
        Journal.open(tmp_path / "none" / "j")
