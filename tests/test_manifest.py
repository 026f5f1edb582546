"""Manifests: every fault at once with its line, every good row as written, flat memory."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_judge.errors import InputError, ManifestError
from agent_judge.manifest import (
    MAX_LISTED_FAULTS,
    check_manifest,
    read_manifest,
    sample_from_row,
    sample_to_row,
    write_manifest,
)
from agent_judge.records import Sample
from agent_judge.row_files import MAX_LINE_BYTES

ROW = {"id": "a", "source": "s.png", "edited": "e.png", "instruction": "paint the cup red"}
FULL = {
    **ROW,
    "item": "cup",
    "reference": "r.png",
    "type": "color",
    "boxes": [[300, 200, 314, 210], [1.5, 2, 3, 4]],
    "box_format": "xyxy",
    "box_frame": [600, 400],
    "targets": ["the cup", "the saucer"],
    "editor": "model-x",
    "source_caption": "a table",
    "edited_caption": "a table with a red cup",
    "labels": [{"by": "ann", "IF": 3, "VC": 4, "why": "shade"}, {"by": "bob", "IF": 1, "VC": None}],
}


def jsonl(folder: Path, *rows: Any, name: str = "m.jsonl") -> Path:
    path = folder / name
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def faults(path: Path, **options: Any) -> list[tuple[int | None, str | None, str]]:
    with pytest.raises(ManifestError) as caught:
        check_manifest(path, **options)
    return [(fault.line, fault.field, fault.message) for fault in caught.value.faults]


def cells(row: dict[str, Any]) -> dict[str, str]:
    return {k: v if isinstance(v, str) else json.dumps(v) for k, v in row.items()}


def csv_text(*rows: dict[str, Any]) -> str:
    names = list(dict.fromkeys(itertools.chain(*rows)))
    lines = [names, *([cells(row).get(name, "") for name in names] for row in rows)]
    quoted = [",".join('"' + c.replace('"', '""') + '"' for c in line) for line in lines]
    return "\n".join(quoted) + "\n"


def test_a_full_row_becomes_a_sample(tmp_path):
    (sample,) = read_manifest(jsonl(tmp_path, {**FULL, "licence": "CC0", "shot": {"iso": 100}}))
    assert sample == Sample(
        id="a",
        source=tmp_path / "s.png",
        edited=tmp_path / "e.png",
        instruction="paint the cup red",
        item="cup",
        reference=tmp_path / "r.png",
        type="color",
        boxes=((300, 200, 314, 210), (1.5, 2, 3, 4)),
        box_format="xyxy",
        box_frame=(600, 400),
        targets=("the cup", "the saucer"),
        editor="model-x",
        source_caption="a table",
        edited_caption="a table with a red cup",
        labels=tuple(FULL["labels"]),  # type: ignore[arg-type]
        metadata={"licence": "CC0", "shot": {"iso": 100}},
    )


def test_null_and_absent_optional_columns_are_the_same(tmp_path):
    optional = dict.fromkeys(FULL.keys() - ROW.keys())
    (nulls,) = read_manifest(jsonl(tmp_path, {**ROW, **optional}))
    (absent,) = read_manifest(jsonl(tmp_path, ROW))
    assert nulls == absent
    assert absent.item == "a"
    assert absent.boxes is None


def as_csv(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "m.csv"
    path.write_text(csv_text(*rows), encoding="utf-8")
    return path


def as_parquet(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "m.parquet"
    pq.write_table(pa.Table.from_pylist([{**dict.fromkeys(FULL), **row} for row in rows]), path)
    return path


def as_parquet_of_text(folder: Path, *rows: dict[str, Any]) -> Path:
    return as_parquet(folder, *(cells(row) for row in rows))


@pytest.mark.parametrize("write", [as_csv, as_parquet, as_parquet_of_text])
def test_csv_and_parquet_carry_the_same_columns(tmp_path, write):
    full = {**FULL, "labels": [{"by": "ann", "IF": 3, "VC": 4}], "boxes": [[1.5, 2.0, 3.0, 4.0]]}
    rows = [full, {**ROW, "id": "b"}]
    assert list(read_manifest(write(tmp_path, *rows))) == list(
        read_manifest(jsonl(tmp_path, *rows))
    )


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


def test_all_faults_of_all_rows_come_at_once_with_line_and_field(tmp_path):
    path = jsonl(
        tmp_path,
        ROW,
        "{broken",
        {**ROW, "id": "b", "type": "colour", "boxes": []},
        [1, 2],
        {"id": "c", "source": "s.png", "edited": 7},
        {**ROW, "id": "d"},
        {**ROW, "id": "a", "boxes": [[1, 2, 3]]},
    )
    assert [(line, field) for line, field, _ in faults(path)] == [
        (2, None),
        (3, "type"),
        (3, "boxes"),
        (4, None),
        (5, "edited"),
        (5, "instruction"),
        (7, "boxes"),
        (7, "id"),
    ]


def test_a_fault_prints_file_line_field_expectation_and_id(tmp_path):
    path = jsonl(tmp_path, {**ROW, "type": "colour"})
    with pytest.raises(ManifestError) as caught:
        check_manifest(path)
    assert str(caught.value) == (
        f"{path}:1: type: expected one of color, material, shape, ocr, count, replacement, "
        "removal, other, got 'colour' (id 'a')"
    )


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (("a", "b", "a"), "is the id of line 1 too"),  # I18
        ((1, "1", "2"), "expected text, got 1"),
        (("x", 1.0, True), "expected text, got 1.0"),
        (("", "b", "c"), "an empty one"),
        (("a\x1b[2J", "b", "c"), "printable"),
    ],
)
def test_ids_are_unique_printable_text(tmp_path, ids, message):
    path = jsonl(tmp_path, *({**ROW, "id": id_} for id_ in ids))
    found = faults(path)
    assert {field for _, field, _ in found} == {"id"}
    assert message in found[0][2]


def test_ids_that_would_share_a_file_name_are_two_ids(tmp_path):  # I18
    assert check_manifest(jsonl(tmp_path, {**ROW, "id": "x/1"}, {**ROW, "id": "x_1"})) == 2


def test_a_duplicate_id_is_found_in_a_row_with_another_fault(tmp_path):
    path = jsonl(tmp_path, {**ROW, "type": "colour"}, ROW)
    assert [(line, field) for line, field, _ in faults(path)] == [(1, "type"), (2, "id")]


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("boxes", [], "leave the key out, or give null"),  # I22
        ("boxes", [[300, 200, 314]], "box 1: expected four numbers"),
        ("boxes", [[1, 2, 3, 4], [300, 200, 314, 200]], "box 2: expected y2 > y1"),
        ("boxes", "300,200,314,210", "expected a list of boxes"),
        ("boxes", ["300,200,314,210"], "expected a list of boxes [["),
        ("boxes", [300, 200, 314, 210], "expected a list of boxes [["),
        ("boxes", [["300", "200", "314", "210"]], "finite numbers"),
        ("boxes", [[0.58, 0.52, 0.61, 0.55]], "looks normalised"),  # I20
        ("boxes", [None], "expected a list of boxes [["),
        ("box_format", "xyxy_px", "expected one of xyxy, xywh"),
        ("box_frame", [600], "[width, height]"),
        ("box_frame", [600, 0], "[width, height]"),
        ("box_frame", [600.5, 400], "[width, height]"),
        ("targets", "cup", "expected a list of phrases"),
        ("targets", [3], "expected text, got 3"),
        ("instruction", "  ", "an empty one"),
        ("instruction", ["red"], "expected text"),
        ("editor", 5, "expected text, got 5"),
        ("type", "Color", "expected one of"),
        ("labels", {"by": "a", "IF": 3}, "expected a list"),
        ("labels", [{"IF": 3}], '"by" as text'),
        ("labels", [{"by": "a"}], "a level for IF or VC"),
        ("labels", [{"by": "a", "IF": 5}], "IF from 1 to 4, got 5"),
        ("labels", [{"by": "a", "VC": "4"}], "VC from 1 to 4, got '4'"),
        ("labels", [{"by": "a", "VC": True}], "VC from 1 to 4, got True"),
        ("source", "a\0b.png", "expected a path"),
        ("source", "", "an empty one"),
        ("source", "https://example.org/a.png", "allow the folder it lies in with --root URL"),
        ("edited", "data:image/png;base64,AAAA", "expected a path or the URL of a file"),
        ("edited", "a" * 256, "longer than a path can be"),
        ("edited", "é" * 128, "longer than a path can be"),
        ("edited", "a/" * 3000 + "e.png", "longer than a path can be"),
    ],
)
def test_a_wrong_value_names_its_field_and_what_was_expected(tmp_path, column, value, message):
    found = faults(jsonl(tmp_path, {**ROW, column: value}))
    assert [(line, field) for line, field, _ in found] == [(1, column)]
    assert message in found[0][2]


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


def test_many_faults_are_counted_not_listed(tmp_path):
    n_faults = MAX_LISTED_FAULTS + 50
    found = faults(jsonl(tmp_path, *({**ROW, "id": n} for n in range(n_faults))))
    assert len(found) == MAX_LISTED_FAULTS + 1
    assert found[-1] == (None, None, "50 more faults, not listed")


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


def test_limit_looks_at_the_first_rows_only(tmp_path):
    path = jsonl(tmp_path, ROW, "", {**ROW, "id": "b"}, "{broken", ROW)
    assert check_manifest(path, limit=2) == 2
    assert [sample.id for sample in read_manifest(path, limit=2)] == ["a", "b"]
    assert faults(path, limit=3)[0][0] == 4


@pytest.mark.slow
def test_reading_starts_before_a_long_manifest_ends(tmp_path):  # I28
    path = tmp_path / "m.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(60_000):
            file.write(json.dumps({**ROW, "id": f"row {number}"}) + "\n")
    code = (
        "import resource, sys; from pathlib import Path\n"
        "from agent_judge.manifest import check_manifest, read_manifest\n"
        "path = Path(sys.argv[1])\n"
        "assert check_manifest(path, limit=5) == 5\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "assert len(list(read_manifest(path, limit=5))) == 5\n"
        "for sample in read_manifest(path, limit=20_000): pass\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    run = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < 10_000  # kilobytes


def test_a_faulty_row_stops_reading_with_its_fault(tmp_path):
    rows = read_manifest(jsonl(tmp_path, ROW, {**ROW, "type": "x"}))
    assert next(rows).id == "a"
    with pytest.raises(ManifestError, match=r"m\.jsonl:2: type"):
        next(rows)


def test_samples_written_and_read_are_the_same(tmp_path):
    rows = [FULL, {**ROW, "id": "b", "shot": {"iso": 100}}, {**ROW, "id": "c", "box_frame": [3, 4]}]
    samples = list(read_manifest(jsonl(tmp_path, *rows)))
    copy = tmp_path / "copy.jsonl"
    write_manifest(copy, samples)
    assert list(read_manifest(copy)) == samples
    assert [sample_from_row(sample_to_row(sample)) for sample in samples] == samples
    assert json.loads(copy.read_text(encoding="utf-8").splitlines()[1]) == rows[1]


def test_paths_outside_the_folder_are_written_whole(tmp_path):
    (sample,) = read_manifest(jsonl(tmp_path, ROW))
    assert sample_to_row(sample, tmp_path / "other")["source"] == str(tmp_path / "s.png")
    assert sample_to_row(sample, tmp_path)["source"] == "s.png"


def test_a_manifest_that_cannot_be_written_leaves_the_old_one(tmp_path):
    path = jsonl(tmp_path, ROW)
    before = path.read_bytes()
    (sample,) = read_manifest(path)
    endless = Sample(**{**vars(sample), "metadata": {"gain": float("nan")}})
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_manifest(path, [sample, endless])
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.jsonl"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from([*FULL, "other"]), JSON))
@pytest.mark.slow
def test_any_values_give_a_sample_or_faults(tmp_path_factory, values):
    folder = tmp_path_factory.getbasetemp()
    path = jsonl(folder, {**ROW, **values}, name="any.jsonl")
    try:
        check_manifest(path)
    except ManifestError:
        return
    (sample,) = read_manifest(path)
    write_manifest(folder / "copy.jsonl", [sample])
    assert list(read_manifest(folder / "copy.jsonl")) == [sample]
    assert sample_from_row(json.loads(json.dumps(sample_to_row(sample)))) == sample
