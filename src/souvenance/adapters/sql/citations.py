"""Which line follows from which, in SQL."""

from __future__ import annotations

from collections.abc import Collection

from souvenance.adapters.sql.engine import ROOM, SqlSession, listed
from souvenance.domain.names import Compartment

_CITE = """INSERT INTO citations (workspace, owner, namespace, id, source) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING"""


class SqlCitations:
    def __init__(self, session: SqlSession) -> None:
        self._session = session

    def cite(self, compartment: Compartment, line_id: str, sources: Collection[str]) -> None:
        for source in sources:
            self._session.run(_CITE, (*compartment, line_id, source))

    def cited(
        self, workspace: str, line_ids: Collection[str], *, compartment: Compartment | None = None
    ) -> dict[str, list[str]]:
        where, place = ("workspace = ?", (workspace,)) if compartment is None else (ROOM, compartment)
        found: dict[str, list[str]] = {}
        for marks, ids in listed(line_ids):
            sql = f"""SELECT DISTINCT id, source FROM citations
                WHERE {where} AND id IN {marks} ORDER BY id, source"""
            for line_id, source in self._session.rows(sql, (*place, *ids)):
                found.setdefault(line_id, []).append(source)
        return found

    def citing(self, workspace: str, sources: Collection[str]) -> list[tuple[Compartment, str]]:
        found: set[tuple[Compartment, str]] = set()
        for marks, some in listed(sources):
            sql = f"""SELECT owner, namespace, id FROM citations
                WHERE workspace = ? AND source IN {marks}"""
            for owner, namespace, line_id in self._session.rows(sql, (workspace, *some)):
                found.add((Compartment(workspace, owner, namespace), line_id))
        return sorted(found)

    def uncite(self, workspace: str, sources: Collection[str]) -> None:
        for marks, some in listed(sources):
            self._session.run(
                f"DELETE FROM citations WHERE workspace = ? AND source IN {marks}", (workspace, *some)
            )
