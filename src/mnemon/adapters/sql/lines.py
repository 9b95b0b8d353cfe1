"""Lines and their invalidations in SQL."""

from __future__ import annotations

from mnemon.adapters.sql.engine import Session, SqlRow, as_bytes
from mnemon.domain.line import PROFILE, TOMBSTONE, SealedLine
from mnemon.domain.names import Room
from mnemon.ports.book import Span

_COLUMNS = """workspace, owner, namespace, id, kind, session, created_at, occurred_at, supersedes, cap,
    metadata, epoch, sealed"""
_READ = ", ".join(f"l.{column.strip()}" for column in _COLUMNS.split(",")) + ", i.by_id"
_ROOM = "workspace = ? AND owner = ? AND namespace = ?"

_APPEND = (
    f"INSERT INTO lines ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
_FROM = """FROM lines l LEFT JOIN invalidations i
    ON i.workspace = l.workspace AND i.owner = l.owner AND i.namespace = l.namespace AND i.target = l.id"""
_GET = f"SELECT {_READ} {_FROM} WHERE l.workspace = ? AND l.owner = ? AND l.namespace = ? AND l.id = ?"
_NEXT_NAMESPACE = """SELECT namespace FROM lines
    WHERE workspace = ? AND owner = ? AND namespace > ? ORDER BY namespace LIMIT 1"""
_INVALIDATE = f"""INSERT INTO invalidations (workspace, owner, namespace, target, by_id)
    SELECT workspace, owner, namespace, id, ? FROM lines WHERE {_ROOM} AND id = ? ON CONFLICT DO NOTHING"""


class SqlLines:
    def __init__(self, session: Session) -> None:
        self._session = session

    def append(self, line: SealedLine) -> bool:
        values = (
            *line.room,
            line.id,
            line.kind,
            line.session,
            line.created_at,
            line.occurred_at,
            line.supersedes,
            line.cap,
            line.metadata,
            line.epoch,
            line.sealed,
        )
        return self._session.run(_APPEND, values) == 1

    def get(self, room: Room, line_id: str) -> SealedLine | None:
        row = self._session.row(_GET, (*room, line_id))
        return None if row is None else _line(row)

    def walk(self, span: Span) -> list[SealedLine]:
        found: list[SealedLine] = []
        for namespace in sorted(span.namespaces):
            found.extend(_line(row) for row in self._select(_READ, namespace, span))
        found.sort(key=lambda line: (line.id, line.room.namespace), reverse=span.newest_first)
        return found[: span.limit]

    def ids(self, span: Span) -> list[str]:
        found = [row[0] for namespace in span.namespaces for row in self._select("l.id", namespace, span)]
        return sorted(found, reverse=span.newest_first)[: span.limit]

    def _select(self, columns: str, namespace: str, span: Span) -> list[SqlRow]:
        if span.sessions is not None and not span.sessions:
            return []
        where = ["l.workspace = ? AND l.owner = ? AND l.namespace = ?"]
        values: list[object] = [span.workspace, span.owner, namespace]
        if span.after is not None:
            last_id, last_namespace = span.after
            where.append("l.id >= ?" if namespace > last_namespace else "l.id > ?")
            values.append(last_id)
        if span.before is not None:
            where.append("l.id < ?")
            values.append(span.before)
        if span.sessions is not None:
            marks = ", ".join("?" * len(span.sessions))
            where.append(f"l.session IN ({marks})")
            values.extend(span.sessions)
        if span.profile:
            where.append(f"l.kind = '{PROFILE}'")
        if not span.history:
            where.append("i.by_id IS NULL AND l.kind <> ?")
            values.append(TOMBSTONE)
        order = "DESC" if span.newest_first else "ASC"
        sql = f"SELECT {columns} {_FROM} WHERE {' AND '.join(where)} ORDER BY l.id {order} LIMIT ?"
        return self._session.rows(sql, (*values, span.limit))

    def invalidate(self, room: Room, target: str, by: str) -> bool:
        return self._session.run(_INVALIDATE, (by, *room, target)) == 1

    def delete(self, room: Room, line_id: str) -> bool:
        self._session.run(f"DELETE FROM invalidations WHERE {_ROOM} AND target = ?", (*room, line_id))
        return self._session.run(f"DELETE FROM lines WHERE {_ROOM} AND id = ?", (*room, line_id)) == 1

    def delete_room(self, room: Room) -> int:
        self._session.run(f"DELETE FROM invalidations WHERE {_ROOM}", room)
        return self._session.run(f"DELETE FROM lines WHERE {_ROOM}", room)

    def count(self, room: Room) -> int:
        row = self._session.row(f"SELECT count(*) FROM lines WHERE {_ROOM}", room)
        return row[0] if row else 0

    def namespaces(self, workspace: str, owner: str) -> list[str]:
        found: list[str] = []
        while row := self._session.row(_NEXT_NAMESPACE, (workspace, owner, found[-1] if found else "")):
            found.append(row[0])
        return found

    def rooms(self) -> list[Room]:
        sql = "SELECT DISTINCT workspace, owner, namespace FROM lines ORDER BY workspace, owner, namespace"
        return [Room(*row) for row in self._session.rows(sql)]


def _line(row: SqlRow) -> SealedLine:
    return SealedLine(
        room=Room(row[0], row[1], row[2]),
        id=row[3],
        kind=row[4],
        session=row[5],
        created_at=row[6],
        occurred_at=row[7],
        supersedes=row[8],
        cap=row[9],
        metadata=row[10],
        epoch=row[11],
        sealed=as_bytes(row[12]),
        invalidated_by=row[13],
    )
