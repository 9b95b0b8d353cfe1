"""A store whose transactions are traced."""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import TracebackType

from souvenance.core.store_wrapper import StoreAround
from souvenance.domain.names import ALL
from souvenance.errors import SouvenanceError
from souvenance.ports.observer import STORE, Observer, Watched
from souvenance.ports.store import Store, Transaction


class TracedStore(StoreAround):
    """The book itself, but that an observer is told of each transaction."""

    def __init__(self, store: Store, observer: Observer) -> None:
        super().__init__(store)
        self._observer = observer

    def read(self, workspace: str = ALL) -> _Watching:
        return _Watching(self._store.read(workspace), self._observer.watch(STORE, "read"))

    def write(self, workspace: str = ALL, *, lasting: bool = True) -> _Watching:
        return _Watching(self._store.write(workspace, lasting=lasting), self._observer.watch(STORE, "write"))

    def claim(self) -> _Watching:
        return _Watching(self._store.claim(), self._observer.watch(STORE, "write"))


class _Watching:
    """A transaction inside the watch over it, so that waiting for it to begin and to be committed counts."""

    __slots__ = ("_opened", "_watch")

    def __init__(
        self, opened: AbstractContextManager[Transaction], watch: AbstractContextManager[Watched]
    ) -> None:
        self._opened = opened
        self._watch = watch

    def __enter__(self) -> Transaction:
        self._watch.__enter__()
        try:
            return self._opened.__enter__()
        except SouvenanceError as error:
            self._watch.__exit__(type(error), error, error.__traceback__)
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._opened.__exit__(kind, error, trace)
        except SouvenanceError as failed:
            self._watch.__exit__(type(failed), failed, failed.__traceback__)
            raise
        self._watch.__exit__(None, None, None)
