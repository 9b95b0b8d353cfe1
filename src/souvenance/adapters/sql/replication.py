"""What the bucket must still be told, in SQL."""

from __future__ import annotations

from collections.abc import Collection

from souvenance.adapters.sql.counters import SqlCounters
from souvenance.adapters.sql.engine import COMPARTMENT, SqlSession
from souvenance.domain.names import ALL, Compartment
from souvenance.ports.replication import Shipment

_MIRRORED = "mirrored"
_COLUMNS = "workspace, owner, namespace, what, name"
_AGAIN = f"""ON CONFLICT ({_COLUMNS}) DO UPDATE SET stamp = excluded.stamp, tries = 0, due = 0"""
_NOTE = f"""INSERT INTO replication_queue ({_COLUMNS}, stamp, tries, due)
    VALUES (?, ?, ?, ?, ?, ?, 0, 0) {_AGAIN}"""
_EVERYTHING = (
    ("'line', id", "lines"),
    ("'replaced', target", "invalidations"),
    ("'key', purpose || '-' || CAST(epoch AS TEXT)", "compartment_keys"),
)
_DUE = f"SELECT {_COLUMNS}, stamp, tries FROM replication_queue WHERE due <= ? ORDER BY {_COLUMNS} LIMIT ?"
_PLACE = f"{COMPARTMENT} AND what = ? AND name = ?"
_CLAIM = (
    f"""UPDATE replication_queue SET stamp = ?, due = ?, tries = tries + 1 WHERE {_PLACE} AND stamp = ?"""
)
_DONE = f"DELETE FROM replication_queue WHERE {_PLACE} AND stamp = ?"
_POSTPONE = f"UPDATE replication_queue SET due = ? WHERE {_PLACE} AND stamp = ?"


class SqlReplication:
    def __init__(self, session: SqlSession, counters: SqlCounters) -> None:
        self._session = session
        self._counters = counters

    def note(self, replication: Collection[Shipment]) -> None:
        for one in replication:
            self._session.run(_NOTE, (*one.compartment, one.what, one.name, one.stamp))

    def note_everything(self, stamp: str) -> None:
        for what, table in _EVERYTHING:
            sql = f"""INSERT INTO replication_queue ({_COLUMNS}, stamp, tries, due)
                SELECT workspace, owner, namespace, {what}, CAST(? AS TEXT), 0, 0
                FROM {table} WHERE true {_AGAIN}"""
            self._session.run(sql, (stamp,))

    def due(self, now: int) -> bool:
        return self._session.row("SELECT 1 FROM replication_queue WHERE due <= ? LIMIT 1", (now,)) is not None

    def claim(self, stamp: str, *, now: int, until: int, most: int) -> list[Shipment]:
        taken = []
        for workspace, owner, namespace, what, name, old, tries in self._session.rows(_DUE, (now, most)):
            compartment = Compartment(workspace, owner, namespace)
            if self._session.run(_CLAIM, (stamp, until, *compartment, what, name, old)) == 1:
                taken.append(Shipment(compartment, what, name, stamp, tries + 1))
        return taken

    def done(self, replication: Shipment) -> None:
        one = replication
        if self._session.run(_DONE, (*one.compartment, one.what, one.name, one.stamp)) == 0:
            self.note([one])

    def postpone(self, replication: Shipment, due: int) -> None:
        one = replication
        self._session.run(_POSTPONE, (due, *one.compartment, one.what, one.name, one.stamp))

    def waiting(self, workspace: str | None = None, owner: str | None = None) -> int:
        named = {"workspace": workspace, "owner": owner}
        given = {column: value for column, value in named.items() if value is not None}
        where = " AND ".join(f"{column} = ?" for column in given) or "true"
        row = self._session.row(
            f"SELECT count(*) FROM replication_queue WHERE {where}", tuple(given.values())
        )
        return row[0] if row else 0

    def mirrored(self) -> bool:
        return self._counters.values(ALL).get(_MIRRORED, 0) > 0

    def begin(self) -> None:
        self._counters.increase(ALL, _MIRRORED)
