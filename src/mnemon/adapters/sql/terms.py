"""The rooms' blinded tokens in SQL: a feed of changes that an index follows."""

from __future__ import annotations

from collections.abc import Iterable

from mnemon.adapters.sql.engine import Session
from mnemon.domain.names import Room
from mnemon.ports.book import TermsChange

_ROOM = "workspace = ? AND owner = ? AND namespace = ?"
_ADD = f"""INSERT INTO terms (workspace, owner, namespace, seq, id, tokens, counts)
    VALUES (?, ?, ?, (SELECT COALESCE(MAX(seq), 0) + 1 FROM terms WHERE {_ROOM}), ?, ?, ?)"""


class SqlTerms:
    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, room: Room, line_id: str, tokens: bytes, counts: bytes) -> None:
        self._session.run(_ADD, (*room, *room, line_id, tokens, counts))

    def remove(self, room: Room, line_id: str) -> None:
        if self._session.run(f"DELETE FROM terms WHERE {_ROOM} AND id = ?", (*room, line_id)):
            self._session.run(_ADD, (*room, *room, line_id, None, b""))

    def delete_room(self, room: Room) -> None:
        self._session.run(f"DELETE FROM terms WHERE {_ROOM}", room)

    def since(self, room: Room, seq: int) -> Iterable[TermsChange]:
        sql = f"SELECT seq, id, tokens, counts FROM terms WHERE {_ROOM} AND seq > ? ORDER BY seq"
        return map(TermsChange._make, self._session.rows(sql, (*room, seq)))
