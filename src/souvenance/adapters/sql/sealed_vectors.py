"""Vectors as they lie sealed in any database: bytes that only who has a compartment's keys can compare."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from souvenance.adapters.sql.engine import SqlSession, Values
from souvenance.domain.embedding import SEALED

_KEEP = """INSERT INTO vectors (workspace, owner, namespace, space, seq, id, sealed)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""


def noted_form(session: SqlSession) -> str | None:
    """In which form the store was told to keep its vectors: sealed or another; None if it was not told."""
    found = session.row("SELECT form FROM vector_form")
    return None if found is None else str(found[0])


class SealedVectors:
    comparing: ClassVar[None] = None
    form = SEALED

    def __init__(self, session: SqlSession, kept: str = "") -> None:
        self._session = session
        self.kept = kept

    def expect(self, vectors: Collection[bytes]) -> None:
        """Bytes need no preparation."""

    def keep(self, place: Values, vector: bytes) -> None:
        self._session.run(_KEEP, (*place, vector))
