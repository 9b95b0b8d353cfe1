"""Lines and their invalidations in SQL."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from souvenance.adapters.sql.citations import SqlCitations
from souvenance.adapters.sql.engine import ROOM, SqlRow, listed
from souvenance.adapters.sql.line_rows import COLUMNS, FROM, GET, READ, STANDS, line_of, row_of
from souvenance.adapters.sql.turns import SqlTurns
from souvenance.adapters.sql.views import SqlViews
from souvenance.domain.line import PROFILE, TOMBSTONE, SealedLine
from souvenance.domain.names import Compartment
from souvenance.ports.store import TurnSpan

_APPEND = f"""INSERT INTO lines ({", ".join(COLUMNS)}) VALUES ({", ".join("?" * len(COLUMNS))})
    ON CONFLICT DO NOTHING"""
_OF_ROOM = f"SELECT {READ} {FROM} WHERE l.workspace = ? AND l.owner = ? AND l.namespace = ?"
_NEXT_NAMESPACE = """SELECT namespace FROM lines
    WHERE workspace = ? AND owner = ? AND namespace > ? ORDER BY namespace LIMIT 1"""
_INVALIDATE = f"""INSERT INTO invalidations (workspace, owner, namespace, target, by_id)
    SELECT workspace, owner, namespace, id, ? FROM lines WHERE {ROOM} AND id = ? ON CONFLICT DO NOTHING"""
_OF_LINES = {"invalidations": "target", "citations": "id", "lines": "id"}
"""The tables that tell of a line, and where its id stands there; the lines themselves come last."""


class SqlLines(SqlTurns, SqlViews, SqlCitations):
    def append(self, line: SealedLine) -> bool:
        appended = self._session.run(_APPEND, row_of(line)) == 1
        if line.turn is not None:
            self._last_turns.pop((line.compartment.workspace, line.session), None)
        return appended

    def get(self, compartment: Compartment, line_id: str) -> SealedLine | None:
        row = self._session.row(GET, (*compartment, line_id))
        return None if row is None else line_of(row)

    def get_all(self, compartment: Compartment, line_ids: Collection[str]) -> list[SealedLine]:
        return [
            line_of(row)
            for marks, some in listed(line_ids)
            for row in self._session.rows(
                f"{_OF_ROOM} AND l.id IN {marks} ORDER BY l.id", (*compartment, *some)
            )
        ]

    def walk(self, span: TurnSpan) -> list[SealedLine]:
        found: list[SealedLine] = []
        for namespace in sorted(span.namespaces):
            found.extend(line_of(row) for row in self._select(READ, namespace, span))
        found.sort(key=lambda line: (line.id, line.compartment.namespace), reverse=span.newest_first)
        return found[: span.limit]

    def ids(self, span: TurnSpan) -> list[str]:
        found = [row[0] for namespace in span.namespaces for row in self._select("l.id", namespace, span)]
        return sorted(found, reverse=span.newest_first)[: span.limit]

    def _select(self, columns: str, namespace: str, span: TurnSpan) -> Iterator[SqlRow]:
        where = ["l.workspace = ? AND l.owner = ? AND l.namespace = ?"]
        values: list[object] = [span.workspace, span.owner, namespace]
        if span.after is not None:
            last_id, last_namespace = span.after
            where.append("l.id >= ?" if namespace > last_namespace else "l.id > ?")
            values.append(last_id)
        if span.before is not None:
            where.append("l.id < ?")
            values.append(span.before)
        if span.profile:
            where.append(f"l.kind = '{PROFILE}'")
        if not span.history:
            where.append(f"{STANDS} AND l.kind <> ?")
            values.append(TOMBSTONE)
        order = f"ORDER BY l.id {'DESC' if span.newest_first else 'ASC'} LIMIT ?"
        sql = f"SELECT {columns} {FROM} WHERE {' AND '.join(where)}"
        if span.sessions is None:
            yield from self._session.rows(f"{sql} {order}", (*values, span.limit))
            return
        for marks, sessions in listed(span.sessions):
            yield from self._session.rows(
                f"{sql} AND l.session IN {marks} {order}", (*values, *sessions, span.limit)
            )

    def invalidate(self, compartment: Compartment, target: str, by: str) -> bool:
        return self._session.run(_INVALIDATE, (by, *compartment, target)) == 1

    def annotate(self, compartment: Compartment, line_id: str, metadata: str) -> bool:
        sql = f"UPDATE lines SET metadata = ? WHERE {ROOM} AND id = ?"
        return self._session.run(sql, (metadata, *compartment, line_id)) == 1

    def delete(self, compartment: Compartment, line_ids: Collection[str]) -> int:
        self._last_turns.clear()
        deleted = 0
        for marks, ids in listed(line_ids):
            for table, column in _OF_LINES.items():
                sql = f"DELETE FROM {table} WHERE {ROOM} AND {column} IN {marks}"
                changed = self._session.run(sql, (*compartment, *ids))
            deleted += changed
        return deleted

    def delete_compartment(self, compartment: Compartment) -> int:
        self._last_turns.clear()
        for table in _OF_LINES:
            deleted = self._session.run(f"DELETE FROM {table} WHERE {ROOM}", compartment)
        return deleted

    def count(self, compartment: Compartment) -> int:
        row = self._session.row(f"SELECT count(*) FROM lines WHERE {ROOM}", compartment)
        return row[0] if row else 0

    def namespaces(self, workspace: str, owner: str) -> list[str]:
        found: list[str] = []
        while row := self._session.row(_NEXT_NAMESPACE, (workspace, owner, found[-1] if found else "")):
            found.append(row[0])
        return found

    def compartments(self) -> list[Compartment]:
        sql = "SELECT DISTINCT workspace, owner, namespace FROM lines ORDER BY workspace, owner, namespace"
        return [Compartment(*row) for row in self._session.rows(sql)]
