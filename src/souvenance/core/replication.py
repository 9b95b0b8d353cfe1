"""Replication: a store notes its changes in the transaction that makes them, and uploads them to the bucket.

A note names what changed, not how: the upload looks in the store. Every step may be taken again, by this
process or another, and changes nothing the second time; so a crash anywhere leaves only notes, which are
carried by the next run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar, cast

from msgspec import Struct

from souvenance.core.request_context import whole_history
from souvenance.core.store_wrapper import WrappedStore
from souvenance.core.vault import CompartmentKeys, Vault
from souvenance.domain import objects as bucket
from souvenance.domain.line import SealedLine
from souvenance.domain.names import ALL, Compartment
from souvenance.errors import StorageUnavailable, Tampered, Unavailable
from souvenance.ports.clock import Entropy
from souvenance.ports.object_store import COMPARTMENT, KEY, LINE, MOST_LISTED, REPLACED, ChangeNote, Objects
from souvenance.ports.store import Keys, Store, StoredLines, Transaction, WrappedKey

STAMP_BYTES = 8

_Stored = TypeVar("_Stored", bound=StoredLines | Keys)
_Note = Callable[[Compartment, str, Iterable[str]], None]


class MirroredStore(WrappedStore):
    """The store itself, but that what is changed in it is noted."""

    def __init__(self, store: Store, entropy: Entropy) -> None:
        super().__init__(store)
        self._entropy = entropy

    @contextmanager
    def write(self, workspace: str = ALL, *, lasting: bool = True) -> Iterator[Transaction]:
        with self._store.write(workspace, lasting=lasting) as tx:
            yield cast("Transaction", _NotingTransaction(tx, self._entropy.take(STAMP_BYTES).hex()))


class _NotingTransaction:
    """A transaction whose lines and keys note what is changed of them."""

    def __init__(self, tx: Transaction, stamp: str) -> None:
        self._tx = tx
        self._stamp = stamp
        self.lines = cast("StoredLines", _NotingLines(tx.lines, self._note))
        self.keys = cast("Keys", _NotingKeys(tx.keys, self._note))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)

    def _note(self, compartment: Compartment, what: str, names: Iterable[str]) -> None:
        self._tx.replication.note(
            [ChangeNote(compartment, what, name, self._stamp) for name in sorted(set(names))]
        )


class _ChangesNoted(Generic[_Stored]):
    """Passes everything on; what changes something notes it."""

    def __init__(self, stored: _Stored, note: _Note) -> None:
        self._stored = stored
        self._note = note

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stored, name)

    def delete_compartment(self, compartment: Compartment) -> int:
        self._note(compartment, COMPARTMENT, [""])
        return self._stored.delete_compartment(compartment)


class _NotingLines(_ChangesNoted[StoredLines]):
    def append(self, line: SealedLine) -> bool:
        appended = self._stored.append(line)
        if appended:
            self._note(line.compartment, LINE, [line.id])
        return appended

    def invalidate(self, compartment: Compartment, target: str, by: str) -> bool:
        marked = self._stored.invalidate(compartment, target, by)
        if marked:
            self._note(compartment, REPLACED, [target])
        return marked

    def annotate(self, compartment: Compartment, line_id: str, metadata: str) -> bool:
        self._note(compartment, LINE, [line_id])
        return self._stored.annotate(compartment, line_id, metadata)

    def reinforce(self, compartment: Compartment, line_id: str, times: int) -> None:
        self._note(compartment, LINE, [line_id])
        self._stored.reinforce(compartment, line_id, times)

    def cite(self, compartment: Compartment, line_id: str, sources: Collection[str]) -> None:
        self._note(compartment, LINE, [line_id])
        self._stored.cite(compartment, line_id, sources)

    def uncite(self, workspace: str, sources: Collection[str]) -> None:
        for compartment, line_id in self._stored.citing(workspace, sources):
            self._note(compartment, LINE, [line_id])
        self._stored.uncite(workspace, sources)

    def delete(self, compartment: Compartment, line_ids: Collection[str]) -> int:
        self._note(compartment, LINE, line_ids)
        self._note(compartment, REPLACED, line_ids)
        return self._stored.delete(compartment, line_ids)


class _NotingKeys(_ChangesNoted[Keys]):
    def add(self, key: WrappedKey) -> None:
        self._note(key.compartment, KEY, [bucket.key_name(key.purpose, key.epoch)])
        self._stored.add(key)

    def rewrap(self, key: WrappedKey) -> None:
        self._note(key.compartment, KEY, [bucket.key_name(key.purpose, key.epoch)])
        self._stored.rewrap(key)


AT_ONCE = 100
LEASE_MS = 60 * 1000
_EVER = (1 << 63) - 1
_LONGEST_WAIT_MS = 5 * 60 * 1000
_ANOTHER = (
    "The bucket belongs to another store. Name another prefix, or rebuild that store: 'souvenance rebuild'."
)

Put = Callable[[tuple[str, bytes]], None]
Each = Callable[[Put, Iterable[tuple[str, bytes]]], None]
"""Puts each of many objects, perhaps several at once. Raises: Unavailable, as the first that failed."""


class Shipped(Struct, frozen=True):
    claimed: int
    carried: int
    trouble: Unavailable | None = None
    """Why all of it waits; what waits without that is of compartments that have lost their keys."""


class _Load(Struct):
    """What a load changes in the bucket: new bytes, or None for what goes."""

    keys: dict[str, bytes | None]
    rest: dict[str, bytes | None]
    compartments: list[Compartment]


def ship_some(
    store: Store, vault: Vault, entropy: Entropy, objects: Objects, *, now: int, each: Each, eager: bool
) -> Shipped:
    """Carry some of what waits; `eager` also what others claimed or postponed. Raises: Unavailable."""
    ready, stamp = _EVER if eager else now, entropy.take(STAMP_BYTES).hex()
    with store.read() as tx:
        if not tx.replication.due(ready):
            return Shipped(0, 0)
    with store.write(lasting=False) as tx:
        claimed = tx.replication.claim(stamp, now=ready, until=now + LEASE_MS, most=AT_ONCE)
    if not claimed:
        return Shipped(0, 0)
    with store.read() as tx:
        load, shut = _load(tx, vault, claimed)
    trouble: Unavailable | None = None
    try:
        _carry_keys(objects, vault, load.keys)
        _carry(objects, load.rest, each)
        for compartment in load.compartments:
            clear_compartment(store, objects, compartment)
    except Unavailable as error:
        trouble = error
    waiting = set(claimed) if trouble else shut
    with store.write(lasting=False) as tx:
        for one in claimed:
            if one in waiting:
                tx.replication.postpone(one, now + min(1000 * 2 ** min(one.tries, 20), _LONGEST_WAIT_MS))
            else:
                tx.replication.done(one)
    return Shipped(len(claimed), len(claimed) - len(waiting), trouble)


def _load(tx: Transaction, vault: Vault, claimed: Sequence[ChangeNote]) -> tuple[_Load, set[ChangeNote]]:
    load, shut = _Load({}, {}, []), set()
    opened: dict[Compartment, CompartmentKeys | None] = {}
    for one in claimed:
        compartment, name = one.compartment, one.name
        if one.what == COMPARTMENT:
            load.compartments.append(compartment)
            continue
        key = key_of(one)
        if one.what == KEY:
            packed = (bucket.KeyObject(*compartment, *held[1:]) for held in _keys(tx, compartment))
            named = (one for one in packed if bucket.key_name(one.purpose, one.epoch) == name)
            load.keys[key] = next(map(bucket.packed_key, named), None)
            continue
        line = tx.lines.get(compartment, name)
        if line is None or (one.what == REPLACED and line.invalidated_by is None):
            load.rest[key] = None
            continue
        if compartment not in opened:
            opened[compartment] = vault.left(tx, compartment)
        keys = opened[compartment]
        if keys is None:
            shut.add(one)
        elif one.what == LINE:
            sources = tx.lines.cited(compartment.workspace, [name], compartment=compartment).get(name, [])
            load.rest[key] = bucket.packed(bucket.LineObject.of(line, sources), keys.blind)
        elif line.invalidated_by is not None:
            load.rest[key] = bucket.packed(
                bucket.ReplacedObject(*compartment, name, line.invalidated_by), keys.blind
            )
    return load, shut


def _carry_keys(objects: Objects, vault: Vault, load: dict[str, bytes | None]) -> None:
    """A key in the bucket is replaced by nothing but itself, wrapped anew. Raises: Unavailable, also if there
    is another: without it, what it sealed would be lost."""
    objects.delete([key for key, data in load.items() if data is None])
    for key, data in load.items():
        if data is None or objects.put_if_absent(key, data):
            continue
        there = objects.get(key)
        if there != data:
            if there is not None and not vault.same(_wrapped(key, there), _wrapped(key, data)):
                raise StorageUnavailable(f"the bucket has another key under {key}", hint=_ANOTHER)
            objects.replace(key, data)


def _wrapped(key: str, data: bytes) -> WrappedKey:
    try:
        content = bucket.unpacked_key(key, data)
    except Tampered as error:
        raise StorageUnavailable(error.detail, hint=_ANOTHER) from None
    return WrappedKey(content.compartment, content.purpose, content.epoch, content.wrapped)


def _carry(objects: Objects, load: dict[str, bytes | None], each: Each) -> None:
    """Raises: Unavailable."""

    def put(item: tuple[str, bytes]) -> None:
        key, data = item
        if not objects.put_if_absent(key, data) and objects.get(key) != data:
            objects.replace(key, data)

    objects.delete([key for key, data in load.items() if data is None])
    each(put, [(key, data) for key, data in load.items() if data is not None])


def clear_compartment(store: Store, objects: Objects, compartment: Compartment) -> None:
    """Delete every object that the store does not have, keys first. Raises: Unavailable."""
    prefix = bucket.compartment_prefix(compartment)
    for folder in (f"{prefix}keys/", prefix):
        for page in pages(objects, folder):
            with store.read() as tx:
                there = _there(tx, compartment, page)
            objects.delete([key for key in page if key not in there])


def pages(objects: Objects, prefix: str = "") -> Iterator[list[str]]:
    """Every key under the prefix, some at a time. Raises: Unavailable."""
    after = ""
    while page := objects.keys(prefix, after):
        yield page
        after = page[-1]


def _there(tx: Transaction, compartment: Compartment, keys: Iterable[str]) -> set[str]:
    """The keys of what the store has that these keys may name."""
    names = {found[2] for key in keys if (found := bucket.split_key(key)) is not None}
    lines = tx.lines.get_all(compartment, names)
    return set(map(key_of, _notes(compartment, lines, _keys(tx, compartment))))


def _keys(tx: Transaction, compartment: Compartment) -> Sequence[WrappedKey]:
    return tx.keys.of(compartment.workspace, compartment.owner, (compartment.namespace,))


def _notes(
    compartment: Compartment, lines: Sequence[SealedLine], keys: Iterable[WrappedKey]
) -> list[ChangeNote]:
    """What the bucket should have of these lines and keys."""
    return [
        *(ChangeNote(compartment, LINE, line.id) for line in lines),
        *(ChangeNote(compartment, REPLACED, line.id) for line in lines if line.invalidated_by is not None),
        *(ChangeNote(compartment, KEY, bucket.key_name(key.purpose, key.epoch)) for key in keys),
    ]


def expected(tx: Transaction, compartment: Compartment, after: str) -> tuple[list[ChangeNote], str | None]:
    """Some of what the bucket should have of the compartment, and the id to go on after; None at the end."""
    found = tx.lines.walk(whole_history(compartment, after, MOST_LISTED))
    notes = _notes(compartment, found, () if after else _keys(tx, compartment))
    return notes, found[-1].id if len(found) == MOST_LISTED else None


def key_of(noted: ChangeNote) -> str:
    """The key of what was noted, which is not a whole compartment."""
    return bucket.object_key(noted.compartment, noted.what, noted.name)
