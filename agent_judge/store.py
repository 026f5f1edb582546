"""What a run keeps: rows and records in `run.db`, content-addressed pictures under `blobs/`.

One record per (id, criterion, round), committed as soon as it exists. The planned rows are those
of the manifest as last given; records of rows that are no longer planned stay but are not shown.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, Self

from agent_judge.blobs import Blobs
from agent_judge.errors import StoreError
from agent_judge.records import Criterion, EditType, Mode, Reason, Record
from agent_judge.replies import Replies
from agent_judge.rubrics.protocol import all_criteria
from agent_judge.run_db import FORMAT, RunDb, as_text

_ROWS_AT_ONCE = 500
_STANDINGS = """
SELECT p.id, p.mode, p.hash, p.row, p.seq, p.place,
    r.criterion, r.round, r.reason, r.flags, r.attempts, r.inputs
FROM (
    SELECT *, rowid AS place FROM planned WHERE (seq, rowid) > (?, ?)
    AND EXISTS (SELECT 1 FROM records x WHERE x.id = planned.id AND x.rowid <= ?) = ?
    ORDER BY seq, rowid LIMIT ?
) p LEFT JOIN records r ON r.id = p.id ORDER BY p.seq, p.place, r.round
"""
_RECORDS = """
SELECT {} FROM planned p JOIN records r ON r.id = p.id
WHERE r.round = (
    SELECT max(round) FROM records x WHERE x.id = r.id AND x.criterion = r.criterion
) ORDER BY p.seq, p.rowid, r.criterion
"""
_IN_BRIEF = """json_remove(r.record, '$.evidence', '$.answers', '$.explanation',
    iif(json_type(r.record, '$.per_target[0].command') IS NULL, '$.per_target', '$.none'),
    '$.anomalies', '$.notes', '$.prompt_hash', '$.judge', '$.judge_returned_model', '$.endpoint',
    '$.rubric_version', '$.edited_sha256')"""


@dataclass(frozen=True, kw_only=True)
class PlannedRow:
    """One row of the manifest as the run knows it."""

    id: str
    mode: Mode
    row: Mapping[str, Any]
    """The manifest's row as JSON types."""
    hash: str = ""
    """Of what verdicts depend on in the row, see `inputs.row_hash`."""
    seq: int = 0
    """Place in the manifest, from 0; shards keep it, so that merging restores the order."""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What resume needs to know of a stored record, without reading all of it."""

    round: int
    reason: Reason | None
    """None for a fate that is no `unscored`."""
    flags: tuple[str, ...]
    attempts: int
    inputs: Mapping[str, Any]
    """One object for the criteria that were judged from the same."""


@dataclass(frozen=True, kw_only=True)
class Saved:
    """A stored record and what it was judged from."""

    record: Record
    round: int
    inputs: Mapping[str, Any]
    """Signature of the row and its files, see `inputs.inputs_of`."""
    replies: tuple[Mapping[str, Any], ...]
    """The judge's assistant messages, verbatim, of every look and vote."""


