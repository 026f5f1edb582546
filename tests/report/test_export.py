import csv
import io
import json
from dataclasses import fields, replace

import pyarrow.parquet as pq
import pytest

from agent_judge.records import Evidence, Record
from agent_judge.report.export import COLUMNS, export_row, write_csv, write_jsonl, write_parquet
from agent_judge.rubrics.protocol import load_protocol
from tests.report.runs import record, scored

DLEBENCH = load_protocol("dlebench")
ROW = {"id": "a", "instruction": "x", "boxes": [[1, 2, 3, 4]], "labels": [{"IF": 2, "VC": 4}]}
EVIDENCE = Evidence(
    tool="zoom_in", args={"box": [1, 2.5, 3, 4]}, text='{"a": 1}', images=("f" * 64,), labels=("l",)
)
NASTY = 'a "quoted", text\r\nover two lines; =1+1 \u202e \x00 \U0001f600'
RECORDS = [
    scored(ROW, "IF", explanation=NASTY, evidence=(EVIDENCE,)),
    scored(ROW, "VC", anomalies=({"what": "cup", "box": None}, {"what": "", "box": [0, 0, 1, 1]})),
    record(ROW, "IF", status="missing_output"),
    record(ROW, "VC", status="unscored", reason="transport"),
]


def test_columns_are_the_fields_of_a_record_in_their_order():
    assert tuple(f.name for f in fields(Record)) == COLUMNS


def test_evidence_is_exported_as_tool_args_text_images():
    assert export_row(RECORDS[0])["evidence"] == [
        {
            "tool": "zoom_in",
            "args": {"box": [1, 2.5, 3, 4]},
            "text": '{"a": 1}',
            "images": ["f" * 64],
        }
    ]


def test_jsonl_gives_back_every_row():
    out = io.StringIO()
    write_jsonl(RECORDS, out)
    assert [json.loads(line) for line in out.getvalue().splitlines()] == [*map(export_row, RECORDS)]


def test_csv_read_by_another_reader_gives_back_every_row():
    out = io.StringIO(newline="")
    write_csv(RECORDS, out)
    read = list(csv.DictReader(io.StringIO(out.getvalue(), newline="")))
    for line, expected in zip(read, map(export_row, RECORDS), strict=True):
        for name, value in expected.items():
            if isinstance(value, list):
                assert json.loads(line[name]) == value
            else:
                assert line[name] == ("" if value is None else str(value))


def test_parquet_gives_back_every_row_with_lists_as_lists(tmp_path):
    write_parquet(RECORDS, DLEBENCH, tmp_path / "x.parquet")
    for line, expected in zip(
        pq.read_table(tmp_path / "x.parquet").to_pylist(), map(export_row, RECORDS), strict=True
    ):
        for one in line["evidence"]:
            one["args"] = json.loads(one["args"])
        assert line == expected


def test_parquet_keeps_a_share_and_what_is_told_of_each_change(tmp_path):
    told = {"command": "ADD", "element": "red, round vase", "inside_target": False}
    change = {"box": [1.0, 2.0, 3.0, 4.5], "level": 0, "label": "Incoherent", **told}
    one = scored(ROW, "IF", level=1)
    rated = replace(one, criterion="coherence", level=1 / 3, per_target=(change,))
    write_parquet([rated], load_protocol("dice"), tmp_path / "x.parquet")
    (line,) = pq.read_table(tmp_path / "x.parquet").to_pylist()
    assert (line["level"], line["per_target"]) == (1 / 3, [change])


def test_parquet_of_no_records_has_all_columns(tmp_path):
    write_parquet([], DLEBENCH, tmp_path / "x.parquet")
    assert tuple(pq.read_schema(tmp_path / "x.parquet").names) == COLUMNS


@pytest.mark.parametrize(
    ("name", "level"),
    [
        ("dlebench", "int64"),
        ("multi-reward", "int64"),
        ("twelve-factors", "int64"),
        ("dice", "double"),
        ("bpm", "double"),
    ],
)
def test_a_run_without_records_has_the_types_of_its_protocol(tmp_path, name, level):
    """Data sets are made of the files of several runs."""
    write_parquet([], load_protocol(name), tmp_path / "x.parquet")
    assert str(pq.read_schema(tmp_path / "x.parquet").field("level").type) == level


@pytest.mark.parametrize("write", [write_jsonl, write_csv])
def test_rows_are_written_as_they_come(write):
    out = io.StringIO()

    def records():
        yield RECORDS[0]
        assert RECORDS[0].id in out.getvalue()
        yield RECORDS[1]

    write(records(), out)


def test_half_a_surrogate_pair_becomes_its_escape_in_parquet(tmp_path):
    write_parquet([scored(ROW, "IF", explanation="a\ud800b")], DLEBENCH, tmp_path / "x.parquet")
    assert pq.read_table(tmp_path / "x.parquet").to_pylist()[0]["explanation"] == "a\\ud800b"
