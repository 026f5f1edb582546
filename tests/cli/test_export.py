import csv
import json
import os
from concurrent.futures import ThreadPoolExecutor

import fsspec
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from agent_judge.report.export import write_partitioned
from agent_judge.run import Run
from tests.cli.calls import call
from tests.report.runs import drawn_rows, make_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    return make_run(folder / "run", drawn_rows(folder, 2))


def test_all_formats_hold_one_row_per_id_and_criterion(run, tmp_path):
    for format_ in ("jsonl", "csv", "parquet"):
        assert call("export", str(run), "--format", format_, "-o", str(tmp_path / format_)) == 0
    with (tmp_path / "csv").open(newline="") as file:
        of_csv = [(row["id"], row["criterion"]) for row in csv.DictReader(file)]
    lines = (tmp_path / "jsonl").read_text().splitlines()
    of_jsonl = [(row["id"], row["criterion"]) for row in map(json.loads, lines)]
    table = pq.read_table(tmp_path / "parquet").to_pylist()
    expected = [(id_, c) for id_ in ("row 0", "row 1") for c in ("IF", "VC")]
    assert of_csv == of_jsonl == [(row["id"], row["criterion"]) for row in table] == expected


def test_standard_output_is_the_same_as_the_file(run, tmp_path, capfd):
    call("export", str(run), "-o", str(tmp_path / "x"))
    call("export", str(run))
    assert capfd.readouterr().out == (tmp_path / "x").read_text()


def test_parquet_needs_a_file(run, capsys):
    assert call("export", str(run), "--format", "parquet") == 2
    assert "pass -o FILE" in capsys.readouterr().err


def test_a_pipe_is_written_to_and_stays(run, tmp_path, capfd):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(pipe.read_text)
        assert call("export", str(run), "-o", str(pipe)) == 0
        text = read.result()
    assert pipe.is_fifo()
    call("export", str(run))
    assert capfd.readouterr().out == text


def test_a_link_stays_and_its_file_is_replaced(run, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert call("export", str(run), "-o", str(tmp_path / "link")) == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text()


@pytest.mark.parametrize("format_", ["jsonl", "parquet"])
def test_file_that_cannot_be_written_is_one_line_and_leaves_nothing(run, tmp_path, capsys, format_):
    (tmp_path / "folder").mkdir()
    for target in (tmp_path / "folder", tmp_path / "none" / "x", tmp_path / ("x" * 256)):
        assert call("export", str(run), "--format", format_, "-o", str(target)) == 2
        assert "cannot write" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


def read_back(place, system=None):
    rows = ds.dataset(place, filesystem=system, partitioning="hive").to_table().to_pylist()
    return sorted(rows, key=lambda row: (row["id"], row["criterion"]))


@pytest.mark.parametrize(
    "columns", ["criterion", "editor,criterion", "mode, status", "reason,type"]
)
def test_partitioned_parquet_gives_back_every_row_and_column(run, tmp_path, columns):
    whole, parts = tmp_path / "whole.parquet", tmp_path / "parts"
    call("export", str(run), "--format", "parquet", "-o", str(whole))
    partitioned = ("--format", "parquet", "--partition-by", columns, "-o", str(parts))
    assert call("export", str(run), *partitioned) == 0
    expected, found = pq.read_table(whole).to_pylist(), read_back(parts)
    for row in expected:  # a folder has a name
        row |= {name: row[name] or "none" for name in columns.split(",") if name in row}
    assert found == expected
    first = columns.split(",")[0]
    assert all(p.name.startswith(f"{first}=") for p in parts.iterdir())
    for path in parts.rglob("*.parquet"):
        assert pq.ParquetFile(path).metadata.row_group(0).column(0).compression == "ZSTD"


def test_exporting_again_replaces_what_was_there(run, tmp_path):
    args = ("export", str(run), "--format", "parquet", "--partition-by", "criterion", "-o")
    for _ in range(2):
        assert call(*args, str(tmp_path / "parts")) == 0
    assert len(read_back(tmp_path / "parts")) == 4


def test_partitions_of_another_export_stay_and_are_told(run, tmp_path, capsys):
    """A row whose status changed would be there twice."""
    args = ("export", str(run), "--format", "parquet", "-o", str(tmp_path / "parts"))
    call(*args, "--partition-by", "status")
    assert capsys.readouterr().err == ""
    call(*args, "--partition-by", "criterion")
    assert "readers take their rows too: 1, as '" in capsys.readouterr().err


def test_an_export_that_fails_leaves_the_partitions_of_the_last_one(run, tmp_path):
    opened = Run.open(run)

    def failing():
        yield next(opened.records())
        raise OSError("gone")

    write_partitioned(opened.records(), opened.protocol, str(tmp_path), ["criterion"])
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(OSError, match="gone"):
        write_partitioned(failing(), opened.protocol, str(tmp_path), ["criterion"])
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("format_", ["jsonl", "csv", "parquet"])
def test_a_url_gets_what_a_file_gets(run, tmp_path, format_):
    store = fsspec.filesystem("memory")
    args = ("export", str(run), "--format", format_, "-o")
    assert call(*args, str(tmp_path / "x")) == call(*args, "memory://bucket/new/x") == 0
    assert store.cat_file("/bucket/new/x") == (tmp_path / "x").read_bytes()
    store.rm("/bucket", recursive=True)


def test_a_url_gets_partitions(run):
    store = fsspec.filesystem("memory")
    partitioned = ("--format", "parquet", "--partition-by", "criterion")
    assert call("export", str(run), *partitioned, "-o", "memory://bucket/parts") == 0
    assert [row["criterion"] for row in read_back("/bucket/parts", store)] == ["IF", "VC"] * 2
    store.rm("/bucket", recursive=True)


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--partition-by", "editor", "-o", "x"), "needs --format parquet"),
        (("--format", "parquet", "--partition-by", "editor"), "needs --format parquet and -o"),
        (("--format", "parquet", "--partition-by", "id,editor", "-o", "x"), "got 'id'"),
        (("-o", "nosuch://bucket/x"), "Protocol not known"),
        (("-o", "github://owner/x"), "'github://owner/x' cannot be opened: "),
        (("-o", "https://me:hunter2@host/x"), "'https://host/x': a URL with a password"),
        (("-o", "https://host/x?sig=hunter2"), "plain URL of a file, got 'https://host/x?'"),
    ],
)
def test_what_cannot_be_partitioned_or_reached_is_one_line(run, capsys, args, told):
    assert call("export", str(run), *args) == 2
    err = capsys.readouterr().err
    assert told in err
    assert err.count("\n") == 1
    assert "hunter2" not in err
