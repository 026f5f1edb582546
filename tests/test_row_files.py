"""Rows out of JSONL, CSV and Parquet: what no reader can take is told by its line."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agent_judge.errors import InputError
from agent_judge.manifest import check_manifest, read_manifest
from agent_judge.row_files import MAX_LINE_BYTES
from tests.manifests import ROW, as_csv, csv_text, faults, jsonl


@pytest.mark.parametrize("name", ["m.jsonl", "m.csv"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"], ids=["plain", "bom"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_bom_crlf_and_blank_lines_lose_no_row(tmp_path, name, bom, end):  # I16
    rows = [{**ROW, "id": id_, "instruction": "grün"} for id_ in ("a", "b", "c")]
    text = csv_text(*rows) if name == "m.csv" else "".join(json.dumps(r) + "\n" for r in rows)
    lines = text.splitlines()
    lines.insert(2, "")
    path = tmp_path / name
    path.write_bytes(bom + end.join([*lines, "", ""]).encode())
    samples = list(read_manifest(path))
    assert [(s.id, s.instruction, dict(s.metadata)) for s in samples] == [
        (id_, "grün", {}) for id_ in ("a", "b", "c")
    ]


def test_a_last_line_without_an_end_is_a_row(tmp_path):
    path = tmp_path / "m.jsonl"
    path.write_text(json.dumps(ROW), encoding="utf-8")
    assert check_manifest(path) == 1


def test_line_separators_of_unicode_end_no_row(tmp_path):
    row = {**ROW, "instruction": "one\u2028two\x85three"}
    path = tmp_path / "m.jsonl"
    path.write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
    (sample,) = read_manifest(path)
    assert sample.instruction == "one\u2028two\x85three"


def test_a_csv_cell_may_hold_line_ends_and_lines_are_counted_right(tmp_path):
    path = as_csv(tmp_path, {**ROW, "instruction": "one\ntwo"}, {**ROW, "id": "b", "type": "size"})
    assert faults(path)[0][:2] == (4, "type")


@pytest.mark.parametrize(
    ("line", "field", "message"),
    [
        ('{"id": "a", "id": "b"}', "id", "twice"),
        ('{"id": "a", "boxes": [[NaN, 1, 2, 3]]}', "boxes", "NaN"),  # I22
        ('{"id": "a", "shot": {"gain": -Infinity}}', "shot", "-Infinity"),
        ('{"id": "a", "gain": 1e999}', "gain", "1e999"),
        ('{"id": "a", "gain": NaN, "rest": ', None, "NaN"),
        ('{"id": NaN, "deep": ' + "[" * 100_000 + "]" * 100_000 + "}", None, "NaN"),
        ('{"id": NaN, "long": ' + "9" * 5000 + "}", None, "NaN"),
        ('{"id": "a", "labels": [{"by": "x", "by": "y"}]}', "by", "twice"),
        ('{"id": "a"} {"id": "b"}', None, "not JSON"),
        ('{"id": "\\ud800"}', None, "surrogate"),
        ("[" * 100_000, None, "nested too deep"),
        ('{"id": ' + "9" * 5000 + "}", None, "not JSON that can be read"),
        ("null", None, "expected a JSON object"),
    ],
)
def test_what_is_no_proper_json_object_is_a_fault(tmp_path, line, field, message):
    found = faults(jsonl(tmp_path, ROW, line))
    assert (found[0][0], found[0][1]) == (2, field)
    assert message in found[0][2]


def test_bytes_that_are_no_utf8_are_a_fault_of_their_line_alone(tmp_path):
    path = tmp_path / "m.jsonl"
    good = json.dumps(ROW).encode()
    path.write_bytes(good + b'\n{"id": "\xff"}\n' + good.replace(b'"a"', b'"b"') + b"\n")
    assert [(line, message) for line, _, message in faults(path)] == [
        (2, "not UTF-8 (byte 9 of the line)")
    ]


def test_utf16_is_one_clear_fault(tmp_path):
    path = tmp_path / "m.jsonl"
    path.write_text("\n".join(json.dumps({**ROW, "id": str(n)}) for n in range(9)), "utf-16")
    assert faults(path) == [(1, None, "the file is UTF-16: save it as UTF-8")]


def test_one_array_of_objects_is_one_clear_fault(tmp_path):
    path = tmp_path / "m.json"
    path.write_text(json.dumps([ROW, ROW], indent=1), encoding="utf-8")
    assert faults(path) == [(1, None, "the file is one JSON array: write one object a line")]


@pytest.mark.parametrize("name", ["m.jsonl", "m.csv"])
@pytest.mark.slow
def test_a_line_without_end_takes_no_memory_and_the_next_is_read(tmp_path, name):
    path = tmp_path / name
    row = csv_text(ROW) if name == "m.csv" else json.dumps(ROW) + "\n"
    path.write_bytes(row.encode() + b'"' + b"x" * (2 * MAX_LINE_BYTES + 5) + b"\n" + b"\n")
    number = 3 if name == "m.csv" else 2
    assert faults(path) == [(number, None, f"the line is longer than {MAX_LINE_BYTES} bytes")]


@pytest.mark.parametrize(
    ("text", "line", "field", "message"),
    [
        ("id;source;edited;instruction\na;b;c;d\n", 1, None, "separated by commas"),
        ("id,id,source\n", 1, "id", "the column appears twice"),
        (
            "id,source,edited,instruction\na,s.png,e.png\n",
            2,
            None,
            "3 cells, where the header has 4",
        ),
        ('id,source,edited,instruction\na,s.png,e.png,"x"y\n', 2, None, "not CSV"),
        ("id,source,edited,instruction\n,s.png,e.png,x\n", 2, "id", "required"),
        ("id,source,edited\na,s.png,e.png\n", 2, "instruction", "required"),
        (
            'id,source,edited,instruction,boxes\na,s.png,e.png,x,"300,200,314,210"\n',
            2,
            "boxes",
            "expected a list of boxes",
        ),  # I22
        (
            'id,source,edited,instruction,boxes\na,s.png,e.png,x,"[[NaN,1,2,3]]"\n',
            2,
            "boxes",
            "expected a list of boxes",
        ),
    ],
)
def test_faults_of_csv(tmp_path, text, line, field, message):
    path = tmp_path / "m.csv"
    path.write_text(text, encoding="utf-8")
    found = faults(path)
    assert (found[0][0], found[0][1]) == (line, field)
    assert message in found[0][2]


def test_rows_of_empty_cells_that_spreadsheets_leave_are_skipped(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text(csv_text(ROW) + ",,,\n,,,\n", encoding="utf-8")
    assert check_manifest(path) == 1


def test_columns_of_csv_without_a_name_mean_nothing(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text(",id,source,edited,instruction,,\n0,a,s.png,e.png,x,,\n", encoding="utf-8")
    (sample,) = read_manifest(path)
    assert (sample.id, sample.metadata) == ("a", {})


def test_numbers_for_ids_in_parquet_are_faults(tmp_path):
    path = tmp_path / "m.parquet"
    pq.write_table(pa.Table.from_pylist([{**ROW, "id": 1}, {**ROW, "id": 2}]), path)
    assert [(line, field) for line, field, _ in faults(path)] == [(1, "id"), (2, "id")]


def test_parquet_keeps_other_columns_but_no_bytes(tmp_path):
    path = tmp_path / "m.parquet"
    extra = {"shot": 3, "taken": "x", "picture": b"\x89PNG", "gain": float("nan")}
    pq.write_table(pa.Table.from_pylist([{**ROW, **extra}]), path)
    (sample,) = read_manifest(path)
    assert sample.metadata == {"shot": 3, "taken": "x"}


def test_not_a_number_in_parquet_stands_for_nothing(tmp_path):
    """So pandas writes what is missing; and NaN could not be written as JSON again."""
    path = tmp_path / "m.parquet"
    label = {"by": "ann", "IF": 3, "sure": float("nan")}
    extra = {"shot": {"gain": float("inf"), "iso": 5}, "labels": [label]}
    pq.write_table(pa.Table.from_pylist([{**ROW, **extra}]), path)
    (sample,) = read_manifest(path)
    assert sample.metadata == {"shot": {"iso": 5}}
    assert sample.labels == ({"by": "ann", "IF": 3},)


NO_TEXT = pa.StringArray.from_buffers(
    2, pa.array([0, 1, 3], pa.int32()).buffers()[1], pa.py_buffer(b"a\xff\xfe")
)


@pytest.mark.parametrize(
    ("values", "lines"),
    [
        (pa.array([0, 2**62], pa.timestamp("ns")), [2]),
        (pa.array([2**31 - 1, 0], pa.date32()), [1]),
        (pa.array([5, 6], pa.timestamp("us", "Mars/Olympus")), [1, 2]),
        (NO_TEXT, [2]),
    ],
)
def test_a_value_of_parquet_that_python_cannot_hold_is_its_rows_fault(tmp_path, values, lines):
    path = tmp_path / "m.parquet"
    table = pa.Table.from_pylist([ROW, {**ROW, "id": "b"}])
    pq.write_table(table.append_column("taken", values), path)
    found = faults(path)
    assert [(line, field) for line, field, _ in found] == [(line, "taken") for line in lines]
    assert "cannot be read" in found[0][2]


@pytest.mark.parametrize("content", [b"", b"PAR1", b"id,source\n", b"PAR1" + b"\0" * 64 + b"PAR1"])
def test_what_is_no_parquet_is_one_clear_fault(tmp_path, content):
    path = tmp_path / "m.parquet"
    path.write_bytes(content)
    found = faults(path)
    assert "not Parquet that can be read" in found[0][2]
    assert "\n" not in found[0][2]


def test_an_empty_manifest_is_a_fault(tmp_path):
    path = tmp_path / "m.jsonl"
    path.write_text("\n\n", encoding="utf-8")
    assert faults(path) == [(None, None, "no rows")]


@pytest.mark.parametrize("name", ["m.txt", "m", "missing.jsonl", "folder.jsonl"])
def test_a_file_that_is_no_manifest_is_one_clear_line(tmp_path, name):
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "m.txt").touch()
    with pytest.raises(InputError) as caught:
        check_manifest(tmp_path / name)
    assert name in str(caught.value)
