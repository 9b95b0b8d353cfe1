"""The store in SQL: one set of statements, any engine."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import astuple

from souvenance.adapters.sql.directory import SqlDirectory, SqlJobs, SqlSignIns
from souvenance.adapters.sql.engine import (
    COMPARTMENT,
    PLACE,
    Engine,
    SqlRow,
    SqlSession,
    as_bytes,
    condition,
    insert,
)
from souvenance.adapters.sql.lines import SqlLines
from souvenance.adapters.sql.schema import migrate
from souvenance.adapters.sql.sqlite import SqliteEngine
from souvenance.adapters.sql.terms import SqlReindexing, SqlTerms
from souvenance.decoders import settled
from souvenance.domain import merkle
from souvenance.domain.audit import GENESIS, MAKES_TOKENS, OK, Event, Row, leaf_of
from souvenance.domain.capability import Revocation, Revoker
from souvenance.domain.names import ALL, Compartment
from souvenance.errors import BrokenAuditChain, SchemaUnknown
from souvenance.extras import importing
from souvenance.ports.object_store import ChangeNote
from souvenance.ports.store import ChangeMarks, Difference, Transaction, WantedRows, WrappedKey

_MIRRORED = "mirrored"
_QUEUED = f"{PLACE}, what, name"
_QUEUE = insert("replication_queue", f"{_QUEUED}, stamp, tries, due", _QUEUED)
_EVERYTHING = (
    ("'line', id", "lines"),
    ("'replaced', target", "invalidations"),
    ("'key', purpose || '-' || CAST(epoch AS TEXT)", "compartment_keys"),
)
_DUE = f"SELECT {_QUEUED}, stamp, tries FROM replication_queue WHERE due <= ? ORDER BY {_QUEUED} LIMIT ?"
_QUEUED_PLACE = f"{COMPARTMENT} AND what = ? AND name = ?"
_CLAIM = f"""UPDATE replication_queue SET stamp = ?, due = ?, tries = tries + 1
    WHERE {_QUEUED_PLACE} AND stamp = ?"""
_DONE = f"DELETE FROM replication_queue WHERE {_QUEUED_PLACE} AND stamp = ?"
_POSTPONE = f"UPDATE replication_queue SET due = ? WHERE {_QUEUED_PLACE} AND stamp = ?"
_OUTDATE = f"UPDATE replication_queue SET stamp = ? WHERE {COMPARTMENT}"


class SqlReplication:
    def __init__(self, session: SqlSession, counters: SqlCounters) -> None:
        self._session = session
        self._counters = counters

    def note(self, replication: Collection[ChangeNote]) -> None:
        for one in replication:
            if not one.name:  # The whole compartment: what is being carried may come after it was cleared.
                self._session.run(_OUTDATE, (one.stamp, *one.compartment))
            self._session.run(_QUEUE, (*one.compartment, one.what, one.name, one.stamp, 0, 0))

    def note_everything(self, stamp: str) -> None:
        for what, table in _EVERYTHING:
            sql = f"""INSERT INTO replication_queue ({_QUEUED}, stamp, tries, due)
                SELECT {PLACE}, {what}, CAST(? AS TEXT), 0, 0 FROM {table} WHERE true
                ON CONFLICT ({_QUEUED}) DO UPDATE SET stamp = excluded.stamp, tries = 0, due = 0"""
            self._session.run(sql, (stamp,))

    def due(self, now: int) -> bool:
        return self._session.row("SELECT 1 FROM replication_queue WHERE due <= ? LIMIT 1", (now,)) is not None

    def claim(self, stamp: str, *, now: int, until: int, most: int) -> list[ChangeNote]:
        taken = []
        for *place, what, name, old, tries in self._session.rows(_DUE, (now, most)):
            compartment = Compartment(*place)
            if self._session.run(_CLAIM, (stamp, until, *compartment, what, name, old)) == 1:
                taken.append(ChangeNote(compartment, what, name, stamp, tries + 1))
        return taken

    def done(self, replication: ChangeNote) -> None:
        compartment, what, name, stamp, _ = replication
        if self._session.run(_DONE, (*compartment, what, name, stamp)) == 0:
            self.note([replication])

    def postpone(self, replication: ChangeNote, due: int) -> None:
        compartment, what, name, stamp, _ = replication
        self._session.run(_POSTPONE, (due, *compartment, what, name, stamp))

    def waiting(self, workspace: str | None = None, owner: str | None = None) -> int:
        where, values = condition({"workspace": workspace, "owner": owner})
        return int(self._session.value(f"SELECT count(*) FROM replication_queue WHERE {where}", values))

    def mirrored(self) -> bool:
        return self._counters.values(ALL).get(_MIRRORED, 0) > 0

    def begin(self) -> None:
        self._counters.increase(ALL, _MIRRORED)


_KEY = f"{PLACE}, purpose, epoch, wrapped"
_KEYS = f"SELECT {_KEY} FROM compartment_keys"
_KEY_ORDER = f"ORDER BY {PLACE}, purpose, epoch"
_ADD_KEY = insert("compartment_keys", _KEY)
_REWRAP = f"UPDATE compartment_keys SET wrapped = ? WHERE {COMPARTMENT} AND purpose = ? AND epoch = ?"


class SqlKeys:
    def __init__(self, session: SqlSession, counters: SqlCounters) -> None:
        self._session = session
        self._counters = counters
        self._seen: dict[tuple[str, str, Collection[str] | None], list[WrappedKey]] = {}

    def of(self, workspace: str, owner: str, namespaces: Collection[str] | None = None) -> list[WrappedKey]:
        asked = (workspace, owner, None if namespaces is None else frozenset(namespaces))
        if asked not in self._seen:
            where, values = condition({"workspace": workspace, "owner": owner, "namespace": namespaces})
            rows = self._session.rows(f"{_KEYS} WHERE {where} {_KEY_ORDER}", values)
            self._seen[asked] = [_key_of(row) for row in rows]
        return self._seen[asked]

    def add(self, key: WrappedKey) -> None:
        self._seen.clear()
        self._session.run(_ADD_KEY, (*key.compartment, key.purpose, key.epoch, key.wrapped))

    def rewrap(self, key: WrappedKey) -> None:
        self._seen.clear()
        self._session.run(_REWRAP, (key.wrapped, *key.compartment, key.purpose, key.epoch))

    def next_epoch(self, workspace: str) -> int:
        return self._counters.increase(workspace, "epoch")

    def every(self) -> list[WrappedKey]:
        return [_key_of(row) for row in self._session.rows(f"{_KEYS} {_KEY_ORDER}")]

    def delete_compartment(self, compartment: Compartment) -> int:
        self._seen.clear()
        return self._session.run(f"DELETE FROM compartment_keys WHERE {COMPARTMENT}", compartment)


def _key_of(row: SqlRow) -> WrappedKey:
    *place, purpose, epoch, wrapped = row
    return WrappedKey(Compartment(*place), purpose, epoch, as_bytes(wrapped))


_INCREASE = """INSERT INTO counters (workspace, name, value) VALUES (?, ?, 1)
    ON CONFLICT (workspace, name) DO UPDATE SET value = counters.value + 1 RETURNING value"""


class SqlCounters:
    def __init__(self, session: SqlSession) -> None:
        self._session = session
        self._seen: dict[str, dict[str, int]] = {}

    def increase(self, workspace: str, name: str) -> int:
        self._seen.clear()
        return int(self._session.value(_INCREASE, (workspace, name)))

    def reset(self, workspace: str, name: str) -> None:
        self._seen.clear()
        self._session.run("DELETE FROM counters WHERE workspace = ? AND name = ?", (workspace, name))

    def values(self, workspace: str) -> dict[str, int]:
        """The counters of the workspace, each with what was counted for all workspaces added."""
        if workspace in self._seen:
            return self._seen[workspace]
        found = self._seen[workspace] = {}
        sql = "SELECT name, value FROM counters WHERE workspace = ? OR workspace = ?"
        for name, counted in self._session.rows(sql, (workspace, ALL)):
            found[name] = found.get(name, 0) + counted
        return found


_REVOKE = insert(
    "revocations",
    "workspace, kind, value, revoker_hash, revoker, at",
    conflict="""ON CONFLICT (workspace, kind, value, revoker_hash) DO UPDATE SET at = excluded.at
    WHERE excluded.at > revocations.at""",
)
_REVOKED = "SELECT workspace, kind, value, at, revoker FROM revocations WHERE workspace IN (?, ?)"
_BURN = insert("used_proofs", "workspace, proof, until", conflict="ON CONFLICT DO NOTHING")


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
_ROW = "seq, at, actor, cap, operation, outcome, namespaces, lines, detail, leaf"
_APPEND = insert("audit", f"workspace, {_ROW}")
_SELECT = f"SELECT {_ROW}"
_ROWS = f"{_SELECT} FROM audit WHERE workspace = ? AND seq >= ? ORDER BY seq LIMIT ?"
_FIND = f"{_SELECT} FROM audit WHERE workspace = ? AND seq >= ? AND seq < ?"
_FIND_OPERATION = f"{_FIND} AND operation = ?"
_FIND_MAKING = {
    operation: f"""{_SELECT} FROM (SELECT workspace AS w, seq AS s FROM audit
    WHERE workspace = ? AND seq >= ? AND seq < ? AND operation = '{operation}') AS those
    CROSS JOIN audit WHERE workspace = w AND seq = s"""
    for operation in MAKES_TOKENS
}
"""In two steps, so that SQLite prefers the index of these operations to the key."""
_LEAVES = "SELECT leaf FROM audit WHERE workspace = ? AND seq >= ? AND seq < ? ORDER BY seq"
_TILES = "SELECT hash FROM audit_tiles WHERE workspace = ? AND tile >= ? AND tile < ? ORDER BY tile"
_ADD_TILE = insert("audit_tiles", "workspace, tile, hash", "workspace, tile")


class SqlAudit:
    def __init__(self, session: SqlSession) -> None:
        self._session = session
        self._last: dict[str, tuple[int, bytes]] = {}

    def append(self, workspace: str, event: Event) -> Row:
        seq, previous = self._end(workspace)
        leaf = leaf_of(workspace, seq, event, previous)
        *columns, namespaces, lines, detail = astuple(event)
        self._session.run(_APPEND, (workspace, seq, *columns, _pack(namespaces), _pack(lines), detail, leaf))
        if (seq + 1) % merkle.TILE == 0:
            tile = seq // merkle.TILE
            leaves = self._leaves(workspace, tile * merkle.TILE, seq + 1)
            self._session.run(_ADD_TILE, (workspace, tile, merkle.root_of(leaves)))
        self._last[workspace] = (seq + 1, leaf)
        return Row(workspace, seq, event, leaf)

    def rows(self, workspace: str, first: int, limit: int) -> list[Row]:
        return [_row(workspace, found) for found in self._session.rows(_ROWS, (workspace, first, limit))]

    def find(self, workspace: str, wanted: WantedRows, limit: int) -> list[Row]:
        conditions: list[tuple[str, object]] = [
            ("actor = ?", wanted.actor),
            ("at >= ?", wanted.since),
            ("at < ?", wanted.until),
            ("lines LIKE ?", None if wanted.line is None else f'%"{wanted.line}"%'),
            ("outcome = ?" if wanted.allowed else "outcome <> ?", None if wanted.allowed is None else OK),
        ]
        given = [one for one in conditions if one[1] is not None]
        where = "".join(f" AND {asked}" for asked, _ in given)
        place, values = (workspace, wanted.first, wanted.before), [one for _, one in given]
        asked: list[tuple[str, tuple[object, ...]]] = [(_FIND, place)]
        if wanted.operations is not None:
            asked = [
                (_FIND_MAKING[one], place) if one in _FIND_MAKING else (_FIND_OPERATION, (*place, one))
                for one in set(wanted.operations)
            ]
        found = [
            row
            for sql, places in asked
            for row in self._session.rows(
                f"{sql}{where} ORDER BY seq DESC LIMIT ?", (*places, *values, limit)
            )
        ]
        return [_row(workspace, row) for row in sorted(found, key=itemgetter(0), reverse=True)[:limit]]

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
_INSTANCE = "SELECT instance FROM installation"
_SETTLE = """INSERT INTO installation (instance)
    SELECT CAST(? AS TEXT) WHERE NOT EXISTS (SELECT 1 FROM installation)"""
_MOST_USES = 200
"""After so many transactions what one remembers is dropped, so that it stays small."""


class SqlTransaction(Transaction):
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
        self.directory = SqlDirectory(session)
        self.replication = SqlReplication(session, self._counters)

    @cached_property
    def work(self) -> SqlJobs:
        return SqlJobs(self._session)

    @cached_property
    def renewal(self) -> SqlReindexing:
        return SqlReindexing(self._session, self._vectors)

    @cached_property
    def signins(self) -> SqlSignIns:
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
        return self._session.each_next(_NEXT_WORKSPACE)

    def differences(self) -> list[Difference]:
        return self._engine.differences(self._session)

    def owe_scrub(self) -> None:
        for found in self.differences():
            if found.foreign:
                remedy = f" If it is not yours, remove it: {found.remedy}" if found.remedy else ""
                raise SchemaUnknown(
                    f"the store may keep copies of what is deleted: {found.text}",
                    hint=f"Nothing was deleted. Run 'souvenance doctor' and look at what it names.{remedy}",
                )
        self._counters.increase(ALL, _SCRUB)

    def owed_scrubs(self) -> int:
        return self._counters.values(ALL).get(_SCRUB, 0)

    def settle_scrub(self, owed: int) -> None:
        """Nothing is owed any more, unless something was deleted meanwhile."""
        if self.owed_scrubs() == owed:
            self._counters.reset(ALL, _SCRUB)


class _Opened:
    __slots__ = ("_engine", "_opened", "_tx")

    def __init__(self, engine: Engine, opened: AbstractContextManager[SqlSession]) -> None:
        self._engine = engine
        self._opened = opened

    def __enter__(self) -> SqlTransaction:
        session = self._opened.__enter__()
        tx: SqlTransaction | None = session.attached
        if tx is None or not session.unchanged or tx.uses == _MOST_USES:
            tx = session.attached = SqlTransaction(session, self._engine)
        tx.uses += 1
        self._tx = tx
        return tx

    def __exit__(self, *error: Any) -> bool | None:
        self._tx.lines.hide(None)
        return self._opened.__exit__(*error)


class SqlStore:
    def __init__(self, engine: Engine) -> None:
        """Raises: Misconfigured if the store belongs to another version."""
        self._engine = engine
        with ExitStack() as otherwise:
            otherwise.callback(engine.close)
            migrate(engine)
            otherwise.pop_all()

    def read(self, workspace: str = ALL) -> AbstractContextManager[SqlTransaction]:
        return _Opened(self._engine, self._engine.read(workspace))

    def write(self, workspace: str = ALL, *, lasting: bool = True) -> AbstractContextManager[SqlTransaction]:
        return _Opened(self._engine, self._engine.write(workspace, lasting=lasting))

    def claim(self) -> AbstractContextManager[SqlTransaction]:
        return _Opened(self._engine, self._engine.claim())

    def listening(self, heard: Callable[[], None]) -> AbstractContextManager[bool]:
        """Call back meanwhile when another process may have added work; whether the database can tell."""
        return self._engine.listening(heard)

    def instance(self) -> str | None:
        """The installation that the store belongs to; None if it is nobody's yet."""
        with self._engine.read() as session:
            found: str | None = session.value(_INSTANCE)
        return found

    def settle(self, instance: str) -> str:
        """Let a store that is nobody's yet belong to the installation; whose it is now."""
        with self._engine.write() as session:
            session.run(_SETTLE, (instance,))
            return str(session.value(_INSTANCE))

    def scrub(self) -> bool:
        with self.read() as tx:
            owed = tx.owed_scrubs()
        if not self._engine.reclaim():
            return False
        with self.write() as tx:
            tx.settle_scrub(owed)
        return True

    def scrub_pending(self) -> bool:
        with self.read() as tx:
            return tx.owed_scrubs() > 0

    def close(self) -> None:
        self._engine.close()


def in_file(path: Path) -> Engine:
    """Make the file before SQLite does, so that it and the files beside it are the owner's alone.

    One that is there is not touched: closing it would drop the locks of other connections of this process.

    Raises: as `SqliteEngine`.
    """
    with suppress(OSError):  # It is there, or SQLite says why it can't be made, and that is translated.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    return SqliteEngine(path)


def in_database(address: str, *, vectors: str | None = None) -> Engine:
    """`vectors` says how they are to be kept, if any will be made.

    Raises: Misconfigured, also if what speaks to PostgreSQL is not installed; as `PostgresEngine`."""
    with importing("postgres", "a store in PostgreSQL needs psycopg, which"):
        from souvenance.adapters.sql.postgres import PostgresEngine
    return PostgresEngine(address, vectors=vectors)
