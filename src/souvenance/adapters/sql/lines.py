"""Lines and their invalidations in SQL."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from operator import attrgetter

from souvenance.adapters.sql.engine import (
    COMPARTMENT,
    NO_LIMIT,
    PLACE,
    SqlRow,
    SqlSession,
    as_bytes,
    condition,
    insert,
    listed,
    marks,
)
from souvenance.domain.line import PROFILE, TOMBSTONE, LinePlace, SealedLine, maker
from souvenance.domain.names import Compartment
from souvenance.domain.retention import Aged, Hidden
from souvenance.ports.store import LineQuery, TurnQuery, ViewQuery

_PLACE = tuple(name for name in LinePlace.__struct_fields__ if name != "compartment")
_STORED = tuple(
    name for name in SealedLine.__struct_fields__ if name not in ("compartment", "invalidated_by")
)
"""Each field of a line is a column of its name."""
COLUMNS = (*Compartment._fields, *_STORED)
_ID = COLUMNS.index("id")
READ = ", ".join(f"l.{column}" for column in COLUMNS) + ", i.by_id"
_REPLACED = """LEFT JOIN invalidations i
    ON i.workspace = l.workspace AND i.owner = l.owner AND i.namespace = l.namespace AND i.target = l.id"""
FROM = f"FROM lines l {_REPLACED}"
STANDS = "i.target IS NULL"
"""Nothing replaced the line. Asked of a column that the tables are joined by: PostgreSQL then knows that most
lines are like that, and walks an index only as far as it must."""
GET = f"SELECT {READ} {FROM} WHERE l.workspace = ? AND l.owner = ? AND l.namespace = ? AND l.id = ?"


def row_of(line: SealedLine) -> SqlRow:
    return (*line.compartment, *_values(line))


_values = attrgetter(*_STORED)


_line = maker(SealedLine, "compartment", *_STORED, "invalidated_by")
_BYTES = [_STORED.index(name) for name in ("sealed", "likeness")]


def line_of(row: SqlRow) -> SealedLine:
    values = list(row[3:])
    for at in _BYTES:
        if values[at] is not None:
            values[at] = as_bytes(values[at])
    return _line(Compartment(*row[:3]), *values)


_VIEW = f"SELECT {READ} {FROM} WHERE l.workspace = ? AND l.id >= ? AND l.id <= ? AND l.about IS NOT NULL"
"""From and up to the same id, and in order, so that the index by id is preferred to the key."""

_ALIKE = f"""SELECT {READ} {FROM} WHERE l.workspace = ? AND l.likeness = ?
    AND l.owner || '' = ? AND l.namespace || '' = ? AND l.about || '' = ?
    AND {STANDS}"""
"""Names are part of an expression, so that the index by likeness is preferred to those by name."""

_REINFORCE = f"UPDATE lines SET times = times + ? WHERE {COMPARTMENT} AND id = ?"


_LAST = """SELECT turn FROM lines WHERE workspace = ? AND session = ? AND turn IS NOT NULL
    ORDER BY turn DESC LIMIT 1"""
_COUNT_TURNS = "SELECT count(*) FROM lines l WHERE l.workspace = ? AND l.session = ? AND l.turn > 0"
_COUNT = "SELECT count(*) FROM lines l WHERE l.workspace = ? AND l.owner = ? AND l.namespace = ?"
_OF_SESSION = f"""SELECT {", ".join((*Compartment._fields, *_PLACE))} FROM lines l
    WHERE l.workspace = ? AND l.owner = ? AND l.session = ?"""

_NEWEST_IDS = f"""SELECT owner, max(id) FROM (SELECT k.owner, (SELECT max(id) FROM lines l
    WHERE l.workspace = k.workspace AND l.owner = k.owner AND l.namespace = k.namespace) AS id
    FROM (SELECT DISTINCT {PLACE} FROM compartment_keys WHERE {{}}) k) ids
    WHERE id IS NOT NULL GROUP BY owner"""
"""By compartment, so that each is one look into the index."""

_NO_TURN = -2
_STILL = " AND (l.expires_at IS NULL OR l.expires_at > ?)"
_NEXT_EXPIRING = """SELECT workspace FROM lines
    WHERE workspace > ? AND expires_at IS NOT NULL ORDER BY workspace LIMIT 1"""
_FIRST_END = "SELECT min(expires_at) FROM lines WHERE workspace = ? AND expires_at <= ?"
_OVER = f"""SELECT {READ} {FROM} WHERE l.workspace = ? AND l.expires_at <= ?
    ORDER BY l.expires_at LIMIT ?"""
_AGED_FROM = f"""FROM (SELECT DISTINCT {PLACE} FROM compartment_keys WHERE workspace = ?) k
    JOIN lines l ON l.workspace = k.workspace AND l.owner = k.owner AND l.namespace = k.namespace"""
"""By compartment, so that each is looked up by id and only as far as it is that old."""


_CITE = insert("citations", f"{PLACE}, id, source", conflict="ON CONFLICT DO NOTHING")
_APPEND = insert("lines", ", ".join((*COLUMNS, "bytes")), conflict="ON CONFLICT DO NOTHING")
_OF_COMPARTMENT = f"SELECT {READ} {FROM} WHERE l.workspace = ? AND l.owner = ? AND l.namespace = ?"
_NEXT_NAMESPACE = """SELECT namespace FROM lines
    WHERE workspace = ? AND owner = ? AND namespace > ? ORDER BY namespace LIMIT 1"""
_INVALIDATE = f"""INSERT INTO invalidations ({PLACE}, target, by_id)
    SELECT {PLACE}, id, ? FROM lines WHERE {COMPARTMENT} AND id = ? ON CONFLICT DO NOTHING"""
_OF_LINES = {"invalidations": "target", "citations": "id", "lines": "id"}
"""The tables that tell of a line, and where its id stands there; the lines themselves come last."""


class SqlLines:
    def __init__(self, session: SqlSession) -> None:
        self._session = session
        self._last_turns: dict[tuple[str, str | None], int] = {}
        self._hidden: Callable[[], Hidden] | None = None

    def hide(self, hidden: Callable[[], Hidden] | None) -> None:
        self._hidden = hidden
        self.__dict__.pop("_showing", None)

    @cached_property
    def _showing(self) -> tuple[str, tuple[object, ...]]:
        """What a condition ends with that finds only what is not hidden, and its values."""
        if self._hidden is None:
            return "", ()
        hidden = self._hidden()
        shown = _STILL
        bounds: tuple[object, ...] = (hidden.now,)
        for where, values in map(_of_age, hidden.aged):
            shown += f" AND NOT (l.workspace = ? AND {where})"
            bounds += (hidden.workspace, *values)
        return shown, bounds

    @property
    def _shown(self) -> str:
        return self._showing[0]

    @property
    def _bounds(self) -> tuple[object, ...]:
        return self._showing[1]

    def expiring(self, now: int, workspace: str | None = None) -> str | None:
        names = self._session.each_next(_NEXT_EXPIRING) if workspace is None else [workspace]
        ends = [(self._session.value(_FIRST_END, (name, now)), name) for name in names]
        return min(((end, name) for end, name in ends if end is not None), default=(0, None))[1]

    def over(self, workspace: str, now: int, most: int) -> list[SealedLine]:
        return [line_of(row) for row in self._session.rows(_OVER, (workspace, now, most))]

    def aged(self, workspace: str, aged: Aged, most: int) -> list[SealedLine]:
        where, values = _of_age(aged)
        sql = f"SELECT {READ} {_AGED_FROM} {_REPLACED} WHERE {where} LIMIT ?"
        return [line_of(row) for row in self._session.rows(sql, (workspace, *values, most))]

    def aged_counted(self, workspace: str, aged: Aged) -> int:
        where, values = _of_age(aged)
        return int(self._session.value(f"SELECT count(*) {_AGED_FROM} WHERE {where}", (workspace, *values)))

    def aged_sessions(self, workspace: str, aged: Aged, after: str, most: int) -> list[str]:
        where, values = _of_age(aged)
        sql = f"""SELECT DISTINCT l.session {_AGED_FROM}
            WHERE {where} AND l.turn IS NOT NULL AND l.session > ? ORDER BY l.session LIMIT ?"""
        return [session for (session,) in self._session.rows(sql, (workspace, *values, after, most))]

    def append(self, line: SealedLine) -> bool:
        appended = self._session.run(_APPEND, (*row_of(line), len(line.sealed))) == 1
        if line.turn is not None:
            self._last_turns.pop((line.compartment.workspace, line.session), None)
        return appended

    def get(self, compartment: Compartment, line_id: str) -> SealedLine | None:
        row = self._session.row(f"{GET}{self._shown}", (*compartment, line_id, *self._bounds))
        return None if row is None else line_of(row)

    def get_all(self, compartment: Compartment, line_ids: Collection[str]) -> list[SealedLine]:
        return [
            line_of(row)
            for listing, some in listed(line_ids)
            for row in self._session.rows(
                f"{_OF_COMPARTMENT} AND l.id IN {listing}{self._shown} ORDER BY l.id",
                (*compartment, *some, *self._bounds),
            )
        ]

    def walk(self, span: LineQuery) -> list[SealedLine]:
        found: list[SealedLine] = []
        for namespace in sorted(span.namespaces):
            found.extend(line_of(row) for row in self._select(READ, namespace, span))
        found.sort(key=lambda line: (line.id, line.compartment.namespace), reverse=span.newest_first)
        return found[: span.limit]

    def ids(self, span: LineQuery) -> list[str]:
        found = [row[0] for namespace in span.namespaces for row in self._select("l.id", namespace, span)]
        return sorted(found, reverse=span.newest_first)[: span.limit]

    def _select(self, columns: str, namespace: str, span: LineQuery) -> Iterator[SqlRow]:
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
        sql = f"SELECT {columns} {FROM} WHERE {' AND '.join(where)}{self._shown}"
        values += self._bounds
        if span.sessions is None:
            yield from self._session.rows(f"{sql} {order}", (*values, span.limit))
            return
        for listing, sessions in listed(span.sessions):
            yield from self._session.rows(
                f"{sql} AND l.session IN {listing} {order}", (*values, *sessions, span.limit)
            )

    def invalidate(self, compartment: Compartment, target: str, by: str) -> bool:
        return self._session.run(_INVALIDATE, (by, *compartment, target)) == 1

    def annotate(self, compartment: Compartment, line_id: str, metadata: str) -> bool:
        sql = f"UPDATE lines SET metadata = ? WHERE {COMPARTMENT} AND id = ?"
        return self._session.run(sql, (metadata, *compartment, line_id)) == 1

    def delete(self, compartment: Compartment, line_ids: Collection[str]) -> int:
        self._last_turns.clear()
        deleted = 0
        for listing, ids in listed(line_ids):
            for table, column in _OF_LINES.items():
                sql = f"DELETE FROM {table} WHERE {COMPARTMENT} AND {column} IN {listing}"
                changed = self._session.run(sql, (*compartment, *ids))
            deleted += changed
        return deleted

    def delete_compartment(self, compartment: Compartment) -> int:
        self._last_turns.clear()
        for table in _OF_LINES:
            deleted = self._session.run(f"DELETE FROM {table} WHERE {COMPARTMENT}", compartment)
        return deleted

    def count(self, compartment: Compartment) -> int:
        return int(self._session.value(f"{_COUNT}{self._shown}", (*compartment, *self._bounds)))

    def namespaces(self, workspace: str, owner: str) -> list[str]:
        return self._session.each_next(_NEXT_NAMESPACE, (workspace, owner))

    def storage(
        self, workspace: str, owner: str | None, namespaces: Collection[str] | None
    ) -> list[tuple[str, str, int, int]]:
        rows = self._stored("owner, namespace", workspace, owner, namespaces)
        return [(of, space, count, size) for of, space, count, size in rows]

    def storage_by_kind(
        self, workspace: str, owner: str | None, namespaces: Collection[str] | None
    ) -> list[tuple[str, int, int]]:
        rows = self._stored("kind", workspace, owner, namespaces)
        return [(kind, count, size) for kind, count, size in rows]

    def _stored(
        self, by: str, workspace: str, owner: str | None, namespaces: Collection[str] | None
    ) -> list[SqlRow]:
        where, values = condition({"l.workspace": workspace, "l.owner": owner, "l.namespace": namespaces})
        sql = f"""SELECT {by}, count(*), CAST(sum(bytes) AS BIGINT) FROM lines l
            WHERE {where}{self._shown} GROUP BY {by} ORDER BY {by}"""
        return self._session.rows(sql, (*values, *self._bounds))

    def compartments(self) -> list[Compartment]:
        rows = self._session.rows(f"SELECT DISTINCT {PLACE} FROM lines ORDER BY {PLACE}")
        return [Compartment(*row) for row in rows]

    def views(self, span: ViewQuery) -> list[SealedLine]:
        found = sorted(self._views(span), key=lambda row: (row[_ID], *row[:3]), reverse=True)
        return [line_of(row) for row in found[: span.limit]]

    def _views(self, span: ViewQuery) -> Iterator[SqlRow]:
        """What each index gives in its order: with both ends known kinds apart, else all kinds together."""
        apart = span.owner is not None and span.about is not None
        all_kinds = tuple(set(span.kinds))
        for kinds in [(kind,) for kind in all_kinds] if apart or not all_kinds else [all_kinds]:
            where, values = condition(
                {"l.workspace": span.workspace, "l.owner": span.owner, "l.about": span.about, "l.kind": kinds}
            )
            where += f" AND l.about IS NOT NULL AND {STANDS}"
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
        sql = f"""SELECT {READ} {FROM} WHERE {where}{self._shown}
            ORDER BY l.id DESC, l.owner DESC, l.namespace DESC LIMIT ?"""
        return self._session.rows(sql, (*values, *self._bounds, NO_LIMIT if limit is None else limit))

    def view(
        self, workspace: str, line_id: str, namespaces: Collection[str] | None = None
    ) -> SealedLine | None:
        sql = f"{_VIEW}{self._shown} ORDER BY l.id, l.owner, l.namespace"
        found = map(line_of, self._session.rows(sql, (workspace, line_id, line_id, *self._bounds)))
        return next(
            (line for line in found if namespaces is None or line.compartment.namespace in namespaces), None
        )

    def observers(
        self, workspace: str, about: str, namespaces: Collection[str] | None
    ) -> list[tuple[str, int, str]]:
        where, values = condition({"l.workspace": workspace, "l.about": about, "l.namespace": namespaces})
        sql = f"""SELECT l.owner, count(*), max(l.id) {FROM} WHERE {where} AND {STANDS}{self._shown}
            GROUP BY l.owner ORDER BY l.owner"""
        rows = self._session.rows(sql, (*values, *self._bounds))
        return [(owner, count, newest) for owner, count, newest in rows]

    def alike(self, compartment: Compartment, about: str, likeness: bytes) -> SealedLine | None:
        workspace, owner, namespace = compartment
        row = self._session.row(
            f"{_ALIKE}{self._shown} ORDER BY l.id LIMIT 1",
            (workspace, likeness, owner, namespace, about, *self._bounds),
        )
        return None if row is None else line_of(row)

    def reinforce(self, compartment: Compartment, line_id: str, times: int) -> None:
        self._session.run(_REINFORCE, (times, *compartment, line_id))

    def turns(self, span: TurnQuery) -> list[SealedLine]:
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
        sql = f"""SELECT {READ} {FROM} WHERE {" AND ".join(where)}{self._shown}
            ORDER BY l.turn {order} LIMIT ? OFFSET ?"""
        limit = NO_LIMIT if span.limit is None else span.limit
        rows = self._session.rows(sql, (*values, *self._bounds, limit, span.offset))
        return [line_of(row) for row in rows]

    def last_turn(self, workspace: str, session: str) -> int:
        place = (workspace, session)
        if place not in self._last_turns:
            self._last_turns[place] = self._session.value(_LAST, place) or 0
        return self._last_turns[place]

    def count_turns(self, workspace: str, session: str) -> int:
        sql = f"{_COUNT_TURNS}{self._shown}"
        return int(self._session.value(sql, (workspace, session, *self._bounds)))

    def activity(
        self,
        workspace: str,
        namespaces: Collection[str] | None,
        since: int,
        step: int,
        owners: Collection[str] | None = None,
    ) -> list[tuple[str, int | None, int, int]]:
        where, values = condition({"l.workspace": workspace, "l.owner": owners, "l.namespace": namespaces})
        said = "coalesce(occurred_at, created_at)"
        sql = f"""SELECT owner, CASE WHEN turn IS NULL THEN {_NO_TURN} WHEN {said} < ? THEN -1
            ELSE ({said} - ?) / ? END AS steps, count(*), max({said}) FROM lines l
            WHERE {where}{self._shown} GROUP BY owner, steps ORDER BY owner, steps"""
        rows = self._session.rows(sql, (since, since, step, *values, *self._bounds))
        return [
            (owner, None if steps == _NO_TURN else int(steps), count, newest)
            for owner, steps, count, newest in rows
        ]

    def newest_ids(self, workspace: str, namespaces: Collection[str] | None) -> dict[str, str]:
        where, values = condition({"workspace": workspace, "namespace": namespaces})
        return {owner: newest for owner, newest in self._session.rows(_NEWEST_IDS.format(where), values)}

    def of_session(self, workspace: str, owner: str, session: str) -> list[LinePlace]:
        sql = f"{_OF_SESSION}{self._shown} ORDER BY l.id"
        rows = self._session.rows(sql, (workspace, owner, session, *self._bounds))
        places = [
            LinePlace(compartment=Compartment(*row[:3]), **dict(zip(_PLACE, row[3:], strict=True)))
            for row in rows
        ]
        return sorted(places, key=lambda place: (place.compartment, place.id))

    def cite(self, compartment: Compartment, line_id: str, sources: Collection[str]) -> None:
        for source in sources:
            self._session.run(_CITE, (*compartment, line_id, source))

    def cited(
        self, workspace: str, line_ids: Collection[str], *, compartment: Compartment | None = None
    ) -> dict[str, list[str]]:
        where, place = ("workspace = ?", (workspace,)) if compartment is None else (COMPARTMENT, compartment)
        found: dict[str, list[str]] = {}
        for listing, ids in listed(line_ids):
            sql = f"""SELECT DISTINCT id, source FROM citations
                WHERE {where} AND id IN {listing} ORDER BY id, source"""
            for line_id, source in self._session.rows(sql, (*place, *ids)):
                found.setdefault(line_id, []).append(source)
        return found

    def citing(self, workspace: str, sources: Collection[str]) -> list[tuple[Compartment, str]]:
        found: set[tuple[Compartment, str]] = set()
        for listing, some in listed(sources):
            sql = f"""SELECT owner, namespace, id FROM citations
                WHERE workspace = ? AND source IN {listing}"""
            for owner, namespace, line_id in self._session.rows(sql, (workspace, *some)):
                found.add((Compartment(workspace, owner, namespace), line_id))
        return sorted(found)

    def uncite(self, workspace: str, sources: Collection[str]) -> None:
        for listing, some in listed(sources):
            self._session.run(
                f"DELETE FROM citations WHERE workspace = ? AND source IN {listing}", (workspace, *some)
            )


def _of_age(aged: Aged) -> tuple[str, list[str]]:
    """The condition on a line's place that it is that old, and the values."""
    where, values = condition({"l.namespace": aged.namespace, "l.kind": aged.kinds})
    said = " AND l.turn IS NOT NULL" if aged.said else ""
    return f"{where}{said} AND l.id < ?", [*values, aged.before]
