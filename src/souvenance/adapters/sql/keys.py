"""Wrapped keys in SQL."""

from __future__ import annotations

from collections.abc import Collection

from souvenance.adapters.sql.counters import SqlCounters
from souvenance.adapters.sql.engine import COMPARTMENT, SqlRow, SqlSession, as_bytes, marks
from souvenance.domain.names import Compartment
from souvenance.ports.store import WrappedKey

_SELECT = "SELECT workspace, owner, namespace, purpose, epoch, wrapped FROM compartment_keys"
_ORDER = "ORDER BY workspace, owner, namespace, purpose, epoch"
_ADD = """INSERT INTO compartment_keys (workspace, owner, namespace, purpose, epoch, wrapped)
    VALUES (?, ?, ?, ?, ?, ?)"""
_REWRAP = f"UPDATE compartment_keys SET wrapped = ? WHERE {COMPARTMENT} AND purpose = ? AND epoch = ?"


class SqlKeys:
    def __init__(self, session: SqlSession, counters: SqlCounters) -> None:
        self._session = session
        self._counters = counters
        self._seen: dict[tuple[str, str, Collection[str] | None], list[WrappedKey]] = {}

    def of(self, workspace: str, owner: str, namespaces: Collection[str] | None = None) -> list[WrappedKey]:
        if namespaces is not None and not namespaces:
            return []
        asked = (workspace, owner, None if namespaces is None else frozenset(namespaces))
        if asked not in self._seen:
            where, values = "WHERE workspace = ? AND owner = ?", [workspace, owner]
            if namespaces is not None:
                where += f" AND namespace IN {marks(namespaces)}"
                values.extend(namespaces)
            self._seen[asked] = [
                _key(row) for row in self._session.rows(f"{_SELECT} {where} {_ORDER}", values)
            ]
        return self._seen[asked]

    def add(self, key: WrappedKey) -> None:
        self._seen.clear()
        self._session.run(_ADD, (*key.compartment, key.purpose, key.epoch, key.wrapped))

    def rewrap(self, key: WrappedKey) -> None:
        self._seen.clear()
        self._session.run(_REWRAP, (key.wrapped, *key.compartment, key.purpose, key.epoch))

    def next_epoch(self, workspace: str) -> int:
        return self._counters.increase(workspace, "epoch")

    def every(self) -> list[WrappedKey]:
        return [_key(row) for row in self._session.rows(f"{_SELECT} {_ORDER}")]

    def delete_compartment(self, compartment: Compartment) -> int:
        self._seen.clear()
        return self._session.run(f"DELETE FROM compartment_keys WHERE {COMPARTMENT}", compartment)


def _key(row: SqlRow) -> WrappedKey:
    workspace, owner, namespace, purpose, epoch, wrapped = row
    return WrappedKey(Compartment(workspace, owner, namespace), purpose, epoch, as_bytes(wrapped))
