from pathlib import Path

from agent_judge.annotate.labels import labelled, write_labels
from agent_judge.manifest import check_manifest, read_manifest, write_manifest
from agent_judge.records import Sample
from agent_judge.stats.ratings import HumanRating, parse_ratings
from tests.annotate.test_journal import said


def test_agree_reads_the_label_table(tmp_path):
    table = tmp_path / "labels.csv"
    write_labels(
        table,
        [
            said(id='b, "c"', levels={"IF": 2, "VC": 4}, comment='he said "no",\nthen yes'),
            said(id="a", by="bob", levels={"VC": 3}, boxes=()),
            said(id="c", levels={}, boxes=()),
        ],
    )

    assert parse_ratings(table.read_text(encoding="utf-8"), by="?") == [
        HumanRating(by="bob", criterion="VC", value=3, id="a"),
        HumanRating(by="ann", criterion="IF", value=2, id='b, "c"'),
        HumanRating(by="ann", criterion="VC", value=4, id='b, "c"'),
    ]
    assert list(tmp_path.iterdir()) == [table]


def sample(**changes):
    fields = {"id": "a", "source": Path("s.png"), "edited": Path("e.png"), "instruction": "x"}
    return Sample(**{**fields, **changes})


def test_labels_join_those_of_the_manifest_and_replace_the_raters_own():
    old = ({"by": "planted", "IF": 1}, {"by": "ann", "IF": 2})
    (merged,) = labelled(
        [sample(labels=old)],
        [said(levels={"IF": 3, "VC": 4}, comment=""), said(by="bob", levels={})],
    )

    assert merged.labels == ({"by": "planted", "IF": 1}, {"by": "ann", "IF": 3, "VC": 4})


def test_rows_without_boxes_get_those_that_were_drawn_last():
    entries = [
        said(by="bob", boxes=((5, 5, 9, 9),), at="2026-11-29T12"),
        said(boxes=((1, 1, 3, 3),), at="2026-11-29T11"),
        said(by="cy", boxes=(), at="2026-11-29T13"),
    ]
    with_boxes, without = labelled([sample(boxes=((0, 0, 2, 2),)), sample()], entries)

    assert with_boxes.boxes == ((0, 0, 2, 2),)
    assert without.boxes == ((5, 5, 9, 9),)


def test_the_manifest_reads_what_was_merged(tmp_path):
    for name in ("s.png", "e.png"):
        (tmp_path / name).touch()
    rows = [sample(source=tmp_path / "s.png", edited=tmp_path / "e.png")]
    write_manifest(tmp_path / "m.jsonl", labelled(rows, [said(levels={"IF": 3})]))

    assert check_manifest(tmp_path / "m.jsonl") == 1
    (read,) = read_manifest(tmp_path / "m.jsonl")
    assert read.labels == ({"by": "ann", "IF": 3, "comment": "é <b>"},)
    assert read.boxes == ((1, 2, 3, 4),)
