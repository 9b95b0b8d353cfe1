"""The book in SQL: one set of statements, any engine."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING

import msgspec

from souvenance.adapters.sql.counters import SqlCounters
from souvenance.adapters.sql.engine import NO_LIMIT, Engine, SqlRow, SqlSession, as_bytes, listed, marks
from souvenance.adapters.sql.keys import SqlKeys
from souvenance.adapters.sql.lines import SqlLines
from souvenance.adapters.sql.migrations import migrate
from souvenance.adapters.sql.replication import SqlReplication
from souvenance.adapters.sql.terms import SqlTerms
from souvenance.decoders import settled
from souvenance.domain import merkle
from souvenance.domain.audit import GENESIS, Event, Row, leaf_of
from souvenance.domain.capability import Revocation, Revoker
from souvenance.domain.directory import MEMBER, SESSION, WORKSPACE, Entry, Tie
from souvenance.domain.names import ALL
from souvenance.errors import BrokenAuditChain, SchemaUnknown
from souvenance.ports.directory import Batch
from souvenance.ports.store import ChangeMarks, Difference

if TYPE_CHECKING:
    from souvenance.adapters.sql.jobs import SqlWork
    from souvenance.adapters.sql.reindexing import SqlRenewal
    from souvenance.adapters.sql.sign_ins import SqlSignIns


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


class SqlRegister:
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


_REVOKE = """INSERT INTO revocations (workspace, kind, value, revoker_hash, revoker, at)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (workspace, kind, value, revoker_hash) DO UPDATE SET at = excluded.at
    WHERE excluded.at > revocations.at"""
_REVOKED = "SELECT workspace, kind, value, at, revoker FROM revocations WHERE workspace IN (?, ?)"
_BURN = "INSERT INTO used_proofs (workspace, proof, until) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"


class SqlCaps:
    def __init__(self, session: SqlSession) -> None:
        self._session = session

    def revoke(self, revocation: Revocation) -> None:
        one = revocation
        revoker = msgspec.json.encode(one.by)
        known = hashlib.sha256(revoker).hexdigest()
        row = (one.workspace, one.kind, one.value, known, revoker.decode(), one.at)
        self._session.run(_REVOKE, row)

    def revocations(self, workspace: str) -> list[Revocation]:
        found = self._session.rows(_REVOKED, (workspace, ALL))
        return [
            Revocation(place, kind, value, at, msgspec.json.decode(revoker, type=settled(Revoker)))
            for place, kind, value, at, revoker in found
        ]

    def burn(self, workspace: str, proof: str, now: int, until: int) -> bool:
        self._session.run("DELETE FROM used_proofs WHERE workspace = ? AND until < ?", (workspace, now))
        return self._session.run(_BURN, (workspace, proof, until)) == 1


_LAST = "SELECT seq, leaf FROM audit WHERE workspace = ? ORDER BY seq DESC LIMIT 1"
_APPEND = """INSERT INTO audit
    (workspace, seq, at, actor, cap, operation, outcome, namespaces, lines, detail, leaf)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_ROWS = """SELECT seq, at, actor, cap, operation, outcome, namespaces, lines, detail, leaf
    FROM audit WHERE workspace = ? AND seq >= ? ORDER BY seq LIMIT ?"""
_LEAVES = "SELECT leaf FROM audit WHERE workspace = ? AND seq >= ? AND seq < ? ORDER BY seq"
_TILES = "SELECT hash FROM audit_tiles WHERE workspace = ? AND tile >= ? AND tile < ? ORDER BY tile"
_ADD_TILE = """INSERT INTO audit_tiles (workspace, tile, hash) VALUES (?, ?, ?)
    ON CONFLICT (workspace, tile) DO UPDATE SET hash = excluded.hash"""


