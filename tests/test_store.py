"""The run folder: what is kept, what is refused, what survives."""

import asyncio
import os
import resource
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from agent_judge.blobs import Blobs
from agent_judge.errors import InputError, StoreError
from agent_judge.inputs import FILES
from agent_judge.records import Evidence, Record
from agent_judge.run_db import RunDb, is_begun
from agent_judge.shard import parse_shard
from agent_judge.store import PlannedRow, Standing, Store

BINDING = {"judge": {"model": "measured"}, "mode": "auto", "rubric": "r1"}


def a_record(id_="a", criterion="IF", **fields) -> Record:
    values = {"status": "scored", "level": 3, "label": "Over Modification", **fields}
    return Record(
        id=id_, item=id_, editor="e", type="color", mode="oracle", criterion=criterion, **values
    )


def planned(*ids) -> list[PlannedRow]:
    return [PlannedRow(id=i, mode="oracle", row={"id": i, "editor": "e"}) for i in ids]


def keep(store, record, round_=0, inputs=None):
    store.save(record, round_=round_, inputs=inputs or {}, replies=[{"content": "hello"}])


def test_a_record_comes_back_as_it_was(tmp_path):
    evidence = Evidence(
        tool="zoom_in", args={"box": [1, 2, 3, 4]}, text="{}", images=("ab",), labels=("x",)
    )
    record = a_record(
        evidence=(evidence,),
        flags=("identical",),
        target_boxes=((1.0, 2.0, 3.0, 4.0),),
        vote_levels=(3, None),
    )
    with Store.create(tmp_path, BINDING) as store:
        store.plan(planned("a"))
        keep(store, record)
    with Store.open(tmp_path) as store:
        assert list(store.records()) == [record]
        assert store.rounds("a", "IF")[0].replies == ({"content": "hello"},)


def test_records_come_in_the_manifests_order_with_if_first(tmp_path):
    with Store.create(tmp_path, BINDING) as store:
        store.plan(planned("b", "a"))
        for id_, criterion in (("a", "VC"), ("b", "VC"), ("a", "IF"), ("b", "IF")):
            keep(store, a_record(id_, criterion))
        order = [(r.id, r.criterion) for r in store.records()]
    assert order == [("b", "IF"), ("b", "VC"), ("a", "IF"), ("a", "VC")]


def test_the_last_round_counts_and_both_are_kept(tmp_path):
    with Store.create(tmp_path, BINDING) as store:
        store.plan(planned("a"))
        keep(store, a_record(level=2, label="Wrong Action"), round_=0)
        keep(store, a_record(level=4, label="Flawless Execution"), round_=1)
        assert [r.level for r in store.records()] == [4]
        assert [s.record.level for s in store.rounds("a", "IF")] == [2, 4]


def test_records_of_rows_no_longer_planned_are_not_shown(tmp_path):
    """Case J26: stale ids do not pollute the mean."""
    with Store.create(tmp_path, BINDING) as store:
        store.plan(planned("a", "gone"))
        keep(store, a_record("a"))
        keep(store, a_record("gone"))
        store.plan(planned("a"))
        assert [r.id for r in store.records()] == ["a"]


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ({**BINDING, "mode": "tool"}, "mode was 'auto', now 'tool'"),
        ({**BINDING, "judge": {"model": "gpt"}}, "judge.model was 'measured', now 'gpt'"),
        ({"mode": "auto", "rubric": "r1"}, "judge.model was 'measured', now None"),
    ],
)
def test_another_kind_of_run_is_refused_and_the_difference_named(tmp_path, other, named):
    Store.create(tmp_path, BINDING).close()
    with pytest.raises(StoreError, match=named):
        Store.create(tmp_path, other)


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("x", encoding="utf-8")
    with pytest.raises(StoreError, match="other files"):
        Store.create(tmp_path, BINDING)


def test_two_writers_do_not_meet(tmp_path):
    with Store.create(tmp_path, BINDING), pytest.raises(StoreError, match="in use"):
        Store.create(tmp_path, BINDING)


@pytest.mark.parametrize("content", [b"", b"not a database", b"SQLite format 3\0" + b"\0" * 200])
def test_a_damaged_database_is_one_clear_line(tmp_path, content):
    (tmp_path / "run.db").write_bytes(content)
    with pytest.raises(StoreError):
        Store.open(tmp_path)


