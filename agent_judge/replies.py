"""Judges' replies by the request that they answer: what was paid for once is not asked again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agent_judge.run_db import RunDb, as_text


class Replies:
    """The cache of judges' replies. Only replies that came are in it, never failures."""

    def __init__(self, db: RunDb) -> None:
        self._db = db

    async def get(self, key: str) -> dict[str, Any] | None:
        """The reply under a request's key, or None."""
        with self._db.reading() as db:
            found = db.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
            return None if found is None else dict(json.loads(found[0]))

    def put(self, key: str, reply: Mapping[str, Any]) -> None:
        """Keep a reply under its request's key."""
        text = as_text(reply)
        with self._db.writing() as db:
            db.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", (key, text))
