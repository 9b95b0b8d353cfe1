"""Revocations and burned proofs in SQL."""

from __future__ import annotations

from mnemon.adapters.sql.engine import Session
from mnemon.domain.cap import Revocation
from mnemon.domain.names import ALL

_REVOKE = """INSERT INTO revocations (workspace, kind, value, subject, at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (workspace, kind, value, subject) DO UPDATE SET at = excluded.at
    WHERE excluded.at > revocations.at"""
_BURN = "INSERT INTO burned_proofs (workspace, proof, until) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"


class SqlCaps:
    def __init__(self, session: Session) -> None:
        self._session = session

    def revoke(self, revocation: Revocation) -> None:
        one = revocation
        self._session.run(_REVOKE, (one.workspace, one.kind, one.value, one.subject, one.at))

    def revocations(self, workspace: str) -> list[Revocation]:
        sql = "SELECT workspace, kind, value, at, subject FROM revocations WHERE workspace IN (?, ?)"
        return [Revocation(*row) for row in self._session.rows(sql, (workspace, ALL))]

    def burn(self, workspace: str, proof: str, now: int, until: int) -> bool:
        self._session.run("DELETE FROM burned_proofs WHERE workspace = ? AND until < ?", (workspace, now))
        return self._session.run(_BURN, (workspace, proof, until)) == 1