def test_a_database_of_another_program_is_refused_and_left_as_it_is(tmp_path):
    with closing(sqlite3.connect(tmp_path / "run.db")) as db, db:
        db.execute("CREATE TABLE runs (distance REAL)")
    before = (tmp_path / "run.db").read_bytes()
    with pytest.raises(StoreError, match="another program"):
        Store.create(tmp_path, BINDING)
    with pytest.raises(StoreError, match="no run in"):
        Store.open(tmp_path)
    assert (tmp_path / "run.db").read_bytes() == before


@pytest.mark.parametrize("left", [b"", None])
def test_what_a_kill_left_of_a_beginning_is_no_run_and_can_be_begun(tmp_path, left):
    """A run.db without tables, or with tables and nothing in them."""
    if left is None:
        RunDb.create(tmp_path).close()
    else:
        (tmp_path / "run.db").write_bytes(left)
    assert not is_begun(tmp_path)
    with pytest.raises(StoreError, match="no run"):
        Store.open(tmp_path)
    Store.create(tmp_path, BINDING).close()
    assert is_begun(tmp_path)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("record", '{"id": "a"}'),
        ("record", "[]"),
        ("record", '{"no_field": 1}'),
        ("record", "null"),
        ("replies", "{"),
        ("inputs", "{"),
    ],
)
def test_a_cell_that_holds_something_else_is_one_clear_line(tmp_path, cell, text):
    with Store.create(tmp_path, BINDING) as store:
        store.plan(planned("a"))
        keep(store, a_record())
    with closing(sqlite3.connect(tmp_path / "run.db")) as db, db:
        db.execute(f"UPDATE records SET {cell} = ?", (text,))
    with Store.open(tmp_path) as store, pytest.raises(StoreError, match="cannot read the run"):
        store.rounds("a", "IF")


@pytest.mark.parametrize(
    ("statement", "read"),
    [
        ("UPDATE planned SET row = '{'", lambda store: list(store.planned())),
        ("UPDATE planned SET row = '{'", lambda store: list(store.planned_counts())),
        ("UPDATE records SET flags = '3'", lambda store: list(store.standings())),
        ("UPDATE records SET record = '{'", lambda store: store.distinct("endpoint")),
        ("UPDATE records SET record = '3'", lambda store: list(store.records())),
        ("UPDATE records SET inputs = '{'", lambda store: store.sizes_wh()),
        ("UPDATE replies SET reply = '3'", lambda store: asyncio.run(store.replies.get("k"))),
        ("UPDATE meta SET value = '{' WHERE key = 'binding'", lambda store: store.binding),
        (
            "INSERT INTO meta VALUES ('planned_from', '{')",
            lambda store: store.planned_from,
        ),
    ],
)
def test_damage_is_told_wherever_it_is_met(tmp_path, statement, read):
    with Store.create(tmp_path, BINDING) as store:
        with closing(sqlite3.connect(tmp_path / "run.db")) as db, db:
            store.plan(planned("a"))
            keep(store, a_record())
            store.replies.put("k", {"message": "m"})
            db.execute("DELETE FROM meta WHERE key = 'planned_from'")
            db.execute(statement)
        with pytest.raises(StoreError, match="cannot read the run"):
            read(store)


def test_a_run_is_read_where_nothing_can_be_written(tmp_path, monkeypatch):
    with Store.create(tmp_path / "run", BINDING) as store:
        store.plan(planned("a"))
        keep(store, a_record())
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)  # root may write anywhere
    with Store.open(tmp_path / "run") as store:
        assert [record.id for record in store.records()] == ["a"]
    assert sorted(p.name for p in (tmp_path / "run").iterdir()) == ["run.db", "run.lock"]
    with Store.create(tmp_path / "run", BINDING), Store.open(tmp_path / "run") as store:
        assert [record.id for record in store.records()] == ["a"]  # while it is written
    (tmp_path / "run" / "run.db-wal").write_bytes(b"x")
    with pytest.raises(StoreError, match="cut off and is read-only"):
        Store.open(tmp_path / "run")


