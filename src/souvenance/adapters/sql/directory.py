"""The directory in SQL: entries, memberships, batches of messages that came, and sign-ins."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeVar

import msgspec
from msgspec.structs import asdict, astuple, replace

from souvenance.adapters.sql.engine import NO_LIMIT, SqlRow, SqlSession, as_bytes, listed, marks
from souvenance.domain.directory import MEMBER, SESSION, WORKSPACE, Entry, Membership
from souvenance.domain.sign_ins import SPENT_KEPT_MS, UNUSED_MS, Client, SignIn, Slip
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
_ADD_MEMBERSHIP = """INSERT INTO memberships (workspace, kind, holder, held, since, until, configuration)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (workspace, kind, holder, held, since)
    DO UPDATE SET until = excluded.until, configuration = excluded.configuration"""
_MEMBERSHIPS = "SELECT workspace, kind, holder, held, since, until, configuration FROM memberships"
_BATCH = """SELECT workspace, session, digest, at, first_turn, last_turn FROM batches
    WHERE workspace = ? AND session = ? AND digest = ?"""
_FORGET_BATCHES = "DELETE FROM batches WHERE workspace = ? AND session = ? AND at < ?"
_PRESENT = """FROM memberships t JOIN entries e
    ON e.workspace = t.workspace AND e.name = t.holder
    WHERE t.workspace = ? AND t.kind = ? AND t.until IS NULL AND e.kind IN (?)"""
_JOINED = f"SELECT t.holder {_PRESENT}"
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
        self._seen.pop((entry.workspace, entry.kind, entry.name), None)
        self._namespaces.clear()
        return self._session.run(_ADD, astuple(entry)) == 1

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

    def add_membership(self, membership: Membership) -> None:
        self._session.run(_ADD_MEMBERSHIP, astuple(membership))

    def memberships(
        self, workspace: str, kind: str, *, holder: str | None = None, held: str | None = None
    ) -> list[Membership]:
        where, values = _ends(workspace, kind, holder, held)
        sql = f"{_MEMBERSHIPS} WHERE {where} ORDER BY since, holder, held"
        return [Membership(*row) for row in self._session.rows(sql, values)]

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

    def newest_sessions(
        self, workspace: str, peer: str, namespaces: Collection[str] | None, offset: int, limit: int
    ) -> list[Entry]:
        among = "" if namespaces is None else f" AND e.namespace IN {marks(namespaces)}"
        sql = f"""SELECT e.name {_PRESENT} AND t.held IN (?){among}
            GROUP BY e.name, e.uid ORDER BY e.uid DESC LIMIT ? OFFSET ?"""
        values = (workspace, MEMBER, SESSION, peer, *(namespaces or ()), limit, offset)
        names = [row[0] for row in self._session.rows(sql, values)]
        return sorted(self.named(workspace, SESSION, names), key=lambda one: one.uid, reverse=True)

    def remove_memberships(
        self, workspace: str, kind: str, *, holder: str | None = None, held: str | None = None
    ) -> int:
        where, values = _ends(workspace, kind, holder, held)
        return self._session.run(f"DELETE FROM memberships WHERE {where}", values)

    def batch(self, workspace: str, session: str, digest: bytes) -> Batch | None:
        row = self._session.row(_BATCH, (workspace, session, digest))
        return None if row is None else Batch(row[0], row[1], as_bytes(row[2]), *row[3:])

    def keep_batch(self, batch: Batch, forget_before: int) -> None:
        self._session.run(_FORGET_BATCHES, (batch.workspace, batch.session, forget_before))
        self._session.run(_KEEP_BATCH, astuple(batch))

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


_Kept = TypeVar("_Kept", bound=msgspec.Struct)

_CLIENT, _SIGN_IN, _SLIP_FIELDS = (", ".join(one.__struct_fields__) for one in (Client, SignIn, Slip))
"""Each field of these is a column of its name."""
_LISTS = ("redirects", "grants")
_ADD_CLIENT = f"INSERT INTO signin_clients ({_CLIENT}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_ADD_SIGN_IN = f"INSERT INTO signins ({_SIGN_IN}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_KEEP = f"""INSERT INTO signin_slips ({_SLIP_FIELDS})
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (kind, hash) DO UPDATE SET client = excluded.client, signin = excluded.signin,
    until = excluded.until, spent_at = excluded.spent_at, content = excluded.content"""
_SLIP = f"SELECT {_SLIP_FIELDS} FROM signin_slips WHERE kind = ?"
_SPEND = "UPDATE signin_slips SET spent_at = ? WHERE kind = ? AND hash = ? AND spent_at IS NULL"
_OVER = "SELECT id FROM signins WHERE until <= ? OR (used_at IS NULL AND created_at <= ?)"
_SWEEP = """DELETE FROM signin_slips
    WHERE until <= ? AND (signin IS NULL OR spent_at IS NULL) OR spent_at <= ?"""


class SqlSignIns:
    def __init__(self, session: SqlSession) -> None:
        self._session = session

    def add_client(self, client: Client) -> None:
        lists = {name: msgspec.json.encode(getattr(client, name)).decode() for name in _LISTS}
        self._session.run(_ADD_CLIENT, tuple({**asdict(client), **lists}.values()))

    def client(self, client_id: str) -> Client | None:
        row = self._session.row(f"SELECT {_CLIENT} FROM signin_clients WHERE id = ?", (client_id,))
        if row is None:
            return None
        found = _read(Client, row)
        lists = {name: msgspec.json.decode(getattr(found, name), type=tuple[str, ...]) for name in _LISTS}
        return replace(found, **lists, secret=None if found.secret is None else as_bytes(found.secret))

    def use_client(self, client_id: str, now: int) -> None:
        self._session.run(
            "UPDATE signin_clients SET used_at = ? WHERE id = ? AND used_at IS NULL", (now, client_id)
        )

    def strangers(self) -> int:
        return self._count("SELECT COUNT(*) FROM signin_clients WHERE used_at IS NULL")

    def add(self, signin: SignIn) -> None:
        self._session.run(_ADD_SIGN_IN, astuple(signin))

    def get(self, signin_id: str) -> SignIn | None:
        return next(iter(self._sign_ins("WHERE id = ?", signin_id)), None)

    def of_cap(self, jti: str) -> SignIn | None:
        return next(iter(self._sign_ins("WHERE jti = ?", jti)), None)

    def every(self) -> list[SignIn]:
        return self._sign_ins("ORDER BY id")

    def _sign_ins(self, which: str, *values: str) -> list[SignIn]:
        rows = self._session.rows(f"SELECT {_SIGN_IN} FROM signins {which}", values)
        return [_read(SignIn, row, "sealed") for row in rows]

    def use(self, signin_id: str, now: int) -> None:
        self._session.run("UPDATE signins SET used_at = ? WHERE id = ?", (now, signin_id))

    def reseal(self, signin_id: str, sealed: bytes) -> None:
        self._session.run("UPDATE signins SET sealed = ? WHERE id = ?", (sealed, signin_id))

    def end(self, signin_id: str) -> None:
        self._session.run("DELETE FROM signin_slips WHERE signin = ?", (signin_id,))
        self._session.run("DELETE FROM signins WHERE id = ?", (signin_id,))

    def keep(self, slip: Slip) -> None:
        self._session.run(_KEEP, astuple(slip))

    def slip(self, kind: str, hashed: bytes) -> Slip | None:
        row = self._session.row(f"{_SLIP} AND hash = ?", (kind, hashed))
        return None if row is None else _read(Slip, row, "hash", "content")

    def slips(self, kind: str) -> list[Slip]:
        rows = self._session.rows(f"{_SLIP} ORDER BY hash", (kind,))
        return [_read(Slip, row, "hash", "content") for row in rows]

    def spend(self, kind: str, hashed: bytes, now: int) -> bool:
        return self._session.run(_SPEND, (now, kind, hashed)) == 1

    def drop(self, kind: str, hashed: bytes) -> None:
        self._session.run("DELETE FROM signin_slips WHERE kind = ? AND hash = ?", (kind, hashed))

    def drop_all(self, kind: str) -> None:
        self._session.run("DELETE FROM signin_slips WHERE kind = ?", (kind,))

    def count(self, kind: str) -> int:
        return self._count("SELECT COUNT(*) FROM signin_slips WHERE kind = ?", kind)

    def sweep(self, now: int) -> None:
        for (signin_id,) in self._session.rows(_OVER, (now, now - UNUSED_MS)):
            self.end(signin_id)
        self._session.run(_SWEEP, (now, now - SPENT_KEPT_MS))
        self._session.run(
            "DELETE FROM signin_clients WHERE used_at IS NULL AND created_at <= ?", (now - UNUSED_MS,)
        )

    def _count(self, sql: str, *values: str) -> int:
        found = self._session.row(sql, values)
        return 0 if found is None else int(found[0])


def _read(kind: type[_Kept], row: SqlRow, *blobs: str) -> _Kept:
    """What a row of all its fields says; what stands in place of bytes and is none is empty."""
    found = dict(zip(kind.__struct_fields__, row, strict=True))
    return kind(**{**found, **{name: as_bytes(found[name]) for name in blobs}})
