"""`agent-judge merge`: shards into one run; nothing is written before all of them are right."""

from shutil import copytree

import pytest

from agent_judge.testing.endpoint import LoopbackEndpoint
from tests.cli.runs import agent_judge, level_4, records_of, write_rows


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    manifest = write_rows(folder, 5)
    with LoopbackEndpoint(level_4, models=("m",)) as endpoint:
        args = ("run", manifest, "--base-url", endpoint.base_url)
        for n in (1, 2):
            agent_judge(*args, "--shard", f"{n}/2", "--out", folder / f"s{n}")
        agent_judge(*args, "--shard", "3/3", "--out", folder / "third")
        agent_judge(*args, "--judge", "another", "--out", folder / "another")
    return folder


def test_shards_make_the_whole_run_which_needs_no_more_judging(shards, tmp_path):
    done = agent_judge("merge", shards / "s1", shards / "s2", "-o", tmp_path / "all")
    assert done.returncode == 0
    assert len(records_of(tmp_path / "all")) == 10
    with LoopbackEndpoint(level_4, models=("m",)) as endpoint:
        args = ("run", shards / "manifest.jsonl", "--out", tmp_path / "all")
        again = agent_judge(*args, "--base-url", endpoint.base_url)
        assert endpoint.count == 0
    assert "nothing left to judge: 10 of 10 criteria stood before" in again.stdout


@pytest.mark.parametrize(("wrong", "told"), [("nowhere", "no run in"), ("another", "judge.model")])
def test_a_wrong_folder_is_told_before_anything_is_written(shards, tmp_path, wrong, told):
    done = agent_judge("merge", shards / "s1", shards / wrong, "-o", tmp_path / "all")
    assert done.returncode == 2
    assert told in done.stderr
    assert not (tmp_path / "all").exists()


@pytest.mark.parametrize(
    ("parts", "missing"),
    [(("s1", "s2", "third"), ""), (("s2",), "1/2"), (("s1", "third"), "2/2")],
)
def test_a_shard_that_is_not_there_is_told(shards, tmp_path, parts, missing):
    """Its rows are in no count: the run of the others looks whole."""
    done = agent_judge("merge", *(shards / part for part in parts), "-o", tmp_path / "all")
    assert done.stderr == (f"shards that are not among these: {missing}\n" if missing else "")


def test_shards_may_be_merged_one_after_the_other(shards, tmp_path):
    agent_judge("merge", shards / "s1", "-o", tmp_path / "all")
    assert agent_judge("merge", shards / "s2", "-o", tmp_path / "all").stderr == ""


def test_a_run_merged_into_itself_is_itself(shards, tmp_path):
    own = copytree(shards / "s1", tmp_path / "s1")
    before = records_of(own)
    assert agent_judge("merge", own, "-o", own).returncode == 0
    assert records_of(own) == before
