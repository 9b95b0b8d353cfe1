"""Mending: compare book and bucket both ways, and give each what it lacks; make an empty book anew.

What the book has and the bucket lacks is noted, and carried. What the bucket has and the book lacks was
either forgotten, as the audit log then tells, and goes from the bucket; or the book lost it, and it comes
back, if it opens. Looked at deeply, every object is read: where both have something and it is not the same,
the book's counts if it opens, and else the bucket's. Each step is a transaction of its own with an audit
row, so that it may be ended at any moment and begun again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TypeVar

from msgspec import Struct, field

from mnemon.core.conversation.place import Changes
from mnemon.core.desk import Desk, Tools
from mnemon.core.mirroring import STAMP_BYTES
from mnemon.core.remember import append
from mnemon.core.shipping import bytes_of, expected, key_of, pages
from mnemon.core.vault import RoomKeys
from mnemon.domain import ulid
from mnemon.domain.audit import OK, Event
from mnemon.domain.line import SealedLine
from mnemon.domain.names import SESSIONS, Room
from mnemon.domain.objects import LineObject, ReplacedObject, split_key, unpacked, unpacked_key
from mnemon.domain.policy import Scope
from mnemon.domain.register import MEMBER, PEER, SESSION, WORKSPACE, Entry, Tie
from mnemon.errors import Conflict, IntegrityError, Tampered
from mnemon.gate.carrier import Carrier
from mnemon.gate.upkeep import forgotten
from mnemon.gate.workshop import ACTOR
from mnemon.ports.book import Book, Transaction, WrappedKey
from mnemon.ports.clock import Clock
from mnemon.ports.shipments import KEY, LINE, REPLACED, ROOM, Shipment

_One = TypeVar("_One")

_AT_ONCE = 200
_PATIENCE_SECONDS = 600.0
NOT_REBUILT = (
    "the audit log and its checkpoints",
    "revocations of caps, and sign-ins",
    "metadata and settings of workspaces, peers and sessions, and who left a session",
    "scopes, webhooks and work that waited",
)
"""What objects do not tell, in words."""


class Mended(Struct):
    """What was done, and what could not be."""

    restored: int = 0
    """Lines that the book lacked."""
    carried: int = 0
    """Objects that the bucket lacked."""
    removed: int = 0
    """Objects of what was forgotten."""
    renewed: int = 0
    """Objects that did not say what the book says."""
    findings: list[str] = field(default_factory=list)


class Mender:
    def __init__(self, *, book: Book, clock: Clock, tools: Tools, carrier: Carrier) -> None:
        """The book is one that does not note its changes: what comes from the bucket is there already."""
        self._book = book
        self._clock = clock
        self._tools = tools
        self.carrier = carrier

    def rebuild(self) -> Mended:
        """Make an empty book anew from the bucket.

        Raises: Conflict if it is not empty; Unavailable, WrongKey.
        """
        with self._book.read() as tx:
            if tx.keys.every() or tx.lines.rooms():
                raise Conflict(
                    "the book is not empty", hint="What it lacks comes back with 'mnemon doctor --repair'."
                )
        keyed = Mended()
        for page in pages(self.carrier.objects):
            self._restore_keys([key for key in page if "/keys/" in key], keyed)
        mended = self.repair()
        mended.findings[:0] = keyed.findings
        with self._book.write() as tx:
            tx.shipments.begin()
        return mended

    def repair(self, *, deep: bool = False) -> Mended:
        """Give each what it lacks; `deep` reads every object, too. Raises: Unavailable, WrongKey."""
        self.carrier.carry_all(_PATIENCE_SECONDS)
        mended = Mended()
        with self._book.read() as tx:
            rooms = {_prefix(room): room for room in {*tx.lines.rooms(), *(k.room for k in tx.keys.every())}}
        told: dict[str, Callable[[Room, str], bool]] = {}
        for prefix, keys in self._of_rooms():
            room = rooms.pop(prefix, None) or self._room_of(keys)
            if room is None or _prefix(room) != prefix:
                mended.findings.append(f"the objects under {prefix} have no key that says whose they are")
                continue
            if room.workspace not in told:
                with self._book.read() as tx:
                    told[room.workspace] = forgotten(tx, room.workspace)
            self._mend_room(room, set(keys), told[room.workspace], mended, deep=deep)
        for room in rooms.values():
            self._mend_room(room, set(), lambda room, line_id: False, mended)
        self.carrier.carry_all(_PATIENCE_SECONDS)
        return mended

    def _of_rooms(self) -> Iterator[tuple[str, list[str]]]:
        """The keys of the bucket, room by room."""
        every = (key for page in pages(self.carrier.objects) for key in page)
        ours = ((found[0], key) for key in every if (found := split_key(key)) is not None)
        for prefix, some in groupby(ours, key=lambda pair: pair[0]):
            yield prefix, [key for _, key in some]

    def _room_of(self, keys: Sequence[str]) -> Room | None:
        for key in keys:
            if "/keys/" in key:
                try:
                    data = self.carrier.objects.get(key)
                    return None if data is None else unpacked_key(key, data).room
                except Tampered:
                    continue
        return None

    def _mend_room(
        self,
        room: Room,
        there: set[str],
        gone: Callable[[Room, str], bool],
        mended: Mended,
        *,
        deep: bool = False,
    ) -> None:
        extra = set(there)
        after, first = "", True
        while first or after:
            with self._book.read() as tx:
                wanted, after = expected(tx, room, after)
            first = False
            keys = {key_of(one): one for one in wanted}
            self._note([one for key, one in keys.items() if key not in there])
            mended.carried += len(keys.keys() - there)
            extra -= keys.keys()
            if deep:
                self._compare(room, [one for key, one in keys.items() if key in there], mended)
        found = sorted((split[1], split[2], key) for key in extra if (split := split_key(key)) is not None)
        lost = {name for what, name, _ in found if what == LINE and not gone(room, name)}
        dead = [name for what, name, _ in found if what == LINE and name not in lost]
        self._note([Shipment(room, LINE, name) for name in dead])
        mended.removed += len(dead)
        with self._book.read() as tx:
            lives = bool(lost) or tx.lines.count(room) > 0
        if not lives:
            self._note([Shipment(room, ROOM, "")])
            return
        self._restore(room, found, lost, mended)

    def _compare(self, room: Room, both: Sequence[Shipment], mended: Mended) -> None:
        """Make the objects say what the book says; the keys first, for without them nothing opens."""
        self._compare_keys(room, both, mended)
        for some in _batches([one for one in both if one.what != KEY]):
            with self._book.read() as tx:
                ours = bytes_of(tx, self._tools.vault, some)
                closed = self._closed(tx, room, [one.name for one in some if one.what == LINE])
            theirs = dict(zip(ours, self.carrier.fetched(ours), strict=True))
            other = [one for one in some if ours.get(key_of(one)) != theirs.get(key_of(one))]
            better = [key_of(one) for one in other if one.what == LINE and one.name in closed]
            self._note([one for one in other if key_of(one) not in better])
            mended.renewed += len(other) - len(better)
            if better:
                self._restore_lines(room, better, mended)

    def _closed(self, tx: Transaction, room: Room, names: Sequence[str]) -> set[str]:
        """Those of the lines that do not open in the book."""
        keys = self._tools.vault.left(tx, room)
        return {line.id for line in tx.lines.get_all(room, names) if keys is None or not _opens(line, keys)}

    def _compare_keys(self, room: Room, both: Sequence[Shipment], mended: Mended) -> None:
        wanted = [one for one in both if one.what == KEY]
        with self._book.read() as tx:
            ours = bytes_of(tx, self._tools.vault, wanted)
        theirs = dict(zip(ours, self.carrier.fetched(ours), strict=True))
        for one in wanted:
            key = key_of(one)
            mine, its = ours.get(key), theirs.get(key)
            if mine is None or its is None or mine == its:
                continue
            held, found = self._key_in(key, mine), self._key_in(key, its)
            if held is None and found is None:
                mended.findings.append(f"the key {key} opens neither in the book nor in the bucket")
            elif found is None and self._is_ours(room, both):
                self._note([one])
                self.carrier.objects.delete([key])
                mended.renewed += 1
            elif held is None and found is not None:
                with self._book.write() as tx:
                    tx.keys.rewrap(found)
                    tx.touch(room.workspace, rooms=True)
            elif held is not None and found is not None and self._tools.vault.same(held, found):
                self._note([one])
                mended.renewed += 1
            else:
                mended.findings.append(f"the bucket has another key under {key}")

    def _key_in(self, key: str, data: bytes) -> WrappedKey | None:
        """The key that an object tells, if it opens."""
        try:
            told = unpacked_key(key, data)
            wrapped = WrappedKey(told.room, told.purpose, told.epoch, told.wrapped)
            self._tools.vault.check(wrapped)
        except IntegrityError:
            return None
        return wrapped

    def _is_ours(self, room: Room, both: Sequence[Shipment]) -> bool:
        """Whether lines in the bucket bear the tag of this book's keys, and no other book lies there."""
        with self._book.read() as tx:
            opener = self._tools.vault.left(tx, room)
        keys = [key_of(one) for one in both if one.what == LINE][:_AT_ONCE]
        fetched = zip(keys, self.carrier.fetched(keys), strict=True)
        return opener is not None and any(
            data is not None and _is_of(key, data, opener.blind) for key, data in fetched
        )

    def _restore(
        self, room: Room, found: Sequence[tuple[str, str, str]], lost: set[str], mended: Mended
    ) -> None:
        self._restore_keys([key for what, _, key in found if what == KEY], mended)
        lines = [key for what, name, key in found if what == LINE and name in lost]
        for some in _batches(lines):
            self._restore_lines(room, some, mended)
        for some in _batches([key for what, _, key in found if what == REPLACED]):
            self._restore_replaced(room, some, mended)

    def _restore_keys(self, keys: Sequence[str], mended: Mended) -> None:
        """Raises: WrongKey, before anything is changed that another root key would have to open."""
        for key, data in zip(keys, self.carrier.fetched(keys), strict=True):
            if data is None:
                continue
            try:
                told = unpacked_key(key, data)
                wrapped = WrappedKey(told.room, told.purpose, told.epoch, told.wrapped)
                self._tools.vault.check(wrapped)
            except Tampered as error:
                mended.findings.append(error.detail)
                continue
            with self._book.write() as tx:
                if all((one.purpose, one.epoch) != wrapped[1:3] for one in _keys_of(tx, told.room)):
                    tx.keys.add(wrapped)
                    while tx.keys.next_epoch(told.workspace) < told.epoch:
                        pass  # An epoch is never given twice.
                    tx.touch(told.workspace, rooms=True)

    def _restore_lines(self, room: Room, keys: Sequence[str], mended: Mended) -> None:
        fetched = self.carrier.fetched(keys)
        with self._book.write() as tx:
            opener = self._opener(tx, room, mended)
            if opener is None:
                return
            changes, desk = Changes(), self._desk(tx, room)
            for key, data in zip(keys, fetched, strict=True):
                try:
                    told = None if data is None else unpacked(key, data, opener.blind)
                    if not isinstance(told, LineObject):
                        continue
                    line, held = told.line, tx.lines.get(room, told.id)
                    text = opener.open(line)
                    if held is not None and not _opens(held, opener):
                        tx.lines.delete(room, [line.id])
                        tx.terms.remove(room, [line.id])
                    if append(desk, line, text, opener):
                        tx.lines.cite(room, line.id, told.sources)
                        if held is not None and held.invalidated_by is not None:
                            _replace(tx, room, line.id, held.invalidated_by)
                        self._enter(tx, line)
                        changes.add(line)
                    else:
                        mended.findings.append(f"line {line.id} is told twice, or its turn is taken")
                except IntegrityError as error:
                    mended.findings.append(error.detail)
            tx.touch(room.workspace, rooms=True)
            if changes.put:
                self._record(tx, room, changes)
            mended.restored += len(changes.put)

    def _restore_replaced(self, room: Room, keys: Sequence[str], mended: Mended) -> None:
        fetched = self.carrier.fetched(keys)
        with self._book.write() as tx:
            opener = self._opener(tx, room, mended)
            if opener is None:
                return
            done: list[tuple[str, str, str, str]] = []
            for key, data in zip(keys, fetched, strict=True):
                try:
                    told = None if data is None else unpacked(key, data, opener.blind)
                except IntegrityError as error:
                    mended.findings.append(error.detail)
                    continue
                if isinstance(told, ReplacedObject):
                    if _replace(tx, room, told.target, told.by):
                        done.append((room.owner, room.namespace, told.target, told.by))
                    elif tx.lines.get(room, told.target) is None:
                        self._note_in(tx, [Shipment(room, REPLACED, told.target)])
            if done:
                self._record(tx, room, Changes({room.namespace}), replaced=done)

    def _opener(self, tx: Transaction, room: Room, mended: Mended) -> RoomKeys | None:
        try:
            keys = self._tools.vault.known(tx, room)
        except Tampered as error:
            mended.findings.append(f"namespace {room.namespace!r} of {room.owner!r}: {error.detail}")
            return None
        if keys is None:
            mended.findings.append(f"namespace {room.namespace!r} of {room.owner!r} has lost its keys")
        return keys

    def _enter(self, tx: Transaction, line: SealedLine) -> None:
        """Enter in the register who and what the line tells of, as far as it is not there."""
        room, session = line.room, line.session
        if line.turn is None and line.about is None:
            return
        self._name(tx, room.workspace, WORKSPACE, line)
        for peer in (room.owner, line.about):
            if peer is not None and peer != SESSIONS:
                self._name(tx, peer, PEER, line)
        if line.turn is not None and session is not None:
            self._name(tx, session, SESSION, line)
            if not tx.register.ties(room.workspace, MEMBER, holder=session, held=room.owner):
                tx.register.tie(Tie(room.workspace, MEMBER, session, room.owner, line.turn))

    def _name(self, tx: Transaction, name: str, kind: str, line: SealedLine) -> None:
        workspace = line.room.workspace
        if tx.register.entry(workspace, kind, name) is None:
            uid = ulid.compose(line.created_at, self._tools.entropy.take(ulid.ENTROPY_BYTES))
            where = {} if kind == WORKSPACE else {"namespace": line.room.namespace}
            tx.register.add(Entry(workspace, kind, name, uid, line.created_at, **where))

    def _note(self, shipments: Sequence[Shipment]) -> None:
        if shipments:
            with self._book.write() as tx:
                self._note_in(tx, shipments)

    def _note_in(self, tx: Transaction, shipments: Sequence[Shipment]) -> None:
        stamp = self._tools.entropy.take(STAMP_BYTES).hex()
        tx.shipments.note([one._replace(stamp=stamp) for one in shipments])

    def _desk(self, tx: Transaction, room: Room) -> Desk:
        scope = Scope(room.workspace, ACTOR, frozenset((room.namespace,)), None)
        return Desk(tx, scope, ACTOR, self._clock.now(), self._tools)

    def _record(self, tx: Transaction, room: Room, changes: Changes, **facts: object) -> None:
        trace = changes.trace(**facts)
        tx.audit.append(
            room.workspace,
            Event(
                at=self._clock.now(),
                actor=ACTOR,
                cap=ACTOR,
                operation="objects.restore",
                outcome=OK,
                namespaces=trace.namespaces,
                lines=trace.lines,
                detail=trace.detail,
            ),
        )


def _replace(tx: Transaction, room: Room, target: str, by: str) -> bool:
    """Mark the line as replaced, so that no question finds it; False if it was, or is not there."""
    marked = tx.lines.invalidate(room, target, by)
    if marked:
        tx.terms.remove(room, (target,))
    return marked


def _opens(line: SealedLine, keys: RoomKeys) -> bool:
    try:
        keys.open(line)
    except Tampered:
        return False
    return True


def _is_of(key: str, data: bytes, blind: bytes) -> bool:
    try:
        unpacked(key, data, blind)
    except Tampered:
        return False
    return True


def _prefix(room: Room) -> str:
    return key_of(Shipment(room, LINE, ""))


def _keys_of(tx: Transaction, room: Room) -> list[WrappedKey]:
    return tx.keys.of(room.workspace, room.owner, (room.namespace,))


def _batches(keys: Sequence[_One]) -> Iterator[Sequence[_One]]:
    return (keys[first : first + _AT_ONCE] for first in range(0, len(keys), _AT_ONCE))
