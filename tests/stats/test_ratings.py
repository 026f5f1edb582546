from __future__ import annotations

import pytest

from agent_judge.errors import InputError
from agent_judge.rubrics.protocol import load_protocol
from agent_judge.stats.ratings import (
    HumanRating,
    RatedRecord,
    by_mode_and_criterion,
    manifest_ratings,
    parse_ratings,
    rated_records,
)
from tests.stats.rows import record

IMAGENHUB = "uid\tGlide\tSDEdit\r\ncat_1.jpg\t[0, 0.5]\t[1,1]\r\ndog_2.jpg\t[0.5, 0]\t[0, 0]\r\n"


def test_a_manifests_labels_become_one_rating_a_criterion():
    found = manifest_ratings(
        {
            "a": [{"by": "ann", "IF": 3, "VC": 4, "why": "blue"}, {"by": "bob", "IF": None}],
            "b": [{"by": "ann", "VC": 1}],
        }
    )

    assert [(r.id, r.by, r.criterion, r.value) for r in found] == [
        ("a", "ann", "IF", 3),
        ("a", "ann", "VC", 4),
        ("b", "ann", "VC", 1),
    ]


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_a_label_table_is_read_with_its_gaps(delimiter):
    text = "\ufeffid,by,IF,VC,note\na,ann,3,,hm\nb,,1,2,\n".replace(",", delimiter)

    assert parse_ratings(text, by="file") == [
        HumanRating(by="ann", criterion="IF", value=3, id="a"),
        HumanRating(by="file", criterion="IF", value=1, id="b"),
        HumanRating(by="file", criterion="VC", value=2, id="b"),
    ]


def test_imagenhubs_table_gives_semantic_as_if_and_quality_apart():
    found = parse_ratings(IMAGENHUB, by="rater1")

    assert len(found) == 8
    assert found[0] == HumanRating(
        by="rater1", criterion="IF", value=0, item="cat_1.jpg", editor="Glide", on_levels=False
    )
    assert found[1].criterion == "quality"
    assert found[1].value == 0.5


def test_imagenhubs_table_is_read_with_commas_too():
    text = 'uid,Glide\ncat_1.jpg,"[0.5, 1]"\n'

    assert [r.value for r in parse_ratings(text, by="x")] == [0.5, 1.0]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "an empty file"),
        ("name,IF\na,3\n", "'name', 'IF'"),
        ("id,by\na,ann\n", "IF or VC"),
        ("id,IF\na,3\nb,5\n", "line 3: IF must be a level from 1 to 4, got '5'"),
        ("id,IF\na,3.5\n", "got '3.5'"),
        ("id,IF\na,3,4\n", "line 2: more cells than columns"),
        ("uid\tGlide\nx\t[0]\n", "line 2: Glide must be"),
        ("uid\tGlide\nx\tgood\n", "got 'good'"),
        ("uid\tGlide\nx\t[null, 1]\n", "Glide must be"),
        ("uid\tGlide\nx\t[NaN, 1]\n", "Glide must be"),
        ("uid\tGlide\nx\t[1, 1e400]\n", "Glide must be"),
        ("id,preserve\na,nan\n", "preserve must be a level from -1 to 0, got 'nan'"),
    ],
)
def test_a_faulty_table_is_refused_with_its_line(text, complaint):
    with pytest.raises(InputError, match=complaint):
        parse_ratings(text, by="x")


def test_a_column_named_as_another_protocols_criterion_may_hold_anything():
    text = "id,IF,size\na,3,large\n"
    read = parse_ratings(text, by="x", criteria=("IF", "VC"))
    assert [(r.criterion, r.value) for r in read] == [("IF", 3)]
    with pytest.raises(InputError, match="IF or VC"):
        parse_ratings("id,size\na,1\n", by="x", criteria=("IF", "VC"))


def test_ratings_find_their_records_by_id_and_by_item_and_editor():
    records = [
        record(3, id="a", criterion="IF"),
        record(2, id="a", criterion="VC"),
        record(1, id="cat_1", editor="Glide"),
        record(4, id="dog_2.jpg", editor="SDEdit"),
        record("refused", id="b"),
    ]
    ratings = [
        *manifest_ratings({"a": [{"by": "ann", "IF": 4}], "b": [{"by": "ann", "IF": 4}]}),
        *parse_ratings(IMAGENHUB, by="r1"),
        *parse_ratings(IMAGENHUB, by="r2"),
    ]

    found = rated_records(records, ratings)

    assert [(r.record.id, dict(r.values), r.on_levels) for r in found] == [
        ("a", {"ann": 4}, True),
        ("cat_1", {"r1": 0, "r2": 0}, False),
        ("dog_2.jpg", {"r1": 0, "r2": 0}, False),
    ]


def test_the_later_rating_of_one_rater_holds():
    ratings = manifest_ratings({"a": [{"by": "ann", "IF": 4}, {"by": "ann", "IF": 2}]})

    assert rated_records([record(3)], ratings)[0].values == {"ann": 2}


def test_figures_come_by_mode_then_in_the_protocols_order():
    rated = [
        RatedRecord(record=record(0, criterion=name, mode=mode), values={"p": 0}, on_levels=True)
        for mode in ("tool", "direct")
        for name in ("modify", "position", "preserve", "size")
    ]
    bpm = load_protocol("bpm").criteria
    assert list(by_mode_and_criterion(rated)) == [
        (mode, name) for mode in ("direct", "tool") for name in bpm
    ]