def test_a_picture_that_does_not_fit_leaves_no_half_of_itself(tmp_path):
    blobs = Blobs(tmp_path / "blobs")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(StoreError, match="File too large"):
            blobs.put_blob("ab" * 32, b"x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize("name", ["a?mode=ro", "a#b", "100%", "a%20b", "ö 漢", "a;b&c", "\udcff"])
def test_a_folder_may_have_any_name(tmp_path, name):
    folder = Path(f"/{tmp_path}") / name  # two slashes begin it
    with Store.create(folder, BINDING) as store:
        store.absorb(shard(tmp_path / name, "aa", a_record("x")))
    with Store.open(folder) as store:
        assert [row.id for row in store.planned()] == ["x"]
    assert {path.name for path in tmp_path.iterdir()} == {name}


def test_no_run_is_one_clear_line(tmp_path):
    with pytest.raises(StoreError, match="no run in"):
        Store.open(tmp_path / "nowhere")


def test_a_file_in_the_way_is_one_clear_line(tmp_path):
    (tmp_path / "out").write_text("x", encoding="utf-8")
    with pytest.raises(StoreError, match="is no folder"):
        Store.create(tmp_path / "out", BINDING)
    with pytest.raises(StoreError, match="cannot write"):
        Store.create(tmp_path / "out" / "run", BINDING)


def test_blobs_are_kept_once_under_their_hash(tmp_path):
    with Store.create(tmp_path, BINDING) as store:
        store.blobs.put_blob("ab" * 32, b"png")
        store.blobs.put_blob("ab" * 32, b"png")
        files = [p for p in (tmp_path / "blobs").rglob("*") if p.is_file()]
        assert files == [store.blobs.path("ab" * 32)]
        assert files[0].read_bytes() == b"png"


def test_half_a_picture_is_made_whole(tmp_path):
    with Store.create(tmp_path, BINDING) as store:
        store.blobs.put_blob("ab" * 32, b"")
        store.blobs.put_blob("ab" * 32, b"png")
        assert store.blobs.path("ab" * 32).read_bytes() == b"png"


def test_replies_are_cached_with_unknown_fields(tmp_path):
    reply = {"message": {"extra_content": {"google": {"thought_signature": "s"}}}}
    with Store.create(tmp_path, BINDING) as store:
        store.replies.put("k", reply)
    with Store.open(tmp_path) as store:
        assert asyncio.run(store.replies.get("k")) == reply
        assert asyncio.run(store.replies.get("other")) is None


def test_standings_tell_what_resume_needs_of_the_last_round(tmp_path):
    with Store.create(tmp_path, BINDING) as store:
        store.plan(planned("a", "b"))
        keep(store, a_record(flags=("identical",), attempts=2), round_=0)
        lost = a_record(status="unscored", level=None, label=None, reason="transport", attempts=5)
        keep(store, lost, round_=1, inputs={"row": "x"})
        keep(store, a_record("gone"))
        [(b, of_b), (a, of_a)] = store.standings()
    assert (a.id, b.id, of_b) == ("a", "b", {})
    assert of_a.keys() == {"IF"}
    assert of_a["IF"] == Standing(
        round=1, reason="transport", flags=(), attempts=5, inputs={"row": "x"}
    )


@pytest.mark.slow
def test_rows_without_a_record_come_first_and_those_judged_meanwhile_do_not_come_again(tmp_path):
    ids = [f"r{n}" for n in range(1100)]
    with Store.create(tmp_path, BINDING) as store:
        store.plan(planned(*ids))
        for id_ in ids[:600]:
            keep(store, a_record(id_))
        seen = []
        for row, standings in store.standings():
            seen.append(row.id)
            if not standings:
                lost = {"status": "unscored", "level": None, "label": None, "reason": "timeout"}
                keep(store, a_record(row.id, **lost))
    assert seen == ids[600:] + ids[:600]


def test_outcomes_are_the_records_without_texts_evidence_and_origin(tmp_path):
    looked = Evidence(tool="zoom_in", args={"box": [0, 0, 9, 9]}, text="{}", images=("ab" * 32,))
    texts = {"explanation": "because", "notes": ("scaled",), "judge": "m", "endpoint": "h"}
    record = a_record(**texts, evidence=(looked,), flags=("x",), area_pct=0.5, source_sha256="5")
    with Store.create(tmp_path, BINDING) as store:
        store.plan(planned("a"))
        keep(store, record)
        assert list(store.records()) == [record]
        brief = replace(record, explanation="", notes=(), judge="", endpoint="", evidence=())
        assert list(store.outcomes()) == [brief]


@pytest.mark.parametrize(("more", "kept"), [({}, False), ({"command": "ADD"}, True)])
def test_outcomes_keep_changes_which_figures_are_made_of_and_no_targets(tmp_path, more, kept):
    parts = ({"box": [0, 0, 9, 9], "level": 1, "label": "x", **more},)
    with Store.create(tmp_path, BINDING) as store:
        store.plan(planned("a"))
        keep(store, a_record(per_target=parts))
        assert [record.per_target for record in store.outcomes()] == [parts if kept else ()]


@pytest.mark.slow
def test_standings_come_in_the_manifests_order_however_many_there_are(tmp_path):
    ids = [f"r{n}" for n in range(1203)]
    with Store.create(tmp_path, BINDING) as store:
        store.plan(planned(*ids))
        seen = []
        for row, standings in store.standings():
            keep(store, a_record(row.id))  # a run writes while it reads
            seen.append(row.id)
            assert standings == {}
        assert seen == ids
        assert all(standings["IF"].reason is None for _, standings in store.standings())


def test_where_rows_came_from_is_forgotten_when_other_rows_come(tmp_path):
    with Store.create(tmp_path / "a", BINDING) as store:
        assert store.planned_from is None
        store.planned_from = {"manifest": "m"}
        assert store.planned_from == {"manifest": "m"}
        store.absorb(shard(tmp_path, "bb", a_record("y")))
        assert store.planned_from is None
        store.planned_from = {"manifest": "m"}
        store.plan(planned("a"))
        assert store.planned_from is None


def test_a_run_of_another_format_is_neither_read_nor_written(tmp_path):
    Store.create(tmp_path, BINDING).close()
    with sqlite3.connect(tmp_path / "run.db") as db:
        db.execute("UPDATE meta SET value = '0' WHERE key = 'format'")
        db.execute("DROP INDEX planned_seq")
        db.execute("ALTER TABLE planned DROP COLUMN seq")
    db.close()
    before = (tmp_path / "run.db").read_bytes()
    for enter in (lambda: Store.open(tmp_path), lambda: Store.create(tmp_path, BINDING)):
        with pytest.raises(StoreError, match="another version"):
            enter()
    assert (tmp_path / "run.db").read_bytes() == before


def test_planned_counts_by_editor_mode_and_type(tmp_path):
    rows = [
        PlannedRow(id="a", mode="oracle", row={"editor": "x", "type": "ocr"}),
        PlannedRow(id="b", mode="oracle", row={"editor": "x", "type": "ocr"}),
        PlannedRow(id="c", mode="tool", row={}),
    ]
    with Store.create(tmp_path, BINDING) as store:
        store.plan(rows)
        counts = sorted(store.planned_counts(), key=str)
    assert counts == [("", "tool", None, 1), ("x", "oracle", "ocr", 2)]


def test_records_can_be_read_while_a_run_writes(tmp_path):
    with Store.create(tmp_path, BINDING) as writer:
        writer.plan(planned("a"))
        with Store.open(tmp_path) as reader:
            keep(writer, a_record())
            assert len(list(reader.records())) == 1


def test_a_database_that_is_gone_read_only_is_told(tmp_path):
    with Store.create(tmp_path, BINDING) as store:
        other = sqlite3.connect(tmp_path / "run.db")
        other.execute("DROP TABLE records")
        other.commit()
        other.close()
        with pytest.raises(StoreError, match="cannot write"):
            keep(store, a_record())


def shard(tmp_path: Path, name: str, *records, binding=BINDING, seq=0) -> Path:
    folder = tmp_path / name
    with Store.create(folder, binding) as store:
        ids = list(dict.fromkeys(r.id for r in records))
        rows = [
            PlannedRow(id=i, seq=seq + n, mode="oracle", row={"id": i}) for n, i in enumerate(ids)
        ]
        store.plan(rows)
        store.ask_for(["IF"])
        for record in records:
            keep(store, record)
        store.blobs.put_blob(name * 32, name.encode())
        store.replies.put(name, {"message": name})
    return folder


def test_shards_merge_in_the_manifests_order_and_twice_is_once(tmp_path):
    late = shard(tmp_path, "aa", a_record("x"), seq=5)
    early = shard(tmp_path, "bb", a_record("y"), seq=0)
    with Store.create(tmp_path / "all", BINDING) as store:
        for folder in (late, early, late):
            store.absorb(folder)
        assert [r.id for r in store.records()] == ["y", "x"]
        assert asyncio.run(store.replies.get("aa")) == {"message": "aa"}
        assert store.blobs.path("bb" * 32).read_bytes() == b"bb"
        assert store.criteria == ("IF",)


def test_where_shards_overlap_a_verdict_wins_over_none(tmp_path):
    lost = a_record("x", status="unscored", level=None, label=None, reason="transport")
    for order in (("aa", "bb"), ("bb", "aa")):
        folders = {
            "aa": shard(tmp_path / "".join(order), "aa", lost),
            "bb": shard(tmp_path / "".join(order), "bb", a_record("x", level=3)),
        }
        with Store.create(tmp_path / f"all{order[0]}", BINDING) as store:
            for name in order:
                store.absorb(folders[name])
            assert [r.level for r in store.records()] == [3]


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        ({"row": {"editor": "one"}}, {"row": {"editor": "two"}}, "another row"),
        ({"hash": "1"}, {"hash": "2"}, "another row"),  # its instruction was changed
        ({"edited": "aa"}, {"edited": "bb"}, "other pictures"),
        ({"source": "aa"}, {"source": "bb"}, "other pictures"),
        ({"reference": "aa"}, {"reference": "bb"}, "other pictures"),
        ({"edited": "aa"}, {"edited": None}, None),  # one machine did not have it yet
        ({"row": {"editor": "one", "source": "/a"}}, {"row": {"editor": "one"}}, None),
    ],
)
def test_no_row_takes_the_verdict_on_another_of_its_id(tmp_path, before, now, told):
    for name, kept in (("aa", before), ("bb", now)):
        with Store.create(tmp_path / name, BINDING) as store:
            fields = {"hash": kept.get("hash", ""), "row": kept.get("row", {})}
            store.plan([PlannedRow(id="x", mode="oracle", **fields)])
            files = {key: [1, 2, kept[key]] for key in FILES if kept.get(key)}
            keep(store, a_record("x"), inputs=files)
    with Store.create(tmp_path / "all", BINDING) as store:
        store.absorb(tmp_path / "aa")
        if told is None:
            store.absorb(tmp_path / "bb")
        else:
            with pytest.raises(StoreError, match=f"'x' stands for {told} in '.*bb' than in"):
                store.absorb(tmp_path / "bb")


