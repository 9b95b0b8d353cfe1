"""A store that is read at one moment: later changes by others are not seen."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack, nullcontext
from types import TracebackType

from souvenance.core.store_wrapper import StoreAround
from souvenance.domain.names import ALL
from souvenance.ports.store import Store, Transaction


class SnapshotStore(StoreAround):
    """The book itself, but that it is read as it was at the first look, until this is left.

    For one thread. What is written goes to the store, and is not seen here.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._views: dict[str, Transaction] = {}
        self._open = ExitStack()

    def __enter__(self) -> SnapshotStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._views.clear()
        self._open.__exit__(kind, error, trace)

    def read(self, workspace: str = ALL) -> AbstractContextManager[Transaction]:
        if workspace not in self._views:
            self._views[workspace] = self._open.enter_context(self._store.read(workspace))
        return nullcontext(self._views[workspace])
