"""Manifests and pictures at URLs: judged as local ones are, and fetched from nowhere else."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from agent_judge import remote
from agent_judge.classical_columns import classical_columns
from agent_judge.cli.options import manifest_at, settings_of
from agent_judge.errors import InputError
from agent_judge.inputs import inputs_changed, inputs_of, row_hash
from agent_judge.intake import take_in
from agent_judge.manifest import check_manifest, read_manifest, sample_from_row, sample_to_row
from agent_judge.roots import Roots
from agent_judge.store import PlannedRow
from tests.cli.runs import agent_judge, records_of, write_rows

FOLDER = "memory://bucket/set"


class Counting(MemoryFileSystem):  # type: ignore[misc]  # fsspec is untyped
    """A store that counts what it is asked, and can be out of order."""

    protocol = "counting"
    asked: list[str] = []  # noqa: RUF012 - one for the store
    broken: type[Exception] | None = None
    sizes: dict[str, int] = {}  # noqa: RUF012

    @classmethod
    def _strip_protocol(cls, path):
        return MemoryFileSystem._strip_protocol(path.removeprefix("counting://"))

    def info(self, path, **options):
        self.asked.append(f"info {path}")
        if self.broken is not None:
            raise self.broken("no network")
        return super().info(path, **options) | {"size": self.sizes.get(path, 1)}

    def ls(self, path, detail=True, **options):
        self.asked.append(f"ls {path}")
        return super().ls(path, detail=detail)


fsspec.register_implementation("counting", Counting, clobber=True)


def new_process():
    """What a process remembers of stores is forgotten."""
    remote._brought.clear()
    remote._looks.clear()
    remote._listed.clear()


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(remote, "PLACE", tmp_path / "cache" / "remote")
    monkeypatch.setattr(Counting, "broken", None)
    monkeypatch.setattr(Counting, "sizes", {})
    new_process()
    Counting.asked.clear()
    MemoryFileSystem.store.clear()
    MemoryFileSystem.pseudo_dirs[:] = [""]
    yield fsspec.filesystem("memory")
    MemoryFileSystem.store.clear()
    new_process()


@pytest.fixture
def uploaded(tmp_path, store):
    """Three rows, at a URL and here."""
    (tmp_path / "local").mkdir()
    manifest = write_rows(tmp_path / "local", 3)
    for path in manifest.parent.iterdir():
        store.put_file(str(path), f"/bucket/set/{path.name}")
    return manifest


def run(manifest, out, *more):
    done = agent_judge("run", manifest, "--out", out, "--judge", "measured", *more)
    assert done.returncode in (0, 3), done.stderr
    return done


@pytest.mark.slow
def test_a_manifest_at_a_url_is_judged_as_its_copy_here(uploaded, tmp_path, store):
    ends = []
    for manifest, out in ((f"{FOLDER}/manifest.jsonl", "far"), (uploaded, "near")):
        run(manifest, tmp_path / out, "--max-unscored", "1")
        ends.append([replace(r, seconds=0.0) for r in records_of(tmp_path / out).values()])
    assert ends[0] == ends[1]
    again = run(f"{FOLDER}/manifest.jsonl", tmp_path / "far", "--max-unscored", "1")
    assert "nothing left to judge" in again.stdout


@pytest.mark.slow
def test_what_changed_in_the_store_is_judged_again_and_nothing_else(uploaded, tmp_path, store):
    url, out = f"{FOLDER}/manifest.jsonl", tmp_path / "run"
    run(url, out, "--max-unscored", "1")
    new_process()
    store.put_file(str(uploaded.with_name("source1.png")), "/bucket/set/edited1.png")
    store.put_file(str(uploaded.with_name("edited0.png")), "/bucket/set/edited0.png")  # the same
    before = records_of(out)
    run(url, out, "--max-unscored", "1")
    after = records_of(out)
    changed = {id_ for (id_, name), r in after.items() if r != before[id_, name]}
    assert changed == {"r1"}
    assert "identical" in after["r1", "IF"].flags


def test_a_local_manifest_may_lead_to_a_url_that_is_declared(uploaded, tmp_path):
    row = {"id": "a", "instruction": "x", "edited": "e.png", "source": f"{FOLDER}/source0.png"}
    manifest = tmp_path / "m.jsonl"
    manifest.write_text(json.dumps(row), encoding="utf-8")
    done = agent_judge("validate", manifest, "--root", "memory://bucket")
    assert "missing_output: no edited picture" in done.stderr
    assert done.stderr.count("fault") == 1, "the source was fetched"
    assert agent_judge("validate", manifest).stderr.count("--root URL") == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("memory://other/secret.png", "--root URL"),  # another bucket
        ("memory://bucket/sets/secret.png", "--root URL"),  # a longer name of the folder
        ("memory://bucket/set/../secret.png", "plain URL"),
        ("memory://bucket/set/./a.png", "plain URL"),
        ("memory://bucket//set/a.png", "plain URL"),
        ("memory://bucket/set/%2E%2e/secret.png", "plain URL"),
        ("memory://bucket/set/a.png?file=../secret.png", "plain URL"),
        ("memory://bucket/set/a\\..\\secret.png", "plain URL"),
        ("simplecache::memory://bucket/set/a.png", "plain URL"),
        ("memory://bucket/set/a.zip::memory://bucket/secret", "plain URL"),
        ("memory://", "plain URL"),
        ("../secret.png", "--root DIR"),  # relative to a manifest that lies at a URL
        ("a/../../secret.png", "--root DIR"),
        ("%2e%2e/secret.png", "plain URL"),
        ("memory://me:hunter2@bucket/set/a.png", "^'memory://bucket/set/a.png': a URL with a pass"),
        ("/etc/passwd", "--root DIR"),
        ("file:///etc/passwd", "--root URL"),
    ],
)
def test_no_row_leads_outside_what_was_declared(tmp_path, store, text, told):
    for name in ("/other/secret.png", "/bucket/secret.png", "/bucket/sets/secret.png"):
        store.pipe_file(name, b"x")
    roots = Roots(remote.place_of(FOLDER), ())
    with pytest.raises(ValueError, match=told):
        roots.check(text)
    assert not list(remote.PLACE.rglob("*"))


def test_no_local_root_opens_the_copies_of_other_stores(tmp_path, store):
    """A row could name the place where the copy of a URL would lie."""
    store.pipe_file("/private/secret.png", b"x")
    hidden = remote.place_of("memory://private/secret.png")
    (tmp_path / "link.png").symlink_to(hidden)
    roots = Roots(tmp_path, (tmp_path, Path("/")))
    for text in (str(hidden), f"{tmp_path}/cache/remote/memory/private/secret.png", "link.png"):
        with pytest.raises(ValueError, match="--root"):
            roots.check(text)


def test_relative_paths_of_a_far_manifest_may_turn_around_inside(store):
    roots = Roots(remote.place_of(FOLDER), ())
    assert remote.url_of(roots.path("a/../b.png")) == f"{FOLDER}/b.png"
    assert roots.path("a/../b.png") == remote.place_of(f"{FOLDER}/b.png")


def test_a_path_that_leaves_the_copies_stands_for_no_url():
    assert remote.url_of(f"{remote.PLACE}/../x.png") is None
    assert remote.url_of(remote.PLACE / "s3") is None
    assert remote.url_of(f"{remote.PLACE}/s3/b/../c/x.png") == "s3://c/x.png"


def test_file_urls_are_files_of_this_machine(tmp_path):
    roots = Roots(tmp_path, ())
    assert roots.path(f"file://{tmp_path}/a.png") == tmp_path / "a.png"


def sample_at(folder):
    row = {"id": "a", "instruction": "x", "source": f"{folder}/source0.png"}
    return sample_from_row(row | {"edited": f"{folder}/edited0.png"})


def test_a_sample_keeps_its_urls_wherever_it_is_sent():
    sample = sample_at(FOLDER)
    row = sample_to_row(sample)
    assert row["source"] == f"{FOLDER}/source0.png"
    assert sample_from_row(row) == sample


def test_a_store_out_of_reach_is_no_missing_output(uploaded, monkeypatch):
    sample = sample_at("counting://bucket/set")
    for error in (ConnectionError, RuntimeError):
        monkeypatch.setattr(Counting, "broken", error)
        new_process()
        with pytest.raises(OSError, match="no network"):
            take_in(sample)


def test_classical_columns_leave_no_row_empty_because_its_store_is_out_of_reach(monkeypatch):
    monkeypatch.setattr(Counting, "broken", ConnectionError)
    row = sample_to_row(sample_at("counting://bucket/set"))
    with pytest.raises(InputError, match=r"cannot read the pictures of 'a': .*: no network"):
        list(classical_columns([PlannedRow(id="a", mode="tool", row=row)]))


def test_a_picture_that_is_gone_from_the_store_is_gone_here(uploaded, store):
    sample = sample_at(FOLDER)
    take_in(sample)
    before = inputs_of(sample)
    row = sample_to_row(sample)
    assert not inputs_changed(row, row_hash(row), before)
    store.rm_file("/bucket/set/edited0.png")
    new_process()
    assert inputs_changed(row, row_hash(row), before)
    assert not sample.edited.exists()


def test_what_is_too_large_for_a_picture_is_not_fetched(uploaded):
    Counting.sizes["/bucket/set/source0.png"] = 3 << 30
    sample = sample_at("counting://bucket/set")
    with pytest.raises(Exception, match=r"source: .* bytes, the limit is") as raised:
        take_in(sample)
    assert getattr(raised.value, "reason", None) == "invalid_source"
    assert sample.source.stat().st_blocks * 512 < 1 << 20


def test_a_manifest_may_be_larger_than_any_picture(store, monkeypatch):
    monkeypatch.setattr(remote.bring, "__kwdefaults__", {"most_bytes": 10})
    store.pipe_file("/bucket/m.jsonl", b"a" * 50)
    path = manifest_at("memory://bucket/m.jsonl")
    assert path.read_bytes() == b"a" * 50


def test_the_time_of_a_copy_stands_for_the_version_in_the_store(store):
    store.pipe_file("/bucket/a.png", b"one")
    path, times = remote.place_of("memory://bucket/a.png"), []
    for change in (None, "other machine", b"two"):
        if isinstance(change, bytes):
            store.pipe_file("/bucket/a.png", change)
        elif change is not None:
            path.unlink()
        new_process()
        remote.bring(path)
        times.append(path.stat().st_mtime_ns)
    assert times[0] == times[1] != times[2]
    assert path.read_bytes() == b"two"
    assert all(time % 10**9 == 0 for time in times)


def test_a_folder_that_is_asked_for_often_is_listed_once(store):
    for n in range(40):
        store.pipe_file(f"/bucket/{n}.png", b"x")
        remote.bring(remote.place_of(f"counting://bucket/{n}.png"))
        remote.bring(remote.place_of(f"counting://bucket/{n}.png"))
    remote.bring(remote.place_of("counting://bucket/none.png"))
    told = Counting.asked
    assert sum(one.startswith("info") for one in told) <= 2 * 16 + 2 * 40  # opening asks too
    assert told.count("ls /bucket") == 1


def test_no_configuration_is_taken_from_a_url(store):
    store.pipe_file("/bucket/set/agent-judge.toml", b'mode = "direct"')
    remote.bring(remote.place_of(f"{FOLDER}/agent-judge.toml"))
    manifest = remote.place_of(f"{FOLDER}/manifest.jsonl")
    assert manifest.with_name("agent-judge.toml").exists()
    assert settings_of(manifest, config=None, assignments=(), flags={}).mode == "auto"


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("validate", f"{FOLDER}/none.jsonl"), f"'{FOLDER}/none.jsonl': no such file"),
        (("validate", "nosuch://bucket/m.jsonl"), "Protocol not known"),
        (("validate", "memory://bucket/../m.jsonl"), "plain URL"),
        (("run", "m.jsonl", "--out", "s3://bucket/run"), "'s3://bucket/run': expected a path of"),
        (("annotate", f"{FOLDER}/m.jsonl"), f"'{FOLDER}/m.jsonl': expected a path of this machine"),
        (("import", "gedit", "s3://bucket/a", "b"), "expected a path of this machine. URLs are"),
        (("import", "dlebench", "a", "b", "--root", "s3://b/c"), "'s3://b/c': expected a path"),
        (("merge", "a", "-o", "s3://bucket/run"), "'s3://bucket/run': expected a path of"),
        (("validate", "https://me:hunter2@host/m.jsonl"), "'https://host/m.jsonl': a URL with a"),
        (("validate", "https://host/m.jsonl?sig=hunter2"), "plain URL of a file, got 'https"),
        (("validate", "m.jsonl", "--root", "https://me:hunter2@host/"), "a URL with a password"),
    ],
)
def test_what_cannot_be_reached_is_one_line(args, told):
    done = agent_judge(*args)
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert "hunter2" not in done.stderr


class Answered(Exception):
    def __init__(self, status):
        super().__init__(f"HTTP {status}")
        self.status = status


def web_answers(monkeypatch, cause) -> None:
    """Over HTTP, as fsspec tells it; the library that it needs for that is not among ours."""

    class Web(MemoryFileSystem):  # type: ignore[misc]
        def info(self, path, **options):
            raise FileNotFoundError(path) from cause

    monkeypatch.setattr(fsspec, "url_to_fs", lambda url: (Web(), url))


@pytest.mark.parametrize("status", [404, 410])
def test_a_web_server_that_has_no_such_file_says_so(monkeypatch, status):
    web_answers(monkeypatch, Answered(status))
    remote.bring(remote.place_of("http://host/set/a.png"))
    assert not remote.place_of("http://host/set/a.png").exists()


@pytest.mark.parametrize("cause", [401, 403, 500, 503, ConnectionError("no route")])
def test_a_web_server_out_of_order_is_no_missing_output(monkeypatch, cause):
    """`fsspec` raises FileNotFoundError for all of them."""
    web_answers(monkeypatch, Answered(cause) if isinstance(cause, int) else cause)
    with pytest.raises(OSError, match=r"http://host/set/a.png: (HTTP|no route)"):
        remote.bring(remote.place_of("http://host/set/a.png"))


def test_without_fsspec_one_line_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    done = agent_judge("validate", f"{FOLDER}/m.jsonl")
    assert done.returncode == 2
    assert done.stderr.endswith("needs fsspec: pip install 'agent-judge[remote]'\n")


def test_a_fault_of_a_far_manifest_names_its_url(store):
    store.pipe_file("/bucket/set/m.jsonl", b'{"id": "a"}\n')
    path = remote.place_of(f"{FOLDER}/m.jsonl")
    remote.bring(path)
    with pytest.raises(InputError, match=f"{FOLDER}/m.jsonl:1: source: required"):
        check_manifest(path)
    assert list(read_manifest(path, limit=0)) == []
