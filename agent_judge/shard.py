"""Shares of a manifest for several machines: which share a row is in depends on its id alone."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from agent_judge.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Shard:
    """The `index`-th of `count` shares, from 1."""

    index: int
    count: int

    def holds(self, id_: str) -> bool:
        """Whether a row of that id is in this share.

        Example:
            >>> [Shard(index=i, count=3).holds("a") for i in (1, 2, 3)].count(True)
            1
        """
        digest = hashlib.sha256(id_.encode()).digest()
        return int.from_bytes(digest[:8]) % self.count == self.index - 1


def parse_shard(text: str | None) -> Shard | None:
    """`I/N` as a shard; None for None.

    Raises:
        InputError: anything else than whole numbers with 1 <= I <= N.
    """
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text.strip())
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise InputError(f"--shard {text!r}: expected I/N with 1 <= I <= N, for example 2/8")
    return Shard(index=int(found[1]), count=int(found[2]))
