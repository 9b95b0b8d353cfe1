"""Sign-ins in SQL."""

from __future__ import annotations

import msgspec

from souvenance.adapters.sql.engine import SqlRow, SqlSession, as_bytes
from souvenance.domain.sign_ins import SPENT_KEPT_MS, UNUSED_MS, Client, SignIn, Slip

_ADD_CLIENT = """INSERT INTO signin_clients (id, name, redirects, grants, auth, secret, created_at, used_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
_CLIENT = """SELECT id, name, redirects, grants, auth, secret, created_at, used_at
    FROM signin_clients WHERE id = ?"""
_ADD = """INSERT INTO signins
    (id, client, workspace, peer, access, jti, sealed, created_at, until, used_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_SELECT = """SELECT id, client, workspace, peer, access, jti, sealed, created_at, until, used_at
    FROM signins"""
_KEEP = """INSERT INTO signin_slips (kind, hash, client, signin, until, spent_at, content)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (kind, hash) DO UPDATE SET client = excluded.client, signin = excluded.signin,
    until = excluded.until, spent_at = excluded.spent_at, content = excluded.content"""
_SLIP = """SELECT kind, hash, client, signin, until, spent_at, content
    FROM signin_slips WHERE kind = ? AND hash = ?"""
_SPEND = "UPDATE signin_slips SET spent_at = ? WHERE kind = ? AND hash = ? AND spent_at IS NULL"
_OVER = "SELECT id FROM signins WHERE until <= ? OR (used_at IS NULL AND created_at <= ?)"
_SWEEP = """DELETE FROM signin_slips
    WHERE until <= ? AND (signin IS NULL OR spent_at IS NULL) OR spent_at <= ?"""


class SqlSignIns:
    def __init__(self, session: SqlSession) -> None:
        self._session = session

    def add_client(self, client: Client) -> None:
        lists = (msgspec.json.encode(part).decode() for part in (client.redirects, client.grants))
        self._session.run(
            _ADD_CLIENT,
            (client.id, client.name, *lists, client.auth, client.secret, client.created_at, client.used_at),
        )

    def client(self, client_id: str) -> Client | None:
        row = self._session.row(_CLIENT, (client_id,))
        if row is None:
            return None
        return Client(
            id=row[0],
            name=row[1],
            redirects=msgspec.json.decode(row[2], type=tuple[str, ...]),
            grants=msgspec.json.decode(row[3], type=tuple[str, ...]),
            auth=row[4],
            secret=None if row[5] is None else as_bytes(row[5]),
            created_at=row[6],
            used_at=row[7],
        )

    def use_client(self, client_id: str, now: int) -> None:
        self._session.run(
            "UPDATE signin_clients SET used_at = ? WHERE id = ? AND used_at IS NULL", (now, client_id)
        )

    def strangers(self) -> int:
        return self._count("SELECT COUNT(*) FROM signin_clients WHERE used_at IS NULL")

    def add(self, signin: SignIn) -> None:
        self._session.run(_ADD, msgspec.structs.astuple(signin))

    def get(self, signin_id: str) -> SignIn | None:
        return _signin(self._session.row(f"{_SELECT} WHERE id = ?", (signin_id,)))

    def of_cap(self, jti: str) -> SignIn | None:
        return _signin(self._session.row(f"{_SELECT} WHERE jti = ?", (jti,)))

    def every(self) -> list[SignIn]:
        rows = self._session.rows(f"{_SELECT} ORDER BY id")
        return [found for row in rows if (found := _signin(row)) is not None]

    def use(self, signin_id: str, now: int) -> None:
        self._session.run("UPDATE signins SET used_at = ? WHERE id = ?", (now, signin_id))

    def reseal(self, signin_id: str, sealed: bytes) -> None:
        self._session.run("UPDATE signins SET sealed = ? WHERE id = ?", (sealed, signin_id))

    def end(self, signin_id: str) -> None:
        self._session.run("DELETE FROM signin_slips WHERE signin = ?", (signin_id,))
        self._session.run("DELETE FROM signins WHERE id = ?", (signin_id,))

    def keep(self, slip: Slip) -> None:
        self._session.run(_KEEP, msgspec.structs.astuple(slip))

    def slip(self, kind: str, hashed: bytes) -> Slip | None:
        row = self._session.row(_SLIP, (kind, hashed))
        if row is None:
            return None
        return Slip(
            kind=row[0],
            hash=as_bytes(row[1]),
            client=row[2],
            signin=row[3],
            until=row[4],
            spent_at=row[5],
            content=as_bytes(row[6]),
        )

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


def _signin(row: SqlRow | None) -> SignIn | None:
    if row is None:
        return None
    return SignIn(
        id=row[0],
        client=row[1],
        workspace=row[2],
        peer=row[3],
        access=row[4],
        jti=row[5],
        sealed=as_bytes(row[6]),
        created_at=row[7],
        until=row[8],
        used_at=row[9],
    )
