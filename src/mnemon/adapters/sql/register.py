"""The register in SQL."""

from __future__ import annotations

from mnemon.adapters.sql.engine import NO_LIMIT, Session, as_bytes
from mnemon.domain.register import WORKSPACE, Entry, Tie
from mnemon.ports.register import Batch

_ENTRY = "SELECT workspace, kind, name, uid, created_at, metadata, configuration FROM entries"
_NAMED = "workspace = ? AND kind = ? AND name = ?"
_ADD = """INSERT INTO entries (workspace, kind, name, uid, created_at, metadata, configuration)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"""
_UPDATE = f"UPDATE entries SET metadata = ?, configuration = ? WHERE {_NAMED}"
_TIE = """INSERT INTO ties (workspace, kind, holder, held, since, until, configuration)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (workspace, kind, holder, held, since)
    DO UPDATE SET until = excluded.until, configuration = excluded.configuration"""
_TIES = "SELECT workspace, kind, holder, held, since, until, configuration FROM ties"
_BATCH = """SELECT workspace, session, digest, at, first_turn, last_turn FROM batches
    WHERE workspace = ? AND session = ? AND digest = ?"""
_FORGET_BATCHES = "DELETE FROM batches WHERE workspace = ? AND session = ? AND at < ?"
_KEEP_BATCH = """INSERT INTO batches (workspace, session, digest, at, first_turn, last_turn)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (workspace, session, digest)
    DO UPDATE SET at = excluded.at, first_turn = excluded.first_turn, last_turn = excluded.last_turn"""


class SqlRegister:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._seen: dict[tuple[str, str, str], Entry | None] = {}

    def entry(self, workspace: str, kind: str, name: str) -> Entry | None:
        asked = (workspace, kind, name)
        if asked not in self._seen:
            row = self._session.row(f"{_ENTRY} WHERE {_NAMED}", asked)
            self._seen[asked] = None if row is None else Entry(*row)
        return self._seen[asked]

    def add(self, entry: Entry) -> bool:
        one = entry
        self._seen.pop((one.workspace, one.kind, one.name), None)
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
        return self._session.run(f"DELETE FROM entries WHERE {_NAMED}", place) == 1

    def entries(
        self,
        workspace: str | None,
        kind: str,
        *,
        newest_first: bool = False,
        offset: int = 0,
        limit: int | None = None,
    ) -> list[Entry]:
        where, values = _kind(workspace, kind)
        order = "DESC" if newest_first else "ASC"
        sql = f"""{_ENTRY} WHERE {where}
            ORDER BY uid {order}, workspace {order}, name {order} LIMIT ? OFFSET ?"""
        most = NO_LIMIT if limit is None else limit
        return [Entry(*row) for row in self._session.rows(sql, (*values, most, offset))]

    def count(self, workspace: str | None, kind: str) -> int:
        where, values = _kind(workspace, kind)
        row = self._session.row(f"SELECT count(*) FROM entries WHERE {where}", values)
        return row[0] if row else 0

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

    def untie(self, workspace: str, kind: str, *, holder: str | None = None, held: str | None = None) -> int:
        where, values = _ends(workspace, kind, holder, held)
        return self._session.run(f"DELETE FROM ties WHERE {where}", values)

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
        for table in ("entries", "ties", "batches"):
            self._session.run(f"DELETE FROM {table} WHERE workspace = ?", (workspace,))


def _kind(workspace: str | None, kind: str) -> tuple[str, tuple[str, ...]]:
    if workspace is not None:
        return "workspace = ? AND kind = ?", (workspace, kind)
    if kind == WORKSPACE:
        return f"kind = '{WORKSPACE}'", ()
    return "kind = ?", (kind,)


def _ends(workspace: str, kind: str, holder: str | None, held: str | None) -> tuple[str, list[str]]:
    where, values = "workspace = ? AND kind = ?", [workspace, kind]
    for column, name in (("holder", holder), ("held", held)):
        if name is not None:
            where += f" AND {column} = ?"
            values.append(name)
    return where, values