class SqlAudit:
    def __init__(self, session: SqlSession) -> None:
        self._session = session
        self._last: dict[str, tuple[int, bytes]] = {}

    def append(self, workspace: str, event: Event) -> Row:
        seq, previous = self._end(workspace)
        leaf = leaf_of(workspace, seq, event, previous)
        self._session.run(
            _APPEND,
            (
                workspace,
                seq,
                event.at,
                event.actor,
                event.cap,
                event.operation,
                event.outcome,
                _pack(event.namespaces),
                _pack(event.lines),
                event.detail,
                leaf,
            ),
        )
        if (seq + 1) % merkle.TILE == 0:
            tile = seq // merkle.TILE
            leaves = self._leaves(workspace, tile * merkle.TILE, seq + 1)
            self._session.run(_ADD_TILE, (workspace, tile, merkle.root_of(leaves)))
        self._last[workspace] = (seq + 1, leaf)
        return Row(workspace, seq, event, leaf)

    def rows(self, workspace: str, first: int, limit: int) -> list[Row]:
        return [_row(workspace, found) for found in self._session.rows(_ROWS, (workspace, first, limit))]

    def tree(self, workspace: str) -> merkle.Tree:
        return merkle.Tree(
            size=self._end(workspace)[0],
            leaves=lambda first, end: self._leaves(workspace, first, end),
            tiles=lambda first, end: self._hashes(_TILES, workspace, first, end),
        )

    def _end(self, workspace: str) -> tuple[int, bytes]:
        """The number of the next row, and the leaf that it is linked to."""
        if workspace not in self._last:
            last = self._session.row(_LAST, (workspace,))
            self._last[workspace] = (0, GENESIS) if last is None else (last[0] + 1, as_bytes(last[1]))
        return self._last[workspace]

    def _leaves(self, workspace: str, first: int, end: int) -> list[bytes]:
        return self._hashes(_LEAVES, workspace, first, end)

    def _hashes(self, sql: str, workspace: str, first: int, end: int) -> list[bytes]:
        return [as_bytes(row[0]) for row in self._session.rows(sql, (workspace, first, end))]


def _pack(names: Sequence[str]) -> str:
    return msgspec.json.encode(names).decode()


def _row(workspace: str, found: SqlRow) -> Row:
    seq, at, actor, cap, operation, outcome, namespaces, lines, detail, leaf = found
    try:
        places, ids = (msgspec.json.decode(part, type=tuple[str, ...]) for part in (namespaces, lines))
        event = Event(at, actor, cap, operation, outcome, places, ids, detail)
    except (msgspec.MsgspecError, ValueError, TypeError):
        raise BrokenAuditChain(f"audit row {seq} can't be read") from None
    return Row(workspace, seq, event, as_bytes(leaf))


_SCRUB = "scrub"
_NEXT_WORKSPACE = "SELECT workspace FROM audit WHERE workspace > ? ORDER BY workspace LIMIT 1"
_SETTLE = """INSERT INTO installation (instance)
    SELECT CAST(? AS TEXT) WHERE NOT EXISTS (SELECT 1 FROM installation)"""
_MOST_USES = 1000
"""After so many transactions what one remembers is dropped, so that it stays small."""


