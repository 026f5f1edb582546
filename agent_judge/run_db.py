"""`run.db`, the SQLite file (WAL) of a run folder: its tables, its lock, and how two are merged."""

from __future__ import annotations

import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import IO, Self

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
        except OSError as err:
            raise StoreError(f"cannot write to {str(folder)!r}: {err.strerror}") from err
        with ExitStack() as undo:
            undo.enter_context(lock)
            connection = undo.enter_context(closing(_connect(folder / "run.db")))
            db = cls(folder, connection, lock)
            with db.writing() as writing:
                writing.executescript(_SCHEMA)
            db.check_format(db.meta("format") or FORMAT)
            undo.pop_all()  # it worked: database and lock stay open until `close`
        return db

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The database of a run, to read from.

        Raises:
            StoreError: there is no run in the folder, or it is of another format.
        """
        if not (folder / "run.db").is_file():
            raise StoreError(f"no run in {str(folder)!r}: pass the folder given to `run --out`")
        with ExitStack() as undo:
            connection = undo.enter_context(closing(_connect(folder / "run.db")))
            db = cls(folder, connection, None)
            db.check_format(db.meta("format"))
            undo.pop_all()
        return db

    def check_format(self, found: str | None) -> None:
        """Refuse tables of another format.

        Raises:
            StoreError: `found` is not this program's.
        """
        if found != FORMAT:
            folder = str(self.folder)
            raise StoreError(f"{folder!r} was written by another version of this program")

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
            StoreError: SQLite cannot write.
        """
        try:
            with self._connection:
                yield self._connection
        except sqlite3.Error as err:
            raise StoreError(f"cannot write to {str(self.folder)!r}: {err}") from err

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """What is read inside may be damaged.

        Raises:
            StoreError: SQLite cannot read, or the JSON in a cell is none.
        """
        try:
            yield self._connection
        except (sqlite3.Error, ValueError) as err:
            raise StoreError(f"cannot read the run in {str(self.folder)!r}: {err}") from err

    def meta(self, key: str) -> str | None:
        """A text stored under `key`, or None."""
        with self.reading() as db:
            found = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if found is None else str(found[0])

    def set_meta(self, key: str, value: str) -> None:
        """Store a text under `key`."""
        with self.writing() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def absorb(self, other: Path) -> None:
        """Take in the tables of the run in another folder, but for its `meta`.

        Where both have a record of one round, one with a level wins over one without; otherwise
        the one that is here stays.
        """
        with self.writing() as db:
            db.execute("ATTACH ? AS other", (str(other / "run.db"),))
        with self.writing() as db:
            for statement in _ABSORB:
                db.execute(statement)
        with self.writing() as db:
            db.execute("DETACH other")


def _lock(folder: Path) -> IO[str]:
    lock = (folder / "run.lock").open("a", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as err:
        lock.close()
        raise StoreError(f"{str(folder)!r} is in use by another run: wait for it to end") from err
    return lock


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
    except sqlite3.Error as err:
        db.close()
        raise StoreError(f"cannot open {str(path)!r}: {err}") from err
    return db
