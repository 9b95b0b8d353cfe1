"""The rooms' blinded tokens in SQL: a feed of changes that an index follows."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from mnemon.adapters.sql.engine import Session, listed
from mnemon.domain.names import Room
from mnemon.ports.book import TermsChange

_ROOM = "workspace = ? AND owner = ? AND namespace = ?"
_ADD = """INSERT INTO terms (workspace, owner, namespace, seq, id, tokens, counts)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""


class SqlTerms:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._last: dict[Room, int] = {}

    def add(self, room: Room, line_id: str, tokens: bytes | None, counts: bytes) -> None:
        self._last[room] = self._end(room) + 1
        self._session.run(_ADD, (*room, self._last[room], line_id, tokens, counts))

    def remove(self, room: Room, line_ids: Collection[str]) -> None:
        self._last[room] = self._end(room)
        for marks, ids in listed(line_ids):
            sql = f"DELETE FROM terms WHERE {_ROOM} AND id IN {marks} AND tokens IS NOT NULL RETURNING id"
            for removed in sorted({row[0] for row in self._session.rows(sql, (*room, *ids))}):
                self.add(room, removed, None, b"")

    def delete_room(self, room: Room) -> None:
        self._last.pop(room, None)
        self._session.run(f"DELETE FROM terms WHERE {_ROOM}", room)

    def _end(self, room: Room) -> int:
        """The number of the last change, whatever was removed since it was looked up."""
        if room in self._last:
            return self._last[room]
        found = self._session.row(f"SELECT MAX(seq) FROM terms WHERE {_ROOM}", room)
        return (found[0] if found else None) or 0

    def since(self, room: Room, seq: int) -> Iterable[TermsChange]:
        sql = f"SELECT seq, id, tokens, counts FROM terms WHERE {_ROOM} AND seq > ? ORDER BY seq"
        return map(TermsChange._make, self._session.rows(sql, (*room, seq)))
