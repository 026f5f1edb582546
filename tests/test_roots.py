"""Paths of a manifest stay in its folder, whatever links lead to, or in a root that was given."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_judge.errors import InputError
from agent_judge.manifest import check_manifest, read_manifest
from tests.manifests import ROW, faults, jsonl


@pytest.fixture
def outside(tmp_path):
    """A data folder with links, beside a folder that it must not reach."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.png").touch()
    data = tmp_path / "data"
    (data / "sub").mkdir(parents=True)
    (data / "real.png").touch()
    (data / "link.png").symlink_to(tmp_path / "outside" / "secret.png")
    (data / "inner.png").symlink_to("real.png")
    (data / "away").symlink_to(tmp_path / "outside")
    (data / "loop").symlink_to("loop")
    return tmp_path


LEAVING = [
    "../outside/secret.png",
    "sub/../../outside/secret.png",
    "link.png",
    "away/secret.png",
    "away/not-there.png",
    "/etc/passwd",
    "..",
    "../data-2/a.png",
]


@pytest.mark.parametrize("text", [*LEAVING, "ABSOLUTE"])
@pytest.mark.parametrize("column", ["source", "edited", "reference"])
def test_a_path_that_leaves_the_folder_is_refused(outside, text, column):  # I15
    text = str(outside / "outside" / "secret.png") if text == "ABSOLUTE" else text
    found = faults(jsonl(outside / "data", {**ROW, column: text}))
    assert found[0][:2] == (1, column)
    assert "--root" in found[0][2]


@pytest.mark.parametrize("text", ["../outside/secret.png", "link.png", "away/secret.png"])
def test_a_root_allows_what_lies_in_it(outside, text):
    path = jsonl(outside / "data", {**ROW, "edited": text})
    assert check_manifest(path, roots=(outside / "outside",)) == 1


@pytest.mark.parametrize(
    "text", ["real.png", "./real.png", "sub/../real.png", "inner.png", "not/there.png", "a" * 255]
)
def test_a_path_that_stays_inside_is_kept_as_written(outside, text):
    (sample,) = read_manifest(jsonl(outside / "data", {**ROW, "edited": text}))
    assert sample.edited == outside / "data" / text


def test_absolute_paths_inside_and_a_linked_data_folder_are_fine(outside):
    (outside / "alias").symlink_to(outside / "data")
    path = jsonl(outside / "data", {**ROW, "source": str(outside / "data" / "real.png")})
    assert check_manifest(path) == 1
    assert check_manifest(outside / "alias" / "m.jsonl") == 1


def test_a_root_that_is_no_folder_is_one_clear_line(outside):
    with pytest.raises(InputError, match="no such folder"):
        check_manifest(jsonl(outside / "data", ROW), roots=(outside / "nowhere",))


def test_a_relative_manifest_gives_absolute_paths(tmp_path, monkeypatch):
    jsonl(tmp_path, ROW)
    monkeypatch.chdir(tmp_path)
    (sample,) = read_manifest(Path("m.jsonl"))
    assert sample.source == tmp_path / "s.png"
