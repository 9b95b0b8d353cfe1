"""The directory in SQL: entries, memberships, and batches of messages that came."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from souvenance.adapters.sql.engine import NO_LIMIT, SqlRow, SqlSession, as_bytes, listed, marks
from souvenance.domain.directory import MEMBER, SESSION, WORKSPACE, Entry, Tie
from souvenance.ports.directory import Batch

_COLUMNS = "workspace, kind, name, uid, created_at, metadata, configuration, namespace"
_ENTRY = f"SELECT {_COLUMNS} FROM entries"
_OF_SOME = f"""SELECT {_COLUMNS}
    FROM (SELECT workspace AS w, kind AS k, name AS n FROM entries {{some}}) AS those
    CROSS JOIN entries WHERE workspace = w AND kind = k AND name = n ORDER BY {{order}}"""
_WORKSPACES = f"kind = '{WORKSPACE}'"
_NAMED = "workspace = ? AND kind = ? AND name = ?"
_KIND = "workspace = ? AND kind IN (?)"
"""With `=` SQLite looks at the value, for the sake of the index of workspaces, and plans anew each time."""
_ADD = f"""INSERT INTO entries ({_COLUMNS})
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"""
_NEXT_NAMESPACE = f"""SELECT namespace FROM entries
    WHERE {_KIND} AND namespace > ? ORDER BY namespace LIMIT 1"""
_UPDATE = f"UPDATE entries SET metadata = ?, configuration = ? WHERE {_NAMED}"
_TIE = """INSERT INTO memberships (workspace, kind, holder, held, since, until, configuration)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (workspace, kind, holder, held, since)
    DO UPDATE SET until = excluded.until, configuration = excluded.configuration"""
_TIES = "SELECT workspace, kind, holder, held, since, until, configuration FROM memberships"
_BATCH = """SELECT workspace, session, digest, at, first_turn, last_turn FROM batches
    WHERE workspace = ? AND session = ? AND digest = ?"""
_FORGET_BATCHES = "DELETE FROM batches WHERE workspace = ? AND session = ? AND at < ?"
_JOINED = """SELECT t.holder FROM memberships t JOIN entries e
    ON e.workspace = t.workspace AND e.name = t.holder
    WHERE t.workspace = ? AND t.kind = ? AND t.until IS NULL AND e.kind IN (?)"""
_IN_ORDER = "ORDER BY t.since"
"""So that the index by what is held is preferred to the key, by which all of the workspace's are read."""
_KEEP_BATCH = """INSERT INTO batches (workspace, session, digest, at, first_turn, last_turn)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (workspace, session, digest)
    DO UPDATE SET at = excluded.at, first_turn = excluded.first_turn, last_turn = excluded.last_turn"""


