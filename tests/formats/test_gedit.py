import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agent_judge.formats.gedit import import_gedit
from tests.formats.trees import DEFAULTS, lay, put, refusal, rows_of

ENTRIES = [
    {
        "key": "k1",
        "task_type": "subject-remove",
        "instruction": "Remove the cup.",
        "instruction_language": "en",
        "Intersection_exist": True,
    },
    {
        "key": "k2",
        "task_type": "color_alter",
        "instruction": "把杯子变红",
        "instruction_language": "cn",
        "Intersection_exist": False,
    },
]


@pytest.fixture
def model(tmp_path):
    return lay(
        tmp_path / "model-x",
        "fullset/subject-remove/en/k1.png fullset/subject-remove/en/k1_SRCIMG.png "
        "fullset/color_alter/cn/k2_SRCIMG.png",
    )


def test_outputs_lie_beside_their_sources(tmp_path, model):
    found = import_gedit(put(tmp_path / "t.jsonl", ENTRIES), model, options=DEFAULTS)
    one, two = rows_of(found, tmp_path)
    assert one == {
        "id": "k1",
        "source": "model-x/fullset/subject-remove/en/k1_SRCIMG.png",
        "edited": "model-x/fullset/subject-remove/en/k1.png",
        "instruction": "Remove the cup.",
        "type": "removal",
        "editor": "model-x",
        "Intersection_exist": True,
        "benchmark_type": "subject-remove",
        "language": "en",
    }
    assert (two["type"], two["edited"]) == ("color", "model-x/fullset/color_alter/cn/k2.png")
    assert "missing  1: k2" in found.summary()
    assert "odd      0" in found.summary()


def test_one_language_may_be_taken(tmp_path, model):
    table = put(tmp_path / "t.jsonl", ENTRIES)
    found = import_gedit(table, model, language="en", options=DEFAULTS)
    assert [row["id"] for row in rows_of(found, tmp_path)] == ["k1"]
    assert "found    2 entries that give 1 rows" in found.summary()
    assert "odd      0" in found.summary()


def test_the_dataset_itself_is_a_table_and_sources_may_lie_elsewhere(tmp_path, model):
    columns = {name: [entry[name] for entry in ENTRIES] for name in ENTRIES[0]}
    columns["input_image"] = [{"bytes": b"PNG", "path": "x.png"}] * 2
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    sources = lay(tmp_path / "raw", "k1.jpg k2.jpg")
    found = import_gedit(tmp_path / "t.parquet", model, sources=sources, options=DEFAULTS)
    rows = rows_of(found, tmp_path)
    assert [row["source"] for row in rows] == ["raw/k1.jpg", "raw/k2.jpg"]
    assert "input_image" not in rows[0]


def test_a_task_that_leads_out_is_refused(tmp_path, model):
    table = put(tmp_path / "t.jsonl", [{**ENTRIES[0], "task_type": "../../.."}])
    assert "leads out of" in refusal(import_gedit(table, model, options=DEFAULTS))


def test_a_table_of_one_language_may_leave_it_out(tmp_path, model):
    entry = {k: v for k, v in ENTRIES[0].items() if k != "instruction_language"}
    table = put(tmp_path / "t.jsonl", [entry])
    found = import_gedit(table, model, language="en", options=DEFAULTS)
    assert rows_of(found, tmp_path)[0]["edited"].endswith("en/k1.png")
    assert "name another with --map language=KEY" in refusal(
        import_gedit(table, model, options=DEFAULTS)
    )
