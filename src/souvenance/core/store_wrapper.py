"""Stores around a store: one that passes everything on, one read at one moment, one that is traced."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any, cast

from souvenance.domain.names import ALL
from souvenance.errors import Misconfigured, SouvenanceError
from souvenance.ports.clock import Entropy
from souvenance.ports.object_store import Objects
from souvenance.ports.observer import STORE, Observer, Watched
from souvenance.ports.store import Store, Transaction


class WrappedStore:
    """The store itself; a class made of this one says what it does differently."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class SnapshotStore(WrappedStore):
    """The store as it was at the first look, for one thread. Writes go to the store and are not seen here."""

    def __init__(self, store: Store, looks: ExitStack) -> None:
        """What is looked at stays open as long as `looks`."""
        super().__init__(store)
        self._views: dict[str, Transaction] = {}
        self._looks = looks

    def read(self, workspace: str = ALL) -> AbstractContextManager[Transaction]:
        if workspace not in self._views:
            self._views[workspace] = self._looks.enter_context(self._store.read(workspace))
        return nullcontext(self._views[workspace])


class TracedStore(WrappedStore):
    """The store, with an observer that sees each transaction."""

    def __init__(self, store: Store, observer: Observer) -> None:
        super().__init__(store)
        self._observer = observer

    def read(self, workspace: str = ALL) -> AbstractContextManager[Transaction]:
        return _watching(self._store.read(workspace), self._observer.watch(STORE, "read"))

    def write(self, workspace: str = ALL, *, lasting: bool = True) -> AbstractContextManager[Transaction]:
        return _watching(self._store.write(workspace, lasting=lasting), self._observer.watch(STORE, "write"))

    def claim(self) -> AbstractContextManager[Transaction]:
        return _watching(self._store.claim(), self._observer.watch(STORE, "write"))


@contextmanager
def _watching(
    opened: AbstractContextManager[Transaction], watch: AbstractContextManager[Watched]
) -> Iterator[Transaction]:
    """A transaction inside the watch over it, so that waiting for its beginning and its commit counts. What
    fails between is not the store's."""
    theirs: SouvenanceError | None = None
    with watch:
        try:
            with opened as tx:
                try:
                    yield tx
                except SouvenanceError as error:
                    theirs = error
                    raise
        except SouvenanceError as error:
            if error is not theirs:
                raise
    if theirs is not None:
        raise theirs


def mirrored(store: Store, entropy: Entropy, objects: Objects | None) -> Store:
    """The store. It notes its changes once it was given a bucket; a new bucket gets a note of all it has.
    Raises: Misconfigured if the store is empty and new to the bucket, and the bucket is not; Unavailable."""
    with store.read() as tx:
        noting = tx.replication.mirrored()
        empty = objects is not None and not noting and not tx.keys.every()
    if objects is None and not noting:
        return store
    from souvenance.core.replication import (  # Few stores have a bucket.
        STAMP_BYTES,
        MirroredStore,
    )

    if objects is not None and not noting:
        if empty and objects.keys():
            raise Misconfigured(
                "the bucket has lines, and this store has none",
                hint="Run 'souvenance rebuild' with the root.key of those lines, or name another prefix.",
            )
        with store.write() as tx:
            tx.replication.begin()
            tx.replication.note_everything(entropy.take(STAMP_BYTES).hex())
    return cast("Store", MirroredStore(store, entropy))
