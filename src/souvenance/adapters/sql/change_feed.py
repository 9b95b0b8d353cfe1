"""A compartment's changes of terms, in order. All but the last of them are kept in packs too, many to a row,
as a room is read from those several times sooner.

A pack says what the rows between the one before it and its own `seq` say, and nothing else.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

import msgspec

from souvenance.adapters.sql.engine import COMPARTMENT, SqlSession, as_bytes
from souvenance.decoders import settled
from souvenance.domain.change_feed import Feed, joined, packed
from souvenance.domain.names import Compartment

SIZE = 256
"""How many changes are put into a pack."""
EVERY = 64
"""How many changes pass until it is looked whether there are enough."""

_CHANGES = f"""SELECT seq, id, tokens, counts, session, turn, at FROM terms
    WHERE {COMPARTMENT} AND seq > ? AND seq <= ? ORDER BY seq"""
_LAST = (1 << 63) - 1
_PACKS = f"SELECT seq, changes FROM packs WHERE {COMPARTMENT} ORDER BY seq"
_BEFORE = f"SELECT MAX(seq) FROM packs WHERE {COMPARTMENT} AND seq < ?"
_WITH = f"SELECT MIN(seq) FROM packs WHERE {COMPARTMENT} AND seq >= ?"
_ENOUGH = f"SELECT seq FROM terms WHERE {COMPARTMENT} AND seq > ? ORDER BY seq LIMIT 1 OFFSET {SIZE - 1}"
_PACK = """INSERT INTO packs (workspace, owner, namespace, seq, changes) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (workspace, owner, namespace, seq) DO UPDATE SET changes = excluded.changes"""


class SqlFeed:
    def __init__(self, session: SqlSession) -> None:
        self._session = session

    def since(self, compartment: Compartment, seq: int) -> Feed:
        feeds = []
        if seq <= 0:
            with suppress(msgspec.DecodeError):  # What can't be read from a pack is read from the rows.
                for end, changes in self._session.rows(_PACKS, compartment):
                    feeds.append(msgspec.msgpack.decode(as_bytes(changes), type=settled(Feed)))
                    seq = end
        feeds.append(self._between(compartment, seq, _LAST))
        return joined(feeds)

    def extend(self, compartment: Compartment, seq: int) -> None:
        """Pack what comes next, if it is looked for at change `seq`, and is enough."""
        if seq % EVERY == 0:
            end = self._seq(_BEFORE, compartment, _LAST)
            last = self._session.row(_ENOUGH, (*compartment, end))
            if last is not None:
                self._pack(compartment, end, last[0])

    def mend(self, compartment: Compartment, changed: Collection[int]) -> None:
        """Let the packs say what the rows say now of these changes."""
        for end in sorted({self._seq(_WITH, compartment, seq) for seq in changed} - {0}):
            self._pack(compartment, self._seq(_BEFORE, compartment, end), end)

    def _pack(self, compartment: Compartment, after: int, last: int) -> None:
        self._session.run(
            _PACK, (*compartment, last, msgspec.msgpack.encode(self._between(compartment, after, last)))
        )

    def _between(self, compartment: Compartment, after: int, last: int) -> Feed:
        return packed(self._session.rows(_CHANGES, (*compartment, after, last)))

    def _seq(self, sql: str, compartment: Compartment, seq: int) -> int:
        (found,) = self._session.row(sql, (*compartment, seq)) or (None,)
        return found or 0
