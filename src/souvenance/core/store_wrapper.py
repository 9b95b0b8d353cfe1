"""A store that passes everything on to another one."""

from __future__ import annotations

from contextlib import AbstractContextManager

from souvenance.domain.names import ALL
from souvenance.ports.store import Store, Transaction


class StoreAround:
    """The book itself; a class made of this one says what it does differently."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self, workspace: str = ALL) -> AbstractContextManager[Transaction]:
        return self._store.read(workspace)

    def write(self, workspace: str = ALL, *, lasting: bool = True) -> AbstractContextManager[Transaction]:
        return self._store.write(workspace, lasting=lasting)

    def claim(self) -> AbstractContextManager[Transaction]:
        return self._store.claim()

    def scrub(self) -> bool:
        return self._store.scrub()

    def scrub_pending(self) -> bool:
        return self._store.scrub_pending()

    def close(self) -> None:
        self._store.close()
