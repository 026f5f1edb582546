"""`run.db`, the SQLite file (WAL) of a run folder: its tables, its lock, and how two are merged."""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import IO, Any, Self
from urllib.parse import quote

from agent_judge.errors import StoreError

FORMAT = "2"
"""Of the tables and the JSON in them."""
_SCHEMA = """  -- of records, what resume asks for comes first: the rest may be many pages
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS planned (
    id TEXT PRIMARY KEY, seq INTEGER NOT NULL, mode TEXT NOT NULL, hash TEXT NOT NULL,
    row TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS planned_seq ON planned (seq);
CREATE TABLE IF NOT EXISTS records (
    id TEXT NOT NULL, criterion TEXT NOT NULL, round INTEGER NOT NULL,
    status TEXT NOT NULL, reason TEXT, flags TEXT NOT NULL, attempts INTEGER NOT NULL,
    inputs TEXT NOT NULL, record TEXT NOT NULL, replies TEXT NOT NULL,
    PRIMARY KEY (id, criterion, round));
CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS thumbnails (id TEXT PRIMARY KEY, webp BLOB NOT NULL);
"""
_BEGINNING = frozenset({"meta", "planned", "records", "replies", "thumbnails"})
"""What a run that was cut off at its first breath may hold."""
_DAMAGED = (sqlite3.Error, ValueError, TypeError, LookupError, AttributeError)
"""What a cell raises that does not hold what was written: SQLite sees damage of its pages only."""
_OTHER_ROW = """
SELECT id FROM planned p JOIN other.planned o USING (id)
WHERE p.hash != o.hash OR json_extract(p.row, '$.editor') IS NOT json_extract(o.row, '$.editor')
"""
_OTHER_PICTURES = """
SELECT id FROM records r JOIN other.records o USING (id, criterion, round)
JOIN planned USING (id) JOIN other.planned USING (id)
WHERE json_extract(r.inputs, '$.source[2]') != json_extract(o.inputs, '$.source[2]')
OR json_extract(r.inputs, '$.edited[2]') != json_extract(o.inputs, '$.edited[2]')
OR json_extract(r.inputs, '$.reference[2]') != json_extract(o.inputs, '$.reference[2]')
"""
"""Of a picture that one of the two found missing there is no hash: that is no other picture."""
_ABSORB = (
    "INSERT OR IGNORE INTO planned SELECT * FROM other.planned ORDER BY seq, rowid",
    """INSERT INTO records SELECT * FROM other.records WHERE true
    ON CONFLICT (id, criterion, round) DO UPDATE
    SET status = excluded.status, reason = excluded.reason, flags = excluded.flags,
    attempts = excluded.attempts, inputs = excluded.inputs, record = excluded.record,
    replies = excluded.replies
    WHERE records.status != 'scored' AND excluded.status = 'scored'""",
    "INSERT OR IGNORE INTO replies SELECT * FROM other.replies",
    "INSERT OR IGNORE INTO thumbnails SELECT * FROM other.thumbnails",
)