def test_a_merge_that_is_cut_off_has_no_record_without_its_evidence(tmp_path, monkeypatch):
    whole = shard(tmp_path, "aa", a_record("x"))
    monkeypatch.setattr(Path, "write_bytes", mock.Mock(side_effect=OSError(28, "full")))
    with Store.create(tmp_path / "all", BINDING) as store:
        with pytest.raises(StoreError, match="cannot write"):
            store.absorb(whole)
        assert list(store.records()) == []


def test_a_damaged_shard_is_named_beside_the_merged_run(tmp_path):
    whole, damaged = (shard(tmp_path, name, a_record(name)) for name in ("aa", "bb"))
    with closing(sqlite3.connect(damaged / "run.db")) as db, db:
        db.execute("DROP TABLE thumbnails")
    with Store.create(tmp_path / "all", BINDING) as store:
        store.absorb(whole)
        with pytest.raises(StoreError, match=r"cannot take .*bb' into .*all'"):
            store.absorb(damaged)
        assert [row.id for row in store.planned()] == ["aa"]


def test_runs_of_another_kind_do_not_merge(tmp_path):
    other = shard(tmp_path, "aa", a_record("x"), binding={**BINDING, "mode": "tool"})
    with Store.create(tmp_path / "all", BINDING) as store, pytest.raises(StoreError, match="mode"):
        store.absorb(other)


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/0", "-1/3", "1/3/5", ""])
def test_a_bad_shard_is_one_clear_line(text):
    with pytest.raises(InputError, match="I/N"):
        parse_shard(text)


def test_every_row_is_in_exactly_one_shard():
    shards = [parse_shard(f"{i}/7") for i in range(1, 8)]
    holders = [sum(s.holds(f"row-{n}") for s in shards if s) for n in range(500)]
    assert set(holders) == {1}
    assert parse_shard(None) is None


def test_half_a_surrogate_pair_in_a_reply_is_no_reason_to_fail(tmp_path):
    with Store.create(tmp_path, BINDING) as store:
        store.plan(planned("a"))
        keep(store, a_record(explanation="half \ud800 pair"))
        assert next(store.records()).explanation == "half ? pair"


def test_a_run_knows_the_version_that_began_it(tmp_path):
    with Store.create(tmp_path, BINDING) as store:
        assert store.meta("version")


def test_a_row_is_kept_in_small(tmp_path):
    with Store.create(tmp_path, BINDING) as store:
        store.put_thumbnail("a", b"webp")
        assert (store.thumbnail("a"), store.thumbnail("b")) == (b"webp", None)