class Store:
    """A run folder. `open` to read, `create` to write; a writer holds the folder's lock."""

    def __init__(self, db: RunDb) -> None:
        self.folder = db.folder
        self.blobs = Blobs(db.folder / "blobs")
        """Evidence pictures by the hash of their bytes."""
        self.replies = Replies(db)
        """Judges' replies by the request that they answer."""
        self._db = db

    @classmethod
    def create(cls, folder: Path, binding: Mapping[str, Any]) -> Self:
        """The folder of a new run, or of the same run to be resumed.

        Args:
            folder: made when it does not exist; an existing one must be empty or a run folder.
            binding: what verdicts depend on, JSON types; the same for every run in this folder.

        Raises:
            StoreError: not writable, in use, foreign, or bound to something else (named).
        """
        with ExitStack() as undo:
            store = cls(undo.enter_context(RunDb.create(folder)))
            store._bind(binding)
            undo.pop_all()  # it worked: it stays open until `close`
        return store

    @classmethod
    def open(cls, folder: Path) -> Self:
        """A run folder to read from.

        Raises:
            StoreError: there is no run in it.
        """
        return cls(RunDb.open(folder))

    def close(self) -> None:
        """Let go of the database and the lock."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def meta(self, key: str) -> str | None:
        """A text stored under `key`, or None."""
        return self._db.meta(key)

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The criteria that were asked for, in any invocation, in the protocol's order."""
        asked = (self.meta("criteria") or "").split(",")
        return tuple(criterion for criterion in all_criteria() if criterion in asked)

    def ask_for(self, criteria: Iterable[Criterion]) -> None:
        """Plan further criteria for every row."""
        self._db.set_meta(criteria=",".join({*self.criteria, *criteria}))

    @property
    def binding(self) -> dict[str, Any]:
        """What this run's verdicts depend on."""
        return dict(self._noted("binding") or {})

    def _noted(self, key: str) -> Any:  # noqa: ANN401 - JSON
        with self._db.reading():
            return json.loads(self.meta(key) or "null")

    def _bind(self, binding: Mapping[str, Any]) -> None:
        wanted = json.loads(json.dumps(binding))
        if self.meta("binding") is None:
            self._db.set_meta(
                format=FORMAT,
                binding=json.dumps(wanted, sort_keys=True),
                version=metadata.version("agent-judge"),
            )
        self.check_binding(wanted)

    def check_binding(self, wanted: Mapping[str, Any]) -> None:
        """Refuse to mix verdicts of different kinds.

        Raises:
            StoreError: this run is bound to something else than `wanted`; the difference is named.
        """
        before, now = _flat(self.binding), _flat(wanted)
        changed = sorted(k for k in before.keys() | now.keys() if before.get(k) != now.get(k))
        if changed:
            told = "; ".join(f"{k} was {before.get(k)!r}, now {now.get(k)!r}" for k in changed)
            raise StoreError(
                f"{str(self.folder)!r} belongs to another run: {told}. Use another folder"
            )

    def plan(self, rows: Iterable[PlannedRow]) -> None:
        """Replace the planned rows; their order is that of `seq`, then as given."""
        with self._db.writing() as db:
            db.execute("DELETE FROM planned")
            db.executemany(
                "INSERT INTO planned VALUES (?, ?, ?, ?, ?)",
                ((r.id, r.seq, r.mode, r.hash, as_text(r.row)) for r in rows),
            )
        self.planned_from = None

    @property
    def planned_from(self) -> dict[str, Any] | None:
        """Where the planned rows came from, as whoever planned them noted; None: not noted."""
        noted = self._noted("planned_from")
        return None if noted is None else dict(noted)

    @planned_from.setter
    def planned_from(self, note: Mapping[str, Any] | None) -> None:
        self._db.set_meta(planned_from=json.dumps(note))

    def absorb(self, other: Path) -> None:
        """Take in another run of the same binding: rows, records, replies and pictures.

        Where both have a record of one round, one with a level wins over one without; otherwise
        the one that is here stays. Absorbing twice changes nothing.

        Raises:
            StoreError: `other` is no run, is bound to something else, or has other rows or
                pictures under the same ids.
        """
        with Store.open(other) as run:
            run.check_binding(self.binding)
            asked = run.criteria
        self.blobs.absorb(run.blobs)  # first: a kill leaves no record without its evidence
        self.ask_for(asked)
        self.planned_from = None
        self._db.absorb(other)

    def planned(self) -> Iterator[PlannedRow]:
        """The planned rows in the manifest's order."""
        with self._db.reading() as db:
            for row in db.execute(
                "SELECT id, mode, hash, row, seq FROM planned ORDER BY seq, rowid"
            ):
                yield _planned(row)

    def standings(self) -> Iterator[tuple[PlannedRow, dict[Criterion, Standing]]]:
        """The planned rows, each with how the last round of its criteria ended.

        Rows without a record come first, then the others, both in the manifest's order: a resumed
        run begins with what is missing, however much stands. Records that are saved meanwhile
        bring no row up again.
        """
        with self._db.reading() as db:
            (newest,) = db.execute("SELECT coalesce(max(rowid), 0) FROM records").fetchone()
        for has_records in (False, True):
            yield from self._standings(newest, has_records)

    def _standings(
        self, newest: int, has_records: bool
    ) -> Iterator[tuple[PlannedRow, dict[Criterion, Standing]]]:
        """Some rows at a time: a cursor left open for a run would keep its log from shrinking."""
        after = (-1, -1)
        while True:
            with self._db.reading() as db:
                which = (*after, newest, has_records, _ROWS_AT_ONCE)
                found = db.execute(_STANDINGS, which).fetchall()
                rows = [list(group) for _, group in itertools.groupby(found, lambda row: row[0])]
                batch = [(_planned(group[0]), _standings(group)) for group in rows]
            if not found:
                return
            after = found[-1][4:6]
            yield from batch

    def is_planned(self, id_: str) -> bool:
        """Whether the manifest has a row of that id."""
        with self._db.reading() as db:
            found = db.execute("SELECT 1 FROM planned WHERE id = ?", (id_,)).fetchone()
        return found is not None

    def planned_counts(self) -> Iterator[tuple[str, Mode, EditType | None, int]]:
        """Planned rows by (editor, mode, type): each with how many there are."""
        with self._db.reading() as db:
            yield from db.execute(
                "SELECT coalesce(json_extract(row, '$.editor'), ''), mode,"
                " json_extract(row, '$.type'), count(*) FROM planned GROUP BY 1, 2, 3"
            )

    def distinct(self, field: Literal["judge_returned_model", "endpoint"]) -> list[str]:
        """The different values of a field over all planned rows' records, sorted."""
        with self._db.reading() as db:
            found = db.execute(
                f"SELECT DISTINCT json_extract(r.record, '$.{field}') AS value"
                " FROM records r JOIN planned p ON r.id = p.id WHERE value != '' ORDER BY value"
            ).fetchall()
        return [str(value) for (value,) in found]

    def sizes_wh(self) -> dict[str, tuple[int, int]]:
        """Width and height of each judged row's source, by id, where it could be read."""
        with self._db.reading() as db:
            found = db.execute(
                "SELECT id, json_extract(inputs, '$.source_wh') FROM records"
                " WHERE json_extract(inputs, '$.source_wh') IS NOT NULL"
            ).fetchall()
            return {id_: tuple(json.loads(size)) for id_, size in found}

    def save(
        self,
        record: Record,
        *,
        round_: int,
        inputs: Mapping[str, Any],
        replies: Iterable[Mapping[str, Any]],
    ) -> None:
        """Keep a record; one of the same round is replaced."""
        texts = [as_text(x) for x in (inputs, record.to_json(), [*replies])]
        with self._db.writing() as db:
            db.execute(
                "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(record.id, record.criterion, round_, record.status, record.reason),
                    *(as_text(record.flags), record.attempts, *texts),
                ),
            )

    def latest(self, id_: str, criterion: Criterion) -> Saved | None:
        """The record of the last round, planned or not."""
        rounds = self.rounds(id_, criterion)
        return rounds[-1] if rounds else None

    def put_thumbnail(self, id_: str, webp: bytes) -> None:
        """Keep a row in small, for lists of rows."""
        with self._db.writing() as db:
            db.execute("INSERT OR REPLACE INTO thumbnails VALUES (?, ?)", (id_, webp))

    def thumbnail(self, id_: str) -> bytes | None:
        """A row in small (WebP), or None where it was not judged."""
        with self._db.reading() as db:
            found = db.execute("SELECT webp FROM thumbnails WHERE id = ?", (id_,)).fetchone()
        return None if found is None else bytes(found[0])

    def rounds(self, id_: str, criterion: Criterion) -> list[Saved]:
        """All rounds of a criterion, oldest first."""
        with self._db.reading() as db:
            found = db.execute(
                "SELECT record, round, inputs, replies FROM records"
                " WHERE id = ? AND criterion = ? ORDER BY round",
                (id_, criterion),
            ).fetchall()
            return [_saved(row) for row in found]

    def records(self) -> Iterator[Record]:
        """The last round of every planned row that has one, in the manifest's order, IF first."""
        return self._records("r.record")

    def outcomes(self) -> Iterator[Record]:
        """The same without texts, evidence and origin: for figures, a fraction in memory."""
        return self._records(_IN_BRIEF)

    def _records(self, column: str) -> Iterator[Record]:
        with self._db.reading() as db:
            for (text,) in db.execute(_RECORDS.format(column)):
                yield Record.from_json(json.loads(text))


def _planned(row: tuple[Any, ...]) -> PlannedRow:
    id_, mode, hash_, text, seq, *_ = row
    return PlannedRow(id=id_, mode=mode, hash=hash_, row=json.loads(text), seq=seq)


def _standings(group: Sequence[tuple[Any, ...]]) -> dict[Criterion, Standing]:
    """Of one planned row's records, oldest first, the last of each criterion."""
    last = {row[6]: row[7:] for row in group if row[6] is not None}
    read = {text: json.loads(text) for text in {columns[-1] for columns in last.values()}}
    return {
        criterion: Standing(
            round=round_,
            reason=reason,
            flags=tuple(json.loads(flags)),
            attempts=attempts,
            inputs=read[inputs],
        )
        for criterion, (round_, reason, flags, attempts, inputs) in last.items()
    }


def _saved(row: tuple[str, int, str, str]) -> Saved:
    record, round_, inputs, replies = row
    return Saved(
        record=Record.from_json(json.loads(record)),
        round=round_,
        inputs=json.loads(inputs),
        replies=tuple(json.loads(replies)),
    )


def _flat(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in data.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat
