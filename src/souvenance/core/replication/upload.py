"""Shipping: carry to the bucket what was noted, as the book says it now.

Every step may be taken again, by this process or another, and changes nothing the second time; so a crash
anywhere leaves only notes, which are carried by the next run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from souvenance.core.replication.change_notes import STAMP_BYTES
from souvenance.core.vault import CompartmentKeys, Vault
from souvenance.domain.names import Compartment
from souvenance.domain.objects import (
    KeyObject,
    LineObject,
    ReplacedObject,
    key_name,
    line_key,
    packed,
    packed_key,
    replaced_key,
    room_key,
    room_prefix,
    split_key,
    unpacked_key,
)
from souvenance.errors import StorageUnavailable, Tampered, Unavailable
from souvenance.ports.clock import Entropy
from souvenance.ports.object_store import MOST_LISTED, Objects
from souvenance.ports.replication import KEY, LINE, REPLACED, ROOM, Shipment
from souvenance.ports.store import Store, Transaction, TurnSpan, WrappedKey

AT_ONCE = 100
LEASE_MS = 60 * 1000
_EVER = (1 << 63) - 1
_LONGEST_WAIT_MS = 5 * 60 * 1000
_ANOTHER = (
    "The bucket belongs to another book. Name another prefix, or rebuild that book: 'souvenance rebuild'."
)

Put = Callable[[tuple[str, bytes]], None]
Each = Callable[[Put, Iterable[tuple[str, bytes]]], None]
"""Puts each of many objects, perhaps several at once. Raises: Unavailable, as the first that failed."""


class Shipped(Struct, frozen=True):
    """What came of one load."""

    claimed: int
    carried: int
    trouble: Unavailable | None = None
    """Why all of it waits; what waits without that is of rooms that have lost their keys."""


class _Load(Struct):
    """What a load changes in the bucket: new bytes, or None for what goes."""

    keys: dict[str, bytes | None]
    rest: dict[str, bytes | None]
    rooms: list[Compartment]


def ship_some(
    book: Store,
    vault: Vault,
    entropy: Entropy,
    objects: Objects,
    *,
    now: int,
    each: Each,
    eager: bool,
) -> Shipped:
    """Carry some of what waits; if `eager`, also what others have claimed or postponed.

    Raises: Unavailable if the book is out of reach.
    """
    ready, stamp = _EVER if eager else now, entropy.take(STAMP_BYTES).hex()
    with book.read() as tx:
        if not tx.shipments.due(ready):
            return Shipped(0, 0)
    with book.write(lasting=False) as tx:
        claimed = tx.shipments.claim(stamp, now=ready, until=now + LEASE_MS, most=AT_ONCE)
    if not claimed:
        return Shipped(0, 0)
    with book.read() as tx:
        load, shut = _load(tx, vault, claimed)
    trouble: Unavailable | None = None
    try:
        _carry_keys(objects, vault, load.keys)
        _carry(objects, load.rest, each)
        for room in load.rooms:
            clear_room(book, objects, room)
    except Unavailable as error:
        trouble = error
    waiting = set(claimed) if trouble else shut
    with book.write(lasting=False) as tx:
        for one in claimed:
            if one in waiting:
                tx.shipments.postpone(one, now + min(1000 * 2 ** min(one.tries, 20), _LONGEST_WAIT_MS))
            else:
                tx.shipments.done(one)
    return Shipped(len(claimed), len(claimed) - len(waiting), trouble)


def _load(tx: Transaction, vault: Vault, claimed: Sequence[Shipment]) -> tuple[_Load, set[Shipment]]:
    load, shut = _Load({}, {}, []), set()
    opened: dict[Compartment, CompartmentKeys | None] = {}
    for one in claimed:
        room, name = one.room, one.name
        if one.what == ROOM:
            load.rooms.append(room)
            continue
        if one.what == KEY:
            load.keys[room_key(room, name)] = _key_bytes(tx, room, name)
            continue
        line = tx.lines.get(room, name)
        key = line_key(room, name) if one.what == LINE else replaced_key(room, name)
        if line is None or (one.what == REPLACED and line.invalidated_by is None):
            load.rest[key] = None
            continue
        if room not in opened:
            opened[room] = vault.left(tx, room)
        keys = opened[room]
        if keys is None:
            shut.add(one)
        elif one.what == LINE:
            sources = tx.lines.cited(room.workspace, [name], room=room).get(name, [])
            load.rest[key] = packed(LineObject.of(line, sources), keys.blind)
        elif line.invalidated_by is not None:
            load.rest[key] = packed(ReplacedObject(*room, name, line.invalidated_by), keys.blind)
    return load, shut


def bytes_of(tx: Transaction, vault: Vault, wanted: Sequence[Shipment]) -> dict[str, bytes]:
    """What would be carried of them, by its key; nothing of rooms that have lost theirs."""
    load, _ = _load(tx, vault, wanted)
    return {key: data for key, data in {**load.keys, **load.rest}.items() if data is not None}


def _key_bytes(tx: Transaction, room: Compartment, name: str) -> bytes | None:
    for key in tx.keys.of(room.workspace, room.owner, (room.namespace,)):
        if key_name(key.purpose, key.epoch) == name:
            return packed_key(KeyObject(*room, key.purpose, key.epoch, key.wrapped))
    return None


def _carry_keys(objects: Objects, vault: Vault, load: dict[str, bytes | None]) -> None:
    """A key in the bucket is replaced by nothing but itself, wrapped anew.

    Raises: Unavailable, also if there is another: without it, what it sealed would be lost.
    """
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
        told = unpacked_key(key, data)
    except Tampered as error:
        raise StorageUnavailable(error.detail, hint=_ANOTHER) from None
    return WrappedKey(told.room, told.purpose, told.epoch, told.wrapped)


def _carry(objects: Objects, load: dict[str, bytes | None], each: Each) -> None:
    """Raises: Unavailable."""

    def put(item: tuple[str, bytes]) -> None:
        key, data = item
        if not objects.put_if_absent(key, data) and objects.get(key) != data:
            objects.replace(key, data)

    objects.delete([key for key, data in load.items() if data is None])
    each(put, [(key, data) for key, data in load.items() if data is not None])


def clear_room(book: Store, objects: Objects, room: Compartment) -> None:
    """Delete every object of the room that the book does not have: its keys first.

    Raises: Unavailable.
    """
    prefix = room_prefix(room)
    for folder in (f"{prefix}keys/", prefix):
        for page in pages(objects, folder):
            with book.read() as tx:
                there = set(objects_of(tx, room, page))
            objects.delete([key for key in page if key not in there])


def pages(objects: Objects, prefix: str = "") -> Iterator[list[str]]:
    """Every key under the prefix, some at a time. Raises: Unavailable."""
    after = ""
    while page := objects.keys(prefix, after):
        yield page
        after = page[-1]


def objects_of(tx: Transaction, room: Compartment, keys: Iterable[str]) -> list[str]:
    """Those of the keys whose objects the book has something for."""
    named: dict[str, dict[str, str]] = {LINE: {}, REPLACED: {}, KEY: {}}
    for key in keys:
        found = split_key(key)
        if found is not None and found[0] == room_prefix(room):
            named[found[1]][found[2]] = key
    lines = {line.id: line for line in tx.lines.get_all(room, {**named[LINE], **named[REPLACED]})}
    wrapped = tx.keys.of(room.workspace, room.owner, (room.namespace,)) if named[KEY] else []
    held = {key_name(key.purpose, key.epoch) for key in wrapped}
    return [
        *(key for name, key in named[LINE].items() if name in lines),
        *(
            key
            for name, key in named[REPLACED].items()
            if name in lines and lines[name].invalidated_by is not None
        ),
        *(key for name, key in named[KEY].items() if name in held),
    ]


def expected(tx: Transaction, room: Compartment, after: str) -> tuple[list[Shipment], str | None]:
    """Some of what the bucket should have of the room, and the id to go on after; None at the end."""
    span = TurnSpan(
        room.workspace,
        room.owner,
        (room.namespace,),
        after=(after, room.namespace) if after else None,
        history=True,
        newest_first=False,
        limit=MOST_LISTED,
    )
    found = tx.lines.walk(span)
    told = [Shipment(room, LINE, line.id) for line in found]
    told += [Shipment(room, REPLACED, line.id) for line in found if line.invalidated_by is not None]
    if not after:
        wrapped = tx.keys.of(room.workspace, room.owner, (room.namespace,))
        told += [Shipment(room, KEY, key_name(key.purpose, key.epoch)) for key in wrapped]
    return told, found[-1].id if len(found) == MOST_LISTED else None


def key_of(shipment: Shipment) -> str:
    """The key of what was noted, which is not a whole room."""
    make = {LINE: line_key, REPLACED: replaced_key, KEY: room_key}[shipment.what]
    return make(shipment.room, shipment.name)