class SqlDirectory:
    def __init__(self, session: SqlSession) -> None:
        self._session = session
        self._seen: dict[tuple[str, str, str], Entry | None] = {}
        self._namespaces: dict[tuple[str, str], list[str]] = {}

    def entry(self, workspace: str, kind: str, name: str) -> Entry | None:
        asked = (workspace, kind, name)
        if asked not in self._seen:
            row = self._session.row(f"{_ENTRY} WHERE {_NAMED}", asked)
            self._seen[asked] = None if row is None else Entry(*row)
        return self._seen[asked]

    def named(self, workspace: str, kind: str, names: Collection[str]) -> list[Entry]:
        unseen = [name for name in names if (workspace, kind, name) not in self._seen]
        self._seen.update(((workspace, kind, name), None) for name in unseen)
        for asked, some in listed(unseen):
            sql = f"{_ENTRY} WHERE {_KIND} AND name IN {asked}"
            for entry in (Entry(*row) for row in self._session.rows(sql, (workspace, kind, *some))):
                self._seen[workspace, kind, entry.name] = entry
        found = (self._seen[workspace, kind, name] for name in sorted(set(names)))
        return [entry for entry in found if entry is not None]

    def add(self, entry: Entry) -> bool:
        one = entry
        self._seen.pop((one.workspace, one.kind, one.name), None)
        self._namespaces.clear()
        return (
            self._session.run(
                _ADD,
                (
                    one.workspace,
                    one.kind,
                    one.name,
                    one.uid,
                    one.created_at,
                    one.metadata,
                    one.configuration,
                    one.namespace,
                ),
            )
            == 1
        )

    def update(self, entry: Entry) -> None:
        place = (entry.workspace, entry.kind, entry.name)
        self._seen.pop(place, None)
        self._session.run(_UPDATE, (entry.metadata, entry.configuration, *place))

    def remove(self, workspace: str, kind: str, name: str) -> bool:
        place = (workspace, kind, name)
        self._seen.pop(place, None)
        self._namespaces.clear()
        return self._session.run(f"DELETE FROM entries WHERE {_NAMED}", place) == 1

    def entries(
        self,
        workspace: str | None,
        kind: str,
        *,
        namespaces: Collection[str] | None = None,
        newest_first: bool = False,
        offset: int = 0,
        limit: int | None = None,
    ) -> list[Entry]:
        end = None if limit is None else offset + limit
        found = [
            Entry(*row)
            for where, values in _kinds(workspace, kind, namespaces)
            for row in self._listed(where, values, newest_first=newest_first, most=end)
        ]
        if namespaces is not None and len(namespaces) > 1:
            found.sort(key=lambda entry: (entry.uid, entry.workspace, entry.name), reverse=newest_first)
        return found[offset:end]

    def _listed(
        self, where: str, values: Sequence[str], *, newest_first: bool, most: int | None
    ) -> list[SqlRow]:
        """In order. No index has that of all workspaces: they are sorted before more of them is read."""
        way = "DESC" if newest_first else "ASC"
        order = f"uid {way}, workspace {way}, name {way}"
        some = f"WHERE {where} ORDER BY {order} LIMIT ?"
        sql = _OF_SOME.format(some=some, order=order) if where == _WORKSPACES else f"{_ENTRY} {some}"
        return self._session.rows(sql, (*values, NO_LIMIT if most is None else most))

    def count(self, workspace: str | None, kind: str, namespaces: Collection[str] | None = None) -> int:
        return sum(
            self._session.rows(f"SELECT count(*) FROM entries WHERE {where}", values)[0][0]
            for where, values in _kinds(workspace, kind, namespaces)
        )

    def namespaces(self, workspace: str, kind: str) -> list[str]:
        asked = (workspace, kind)
        if asked not in self._namespaces:
            found: list[str] = []
            while row := self._session.row(_NEXT_NAMESPACE, (*asked, found[-1] if found else "")):
                found.append(row[0])
            self._namespaces[asked] = found
        return self._namespaces[asked]

    def tie(self, tie: Tie) -> None:
        one = tie
        self._session.run(
            _TIE,
            (one.workspace, one.kind, one.holder, one.held, one.since, one.until, one.configuration),
        )

    def ties(
        self, workspace: str, kind: str, *, holder: str | None = None, held: str | None = None
    ) -> list[Tie]:
        where, values = _ends(workspace, kind, holder, held)
        sql = f"{_TIES} WHERE {where} ORDER BY since, holder, held"
        return [Tie(*row) for row in self._session.rows(sql, values)]

    def sessions_with(
        self, workspace: str, peers: Collection[str], namespaces: Collection[str] | None = None
    ) -> list[str]:
        found: set[str] = set()
        for asked, some in listed(peers):
            sql = f"{_JOINED} AND t.held IN {asked}"
            values = [workspace, MEMBER, SESSION, *some]
            if namespaces is not None:
                sql += f" AND e.namespace IN {marks(namespaces)}"
                values.extend(namespaces)
            found.update(row[0] for row in self._session.rows(f"{sql} {_IN_ORDER}", values))
        return sorted(found)

    def untie(self, workspace: str, kind: str, *, holder: str | None = None, held: str | None = None) -> int:
        where, values = _ends(workspace, kind, holder, held)
        return self._session.run(f"DELETE FROM memberships WHERE {where}", values)

    def batch(self, workspace: str, session: str, digest: bytes) -> Batch | None:
        row = self._session.row(_BATCH, (workspace, session, digest))
        return None if row is None else Batch(row[0], row[1], as_bytes(row[2]), *row[3:])

    def keep_batch(self, batch: Batch, forget_before: int) -> None:
        one = batch
        self._session.run(_FORGET_BATCHES, (one.workspace, one.session, forget_before))
        self._session.run(_KEEP_BATCH, (one.workspace, one.session, one.digest, one.at, one.first, one.last))

    def drop_batches(self, workspace: str, session: str) -> None:
        self._session.run("DELETE FROM batches WHERE workspace = ? AND session = ?", (workspace, session))

    def remove_workspace(self, workspace: str) -> None:
        self._seen.clear()
        self._namespaces.clear()
        for table in ("entries", "memberships", "batches"):
            self._session.run(f"DELETE FROM {table} WHERE workspace = ?", (workspace,))


def _kinds(
    workspace: str | None, kind: str, namespaces: Collection[str] | None
) -> list[tuple[str, tuple[str, ...]]]:
    """What each list of entries is limited by: one in the order of its index for every namespace."""
    where, values = _kind(workspace, kind)
    if namespaces is None:
        return [(where, values)]
    return [(f"{where} AND namespace = ?", (*values, one)) for one in sorted(set(namespaces))]


def _kind(workspace: str | None, kind: str) -> tuple[str, tuple[str, ...]]:
    if workspace is not None:
        return _KIND, (workspace, kind)
    if kind == WORKSPACE:
        return _WORKSPACES, ()
    return "kind IN (?)", (kind,)


def _ends(workspace: str, kind: str, holder: str | None, held: str | None) -> tuple[str, list[str]]:
    where, values = "workspace = ? AND kind = ?", [workspace, kind]
    for column, name in (("holder", holder), ("held", held)):
        if name is not None:
            where += f" AND {column} = ?"
            values.append(name)
    return where, values
