"""Protocol bpm through the whole program: what is paid for, and where masks go."""

import pytest

from agent_judge.testing import LoopbackEndpoint, in_turn, parsed
from tests.cli.runs import (
    QUICK,
    agent_judge,
    records_of,
    rows_of,
    write_manifest,
    write_rows,
)

pytestmark = pytest.mark.slow
BOXES = [[20, 20, 30, 30]]
PRICED = ("--set", 'prices."m"={input_per_mtok=1, output_per_mtok=1}')
CRITERIA = ("size", "position", "modify", "preserve")


@pytest.fixture
def manifest(tmp_path):
    return write_rows(tmp_path, 1, boxes=BOXES)


def run(manifest, out, endpoint, *more):
    given = ("--protocol", "bpm", "--judge", "m", "--base-url", endpoint.base_url)
    return agent_judge("run", manifest, "--out", out, *given, *QUICK, *PRICED, *more)


@pytest.mark.parametrize("first", ["size", "position"])
def test_criteria_judged_one_after_the_other_count_their_common_question_once(
    manifest, tmp_path, first
):
    """As after a kill between two criteria of a sample."""
    with LoopbackEndpoint(in_turn(parsed())) as endpoint:
        run(manifest, tmp_path / "run", endpoint, "--criteria", first)
        run(manifest, tmp_path / "run", endpoint)
        assert endpoint.count == 1
    records = records_of(tmp_path / "run")
    assert {c: records["r0", c].attempts for c in CRITERIA} == {
        **dict.fromkeys(CRITERIA, 0),
        first: 1,
    }
    assert sum(record.usd or 0 for record in records.values()) == pytest.approx(0.00011)
    assert sum(record.tokens_in or 0 for record in records.values()) == 100


def test_what_needs_no_words_does_not_tell_them(manifest, tmp_path):
    """Else a record would differ by what was judged beside it."""
    with LoopbackEndpoint(in_turn(parsed())) as endpoint:
        run(manifest, tmp_path / "run", endpoint)
    records = records_of(tmp_path / "run")
    assert len(records["r0", "size"].answers) == 7
    assert records["r0", "preserve"].answers == ()


def test_everything_kept_is_zero_without_a_sign(manifest, tmp_path):
    agent_judge("run", manifest, "--out", tmp_path / "run", "--protocol", "bpm")
    kept = records_of(tmp_path / "run")["r0", "preserve"]
    assert (str(kept.level), kept.label) == ("0.0", "0")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--protocol", "bpm", "--with-mask-out", "file/masks"), "Not a directory"),
        (("--protocol", "bpm", "--with-mask-out", "file"), "File exists"),
        (("--with-mask-out", "masks"), "IF,VC are judged without masks"),
    ],
)
def test_masks_that_cannot_be_written_stop_a_run_before_it_is_bound(
    manifest, tmp_path, monkeypatch, more, told
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("x", encoding="utf-8")
    done = agent_judge("run", manifest, "--out", tmp_path / "run", *more)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert not (tmp_path / "run").exists()


def test_rows_of_one_instruction_share_a_question_and_one_counts_it(manifest, tmp_path):
    """As with the same items from several editors."""
    [row] = rows_of(manifest)
    rows = [{**row, "id": name, "editor": name} for name in "abc"]
    manifest = write_manifest(tmp_path, rows)
    with LoopbackEndpoint(in_turn(parsed())) as endpoint:
        run(manifest, tmp_path / "run", endpoint, "--jobs", "1")
        assert endpoint.count == 1
    records = records_of(tmp_path / "run").values()
    assert sum(record.attempts for record in records) == 1
    assert sum(record.usd or 0 for record in records) == pytest.approx(0.00011)
    answered = [r for r in records if r.criterion == "size"]
    assert {record.judge_returned_model for record in answered} == {"m"}
