"""Manifests: every fault at once with its line, every good row as written, flat memory."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_judge.errors import ManifestError
from agent_judge.manifest import (
    MAX_LISTED_FAULTS,
    check_manifest,
    read_manifest,
    sample_from_row,
    sample_to_row,
    write_manifest,
)
from agent_judge.records import Sample
from tests.manifests import FULL, ROW, as_csv, as_parquet, as_parquet_of_text, faults, jsonl


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


@pytest.mark.parametrize("write", [as_csv, as_parquet, as_parquet_of_text])
def test_csv_and_parquet_carry_the_same_columns(tmp_path, write):
    full = {**FULL, "labels": [{"by": "ann", "IF": 3, "VC": 4}], "boxes": [[1.5, 2.0, 3.0, 4.0]]}
    rows = [full, {**ROW, "id": "b"}]
    assert list(read_manifest(write(tmp_path, *rows))) == list(
        read_manifest(jsonl(tmp_path, *rows))
    )


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


def test_many_faults_are_counted_not_listed(tmp_path):
    n_faults = MAX_LISTED_FAULTS + 50
    found = faults(jsonl(tmp_path, *({**ROW, "id": n} for n in range(n_faults))))
    assert len(found) == MAX_LISTED_FAULTS + 1
    assert found[-1] == (None, None, "50 more faults, not listed")


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
