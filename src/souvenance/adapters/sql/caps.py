"""Revocations and burned proofs in SQL."""

from __future__ import annotations

import hashlib

import msgspec

from souvenance.adapters.sql.engine import SqlSession
from souvenance.decoders import settled
from souvenance.domain.capability import Revocation, Revoker
from souvenance.domain.names import ALL

_REVOKE = """INSERT INTO revocations (workspace, kind, value, revoker_hash, revoker, at)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (workspace, kind, value, revoker_hash) DO UPDATE SET at = excluded.at
    WHERE excluded.at > revocations.at"""
_REVOKED = "SELECT workspace, kind, value, at, revoker FROM revocations WHERE workspace IN (?, ?)"
_BURN = "INSERT INTO burned_proofs (workspace, proof, until) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"


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
        self._session.run("DELETE FROM burned_proofs WHERE workspace = ? AND until < ?", (workspace, now))
        return self._session.run(_BURN, (workspace, proof, until)) == 1
