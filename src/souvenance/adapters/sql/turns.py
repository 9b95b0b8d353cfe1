"""The lines of a session in SQL, by turn."""

from __future__ import annotations

from souvenance.adapters.sql.engine import NO_LIMIT, SqlSession
from souvenance.adapters.sql.line_rows import FROM, READ, line_of
from souvenance.domain.line import LinePlace, SealedLine
from souvenance.domain.names import Compartment
from souvenance.ports.store import Turns

_LAST = """SELECT turn FROM lines WHERE workspace = ? AND session = ? AND turn IS NOT NULL
    ORDER BY turn DESC LIMIT 1"""
_COUNT = "SELECT count(*) FROM lines WHERE workspace = ? AND session = ? AND turn IS NOT NULL"
_OF_SESSION = """SELECT workspace, owner, namespace, id, kind, session, created_at, occurred_at,
    supersedes, cap, turn, about
    FROM lines WHERE workspace = ? AND owner = ? AND session = ? ORDER BY id"""


class SqlTurns:
    def __init__(self, session: SqlSession) -> None:
        self._session = session
        self._last_turns: dict[tuple[str, str | None], int] = {}

    def turns(self, span: Turns) -> list[SealedLine]:
        where = ["l.workspace = ? AND l.session = ? AND l.turn >= ?"]
        values: list[object] = [span.workspace, span.session, span.first]
        if span.last is not None:
            where.append("l.turn <= ?")
            values.append(span.last)
        if span.owner is not None:
            # An expression, so that no index by owner is preferred to the one by turn.
            where.append("l.owner || '' = ?")
            values.append(span.owner)
        order = "DESC" if span.newest_first else "ASC"
        sql = f"SELECT {READ} {FROM} WHERE {' AND '.join(where)} ORDER BY l.turn {order} LIMIT ? OFFSET ?"
        limit = NO_LIMIT if span.limit is None else span.limit
        return [line_of(row) for row in self._session.rows(sql, (*values, limit, span.offset))]

    def last_turn(self, workspace: str, session: str) -> int:
        place = (workspace, session)
        if place not in self._last_turns:
            found = self._session.row(_LAST, place)
            self._last_turns[place] = found[0] if found else 0
        return self._last_turns[place]

    def count_turns(self, workspace: str, session: str) -> int:
        row = self._session.row(_COUNT, (workspace, session))
        return row[0] if row else 0

    def of_session(self, workspace: str, owner: str, session: str) -> list[LinePlace]:
        rows = self._session.rows(_OF_SESSION, (workspace, owner, session))
        places = [LinePlace(Compartment(*row[:3]), *row[3:]) for row in rows]
        return sorted(places, key=lambda place: (place.compartment, place.id))
