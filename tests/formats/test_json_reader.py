"""JSON is read piece by piece as the standard library reads it whole."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_judge.formats import json_reader
from agent_judge.formats.json_reader import JsonFault, JsonReader

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    folder = tmp_path_factory.mktemp("json")

    def write(text):
        path = folder / "d.json"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def walk(reader):
    values = [reader.value() for _ in reader.elements()]
    reader.end()
    return values


def read_array(path):
    with JsonReader(path) as reader:
        return walk(reader)


def read_object(path):
    with JsonReader(path) as reader:
        values = {key: reader.value() for key in reader.members()}
        reader.end()
        return values


@settings(max_examples=30)
@given(values=st.lists(VALUES, max_size=5), indent=st.sampled_from([None, 2]))
def test_arrays_are_read_as_the_standard_library_reads_them(document, values, indent):
    assert read_array(document(json.dumps(values, indent=indent))) == values


@settings(max_examples=30)
@given(values=st.dictionaries(st.text(), VALUES, max_size=5))
@pytest.mark.slow
def test_objects_are_read_as_the_standard_library_reads_them(document, values):
    assert read_object(document(json.dumps(values))) == values


@pytest.mark.parametrize("offset", range(-8, 9))
def test_no_value_suffers_from_a_cut(document, offset):
    pad = " " * (json_reader._CHUNK_BYTES - 20 + offset)
    values = [1234.5e-3, -17, "a\\u00e9é", True, {"k": [1.25]}]
    assert read_array(document(f"[{pad}{json.dumps(values)[1:]}")) == values


def test_a_value_longer_than_a_chunk_is_read_whole(document):
    mask = [[0] * 2000] * 300
    assert read_array(document(json.dumps([mask, 1]))) == [mask, 1]


@pytest.mark.parametrize(
    ("text", "told", "line"),
    [
        ("", "expected '[', got the end of the file", 1),
        ("[1,\n2", "expected ',' or ']', got the end of the file", 2),
        ("[1,\n\n{", "not JSON: Expecting property name", 3),
        ('[{"a": 1}\n{"a": 2}]', "expected ',' or ']', got '{'", 2),
        ("[1]\n[2]", "one object a line is a .jsonl file", 2),
        ('["abc\n', "not JSON", 1),
        ('[{"a": 1, "a": 2}]', "the key 'a' appears twice", 1),
        ("[" + "[" * 100_000 + "]", "nested too deep", 1),
        ("[" + "9" * 5000 + "]", "digits", 1),
        (b'["\xff"]', "not UTF-8", 1),
    ],
)
def test_what_is_broken_is_told_with_its_line(document, text, told, line):
    path = document(text)
    reader = JsonReader(path)
    with reader, pytest.raises(JsonFault, match=re.escape(told)):
        walk(reader)
    assert reader.line == line


def test_a_fault_far_from_the_end_is_told_without_reading_on(document):
    path = document('[{"a" 1}, "' + "x" * (4 * json_reader._CHUNK_BYTES) + '"]')
    with JsonReader(path) as reader, pytest.raises(JsonFault):
        walk(reader)
    assert len(reader._text) <= json_reader._CHUNK_BYTES


def test_not_a_number_is_read_as_null(document):
    assert read_array(document("[NaN, Infinity, -Infinity]")) == [None, None, None]


def test_a_byte_order_mark_is_no_character(document):
    assert read_array(document(b"\xef\xbb\xbf[1]")) == [1]