class SqlTransaction:
    """What only some transactions need is loaded when it is first asked for."""

    def __init__(self, session: SqlSession, engine: Engine) -> None:
        self.uses = 0
        self._session = session
        self._engine = engine
        self._vectors = vectors = engine.vectors(session)
        self._counters = SqlCounters(session)
        self.lines = SqlLines(session)
        self.terms = SqlTerms(session, vectors)
        self.keys = SqlKeys(session, self._counters)
        self.caps = SqlCaps(session)
        self.audit = SqlAudit(session)
        self.register = SqlRegister(session)
        self.replication = SqlReplication(session, self._counters)

    @cached_property
    def work(self) -> SqlWork:
        from souvenance.adapters.sql.jobs import SqlWork

        return SqlWork(self._session)

    @cached_property
    def renewal(self) -> SqlRenewal:
        from souvenance.adapters.sql.reindexing import SqlRenewal

        return SqlRenewal(self._session, self._vectors)

    @cached_property
    def signins(self) -> SqlSignIns:
        from souvenance.adapters.sql.sign_ins import SqlSignIns

        return SqlSignIns(self._session)

    def marks(self, workspace: str) -> ChangeMarks:
        values = self._counters.values(workspace)
        return ChangeMarks(values.get("caps", 0), values.get("compartments", 0))

    def touch(self, workspace: str, *, caps: bool = False, compartments: bool = False) -> None:
        if caps:
            self._counters.increase(workspace, "caps")
        if compartments:
            self._counters.increase(workspace, "compartments")

    def workspaces(self) -> Sequence[str]:
        found: list[str] = []
        while row := self._session.row(_NEXT_WORKSPACE, (found[-1] if found else "",)):
            found.append(row[0])
        return found

    def differences(self) -> list[Difference]:
        return self._engine.differences(self._session)

    def owe_scrub(self) -> None:
        for found in self.differences():
            if found.foreign:
                raise _unknown(found)
        self._counters.increase(ALL, _SCRUB)

    def owed_scrubs(self) -> int:
        return self._counters.values(ALL).get(_SCRUB, 0)

    def settle_scrub(self, owed: int) -> None:
        """Nothing is owed any more, unless something was deleted meanwhile."""
        if self.owed_scrubs() == owed:
            self._counters.reset(ALL, _SCRUB)


def _unknown(found: Difference) -> SchemaUnknown:
    remedy = f" If it is not yours, remove it: {found.remedy}" if found.remedy else ""
    return SchemaUnknown(
        f"the store may keep copies of what is deleted: {found.text}",
        hint=f"Nothing was deleted. Run 'souvenance doctor' and look at what it names.{remedy}",
    )


class _Opened:
    """A transaction over an engine's session."""

    __slots__ = ("_engine", "_managed")

    def __init__(self, managed: AbstractContextManager[SqlSession], engine: Engine) -> None:
        self._managed = managed
        self._engine = engine

    def __enter__(self) -> SqlTransaction:
        session = self._managed.__enter__()
        tx: SqlTransaction | None = session.attached
        if tx is None or not session.unchanged or tx.uses == _MOST_USES:
            tx = session.attached = SqlTransaction(session, self._engine)
        tx.uses += 1
        return tx

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._managed.__exit__(kind, error, trace)


class SqlStore:
    def __init__(self, engine: Engine) -> None:
        """Raises: Misconfigured if the store belongs to another version."""
        self._engine = engine
        with ExitStack() as otherwise:
            otherwise.callback(engine.close)
            migrate(engine)
            otherwise.pop_all()

    def read(self, workspace: str = ALL) -> _Opened:
        return _Opened(self._engine.read(workspace), self._engine)

    def write(self, workspace: str = ALL, *, lasting: bool = True) -> _Opened:
        return _Opened(self._engine.write(workspace, lasting=lasting), self._engine)

    def claim(self) -> _Opened:
        return _Opened(self._engine.claim(), self._engine)

    def listening(self, heard: Callable[[], None]) -> AbstractContextManager[bool]:
        """Call back meanwhile when another process may have added work; whether the database can tell."""
        return self._engine.listening(heard)

    def instance(self) -> str | None:
        """The installation that the store belongs to; None if it is nobody's yet."""
        with self._engine.read() as session:
            found = session.row("SELECT instance FROM installation")
        return None if found is None else str(found[0])

    def settle(self, instance: str) -> str:
        """Let a store that is nobody's yet belong to the installation; whose it is now."""
        with self._engine.write() as session:
            session.run(_SETTLE, (instance,))
            found = session.row("SELECT instance FROM installation")
        return instance if found is None else str(found[0])

    def scrub(self) -> bool:
        owed = self._owed()
        if not self._engine.reclaim():
            return False
        with self.write() as tx:
            tx.settle_scrub(owed)
        return True

    def scrub_pending(self) -> bool:
        return self._owed() > 0

    def _owed(self) -> int:
        with self.read() as tx:
            return tx.owed_scrubs()

    def close(self) -> None:
        self._engine.close()
