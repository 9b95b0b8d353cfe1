"""The lines about peers in SQL."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from souvenance.adapters.sql.engine import NO_LIMIT, ROOM, SqlRow, SqlSession, listed, marks
from souvenance.adapters.sql.line_rows import FROM, READ, STANDS, line_of
from souvenance.domain.line import SealedLine
from souvenance.domain.names import Compartment
from souvenance.ports.store import Views

_VIEW = f"""SELECT {READ} {FROM} WHERE l.workspace = ? AND l.id >= ? AND l.id <= ? AND l.about IS NOT NULL
    ORDER BY l.id, l.owner, l.namespace"""
"""From and up to the same id, and in order, so that the index by id is preferred to the key."""

_ALIKE = f"""SELECT {READ} {FROM} WHERE l.workspace = ? AND l.likeness = ?
    AND l.owner || '' = ? AND l.namespace || '' = ? AND l.about || '' = ?
    AND {STANDS} ORDER BY l.id LIMIT 1"""
"""Names are part of an expression, so that the index by likeness is preferred to those by name."""

_REINFORCE = f"UPDATE lines SET times = times + ? WHERE {ROOM} AND id = ?"


class SqlViews:
    def __init__(self, session: SqlSession) -> None:
        self._session = session

    def views(self, span: Views) -> list[SealedLine]:
        found = sorted(self._views(span), key=lambda row: (row[3], *row[:3]), reverse=True)
        return [line_of(row) for row in found[: span.limit]]

    def _views(self, span: Views) -> Iterator[SqlRow]:
        """What each index gives in its order: with both ends known kinds apart, else all kinds together."""
        apart = span.owner is not None and span.about is not None
        all_kinds = tuple(set(span.kinds))
        for kinds in [(kind,) for kind in all_kinds] if apart or not all_kinds else [all_kinds]:
            where, values = "l.about IS NOT NULL", [span.workspace]
            for column, name in (("owner", span.owner), ("about", span.about)):
                if name is not None:
                    where += f" AND l.{column} = ?"
                    values.append(name)
            where += f" AND l.kind IN {marks(kinds)} AND {STANDS}"
            values.extend(kinds)
            if span.namespaces is not None:
                # No index is chosen for this, and its selectivity is known all the same.
                where += f" AND (l.namespace IN {marks(span.namespaces)}) IS TRUE"
                values.extend(span.namespaces)
            if span.sessions is None:
                yield from self._newest(where, values, span.limit)
            else:
                for some, sessions in listed(span.sessions):
                    yield from self._newest(
                        f"{where} AND l.session IN {some}", [*values, *sessions], span.limit
                    )

    def _newest(self, where: str, values: list[str], limit: int | None) -> list[SqlRow]:
        sql = f"""SELECT {READ} {FROM} WHERE l.workspace = ? AND {where}
            ORDER BY l.id DESC, l.owner DESC, l.namespace DESC LIMIT ?"""
        return self._session.rows(sql, (*values, NO_LIMIT if limit is None else limit))

    def view(
        self, workspace: str, line_id: str, namespaces: Collection[str] | None = None
    ) -> SealedLine | None:
        found = map(line_of, self._session.rows(_VIEW, (workspace, line_id, line_id)))
        return next(
            (line for line in found if namespaces is None or line.compartment.namespace in namespaces), None
        )

    def alike(self, compartment: Compartment, about: str, likeness: bytes) -> SealedLine | None:
        row = self._session.row(
            _ALIKE, (compartment.workspace, likeness, compartment.owner, compartment.namespace, about)
        )
        return None if row is None else line_of(row)

    def reinforce(self, compartment: Compartment, line_id: str, times: int) -> None:
        self._session.run(_REINFORCE, (times, *compartment, line_id))
