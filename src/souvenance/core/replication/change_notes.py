"""A store that notes its changes for the bucket, in the transaction that makes them.

Only what is written passes here. A note names what changed, not how: the carrier looks in the store.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, cast

from souvenance.core.store_wrapper import StoreAround
from souvenance.domain.line import SealedLine
from souvenance.domain.names import ALL, Compartment
from souvenance.domain.objects import key_name
from souvenance.ports.clock import Entropy
from souvenance.ports.object_store import COMPARTMENT, KEY, LINE, REPLACED, Shipment
from souvenance.ports.store import Keys, Lines, Store, Transaction, WrappedKey

STAMP_BYTES = 8

_Note = Callable[[Compartment, str, Iterable[str]], None]


class MirroredStore(StoreAround):
    """The book itself, but that what is changed in it is noted."""

    def __init__(self, store: Store, entropy: Entropy) -> None:
        super().__init__(store)
        self._entropy = entropy

    def write(self, workspace: str = ALL, *, lasting: bool = True) -> AbstractContextManager[Transaction]:
        return _Writing(self._store.write(workspace, lasting=lasting), self._entropy.take(STAMP_BYTES).hex())


class _Writing:
    __slots__ = ("_managed", "_stamp")

    def __init__(self, managed: AbstractContextManager[Transaction], stamp: str) -> None:
        self._managed = managed
        self._stamp = stamp

    def __enter__(self) -> Transaction:
        return cast("Transaction", _Noting(self._managed.__enter__(), self._stamp))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._managed.__exit__(kind, error, trace)


class _Noting:
    """A transaction whose lines and keys note what is changed of them."""

    def __init__(self, tx: Transaction, stamp: str) -> None:
        self._tx = tx
        self._stamp = stamp
        self.lines = cast("Lines", _NotingLines(tx.lines, self._note))
        self.keys = cast("Keys", _NotingKeys(tx.keys, self._note))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)

    def _note(self, compartment: Compartment, what: str, names: Iterable[str]) -> None:
        self._tx.replication.note(
            [Shipment(compartment, what, name, self._stamp) for name in sorted(set(names))]
        )


class _NotingLines:
    def __init__(self, lines: Lines, note: _Note) -> None:
        self._lines = lines
        self._note = note

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lines, name)

    def append(self, line: SealedLine) -> bool:
        appended = self._lines.append(line)
        if appended:
            self._note(line.compartment, LINE, [line.id])
        return appended

    def invalidate(self, compartment: Compartment, target: str, by: str) -> bool:
        marked = self._lines.invalidate(compartment, target, by)
        if marked:
            self._note(compartment, REPLACED, [target])
        return marked

    def annotate(self, compartment: Compartment, line_id: str, metadata: str) -> bool:
        self._note(compartment, LINE, [line_id])
        return self._lines.annotate(compartment, line_id, metadata)

    def reinforce(self, compartment: Compartment, line_id: str, times: int) -> None:
        self._note(compartment, LINE, [line_id])
        self._lines.reinforce(compartment, line_id, times)

    def cite(self, compartment: Compartment, line_id: str, sources: Collection[str]) -> None:
        self._note(compartment, LINE, [line_id])
        self._lines.cite(compartment, line_id, sources)

    def uncite(self, workspace: str, sources: Collection[str]) -> None:
        for compartment, line_id in self._lines.citing(workspace, sources):
            self._note(compartment, LINE, [line_id])
        self._lines.uncite(workspace, sources)

    def delete(self, compartment: Compartment, line_ids: Collection[str]) -> int:
        self._note(compartment, LINE, line_ids)
        self._note(compartment, REPLACED, line_ids)
        return self._lines.delete(compartment, line_ids)

    def delete_compartment(self, compartment: Compartment) -> int:
        self._note(compartment, COMPARTMENT, [""])
        return self._lines.delete_compartment(compartment)


class _NotingKeys:
    def __init__(self, keys: Keys, note: _Note) -> None:
        self._keys = keys
        self._note = note

    def __getattr__(self, name: str) -> Any:
        return getattr(self._keys, name)

    def add(self, key: WrappedKey) -> None:
        self._note(key.compartment, KEY, [key_name(key.purpose, key.epoch)])
        self._keys.add(key)

    def rewrap(self, key: WrappedKey) -> None:
        self._note(key.compartment, KEY, [key_name(key.purpose, key.epoch)])
        self._keys.rewrap(key)

    def delete_compartment(self, compartment: Compartment) -> int:
        self._note(compartment, COMPARTMENT, [""])
        return self._keys.delete_compartment(compartment)