class RunDb:
    """An open `run.db`; one that was opened by `create` holds the folder's lock."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, lock: IO[str] | None) -> None:
        self.folder = folder
        self._connection = connection
        self._lock = lock
        self._file = _identity(folder / "run.db")

    @classmethod
    def create(cls, folder: Path) -> Self:
        """The database of a new run, or of one to be gone on with; the folder is made.

        Raises:
            StoreError: not writable, in use, or the folder holds something else.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            fresh = not (folder / "run.db").exists()
            if fresh and any(p.name not in {"run.lock"} for p in folder.iterdir()):
                raise StoreError(
                    f"{str(folder)!r} holds other files: pass an empty folder as --out"
                )
            lock = _lock(folder)
        except FileExistsError as err:
            raise StoreError(f"{str(folder)!r} is no folder: pass a new one as --out") from err
        except OSError as err:
            raise StoreError(f"cannot write to {str(folder)!r}: {err.strerror}") from err
        with ExitStack() as undo:
            undo.enter_context(lock)
            connection = undo.enter_context(closing(_connect(folder / "run.db")))
            db = cls(folder, connection, lock)
            db._check_tables()
            with db.writing() as writing:
                writing.execute("PRAGMA journal_mode = WAL")
                writing.execute("PRAGMA synchronous = NORMAL")
                writing.executescript(_SCHEMA)
            undo.pop_all()  # it worked: database and lock stay open until `close`
        return db

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The database of a run, to read from.

        Raises:
            StoreError: there is no run in the folder, or it is of another format.
        """
        if not is_begun(folder):
            raise StoreError(f"no run in {str(folder)!r}: pass the folder given to `run --out`")
        with ExitStack() as undo:
            connection = undo.enter_context(closing(_connect(folder / "run.db")))
            db = cls(folder, connection, None)
            db._check_tables()
            undo.pop_all()
        return db

    def _check_tables(self) -> None:
        """Refuse a run of another format and the tables of another program, before any change."""
        folder = str(self.folder)
        with self.reading() as db:
            found = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        tables = {name for (name,) in found}
        if "meta" in tables and self.meta("binding") is not None:
            if self.meta("format") != FORMAT:
                raise StoreError(f"{folder!r} was written by another version of this program")
        elif not tables <= _BEGINNING:
            raise StoreError(f"{folder!r} holds a run.db of another program: use another --out")

    def close(self) -> None:
        """Let go of the database and the lock."""
        self._connection.close()
        if self._lock is not None:
            self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is kept, or nothing.

        Raises:
            StoreError: SQLite cannot write, or would write into a file that was removed.
        """
        try:
            with self._connection:
                yield self._connection
        except sqlite3.Error as err:
            raise StoreError(f"cannot write to {str(self.folder)!r}: {err}") from err
        if self._file != _identity(self.folder / "run.db"):  # SQLite goes on without a word
            told = "was removed or replaced under this run, and nothing more can be kept"
            raise StoreError(f"{str(self.folder)!r} {told}")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """What is read inside may be damaged.

        Raises:
            StoreError: SQLite cannot read, or a cell does not hold what was written.
        """
        try:
            yield self._connection
        except _DAMAGED as err:
            raise StoreError(
                f"cannot read the run in {str(self.folder)!r}: {err}. Restore it from a copy, or "
                f"judge into another folder"
            ) from err

    def meta(self, key: str) -> str | None:
        """A text stored under `key`, or None."""
        with self.reading() as db:
            found = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if found is None else str(found[0])

    def set_meta(self, **values: str) -> None:
        """Store texts under their keys, all or none."""
        with self.writing() as db:
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())

    def absorb(self, other: Path) -> None:
        """Take in the tables of the run in another folder, but for its `meta`.

        Where both have a record of one round, one with a level wins over one without; otherwise
        the one that is here stays.

        Raises:
            StoreError: under one id the two judged different rows, or it cannot be done.
        """
        try:
            self._connection.execute("ATTACH ? AS other", (_address(other / "run.db"),))
            with self._connection as db:
                for told, query in (
                    ("another row", _OTHER_ROW),
                    ("other pictures", _OTHER_PICTURES),
                ):
                    if found := db.execute(f"{query} LIMIT 1").fetchone():
                        raise StoreError(
                            f"{found[0]!r} stands for {told} in {str(other)!r} than in "
                            f"{str(self.folder)!r}: merge runs of one manifest as it is now, "
                            "into a new folder"
                        )
                for statement in _ABSORB:
                    db.execute(statement)
            self._connection.execute("DETACH other")
        except sqlite3.Error as err:  # it does not say in which of the two
            told = f"cannot take {str(other)!r} into {str(self.folder)!r}: {err}"
            raise StoreError(told) from err


def as_text(data: Any) -> str:  # noqa: ANN401 - JSON
    """JSON that every reader takes: half a surrogate pair, which no UTF-8 holds, becomes `?`."""
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "replace").decode()


def is_begun(folder: Path) -> bool:
    """Whether a folder holds a run; a kill or a full disk may have left an empty `run.db` of one.

    Raises:
        StoreError: there is a file that cannot be read.
    """
    path = folder / "run.db"
    if not path.is_file():
        return False
    with closing(_connect(path)) as db:
        try:
            tables = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone()
            found = tables and db.execute("SELECT 1 FROM meta WHERE key = 'binding'").fetchone()
        except sqlite3.Error as err:
            raise StoreError(f"cannot read the run in {str(folder)!r}: {err}") from err
    return found is not None


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file lies there; None for none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _lock(folder: Path) -> IO[str]:
    lock = (folder / "run.lock").open("a", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as err:
        lock.close()
        raise StoreError(f"{str(folder)!r} is in use by another run: wait for it to end") from err
    return lock


def _connect(path: Path) -> sqlite3.Connection:
    try:
        return sqlite3.connect(_address(path), uri=True)
    except sqlite3.Error as err:
        raise StoreError(f"cannot open {str(path)!r}: {err}") from err


def _address(path: Path) -> str:
    """The file for SQLite; in a folder that cannot be written to it can only be looked at.

    Raises:
        StoreError: such a folder holds a run that was cut off, and SQLite would have to write there
            to read what lies in its log.
    """
    address = f"file://{quote(os.fsencode(path.absolute()))}"
    if not path.exists() or os.access(path.parent, os.W_OK):
        return address
    log, index = (path.with_name(f"{path.name}-{kind}") for kind in ("wal", "shm"))
    if index.exists():
        return f"{address}?mode=ro"
    if log.exists() and log.stat().st_size:
        folder = str(path.parent)
        raise StoreError(f"{folder!r} was cut off and is read-only: copy it to where it is not")
    return f"{address}?immutable=1"
