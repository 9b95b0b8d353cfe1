"""The audit log in SQL."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from souvenance.adapters.sql.engine import SqlRow, SqlSession, as_bytes
from souvenance.domain import merkle
from souvenance.domain.audit import GENESIS, Event, Row, leaf_of
from souvenance.errors import BrokenAuditChain

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
