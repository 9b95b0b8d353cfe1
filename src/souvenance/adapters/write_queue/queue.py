"""The write queue in a folder: an entry is on the disk, sealed, when `put` returns.

    outbox.db       the letters, in the order they were put
    outbox.key      the key that seals them
    outbox.lock     held by who delivers
    *.late          letters that were put while another process held the first

No file is made before the first `put`, and SQLite and the cipher are loaded only when there is
something to read or to seal.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast
from weakref import WeakSet

from msgspec import Struct

from souvenance.adapters.private_files import exists, translation
from souvenance.adapters.processes import name_of
from souvenance.adapters.system_clock import SystemClock
from souvenance.adapters.write_queue.folder import (
    BUSY_SECONDS,
    FILE,
    LOCK_FILE,
    Late,
    first_key,
    leave,
    left,
    moved_aside,
    read,
    take_away,
)
from souvenance.domain import ulid
from souvenance.errors import (
    IntegrityError,
    SouvenanceError,
    StorageBusy,
    StorageFull,
    StorageUnavailable,
    Tampered,
)
from souvenance.ports.clock import Clock
from souvenance.ports.write_queue import Letter, WriteQueueStatus, WriteRefused

if TYPE_CHECKING:
    from souvenance.adapters.write_queue.database import Row, WriteQueueFile

_TRIES = 4
_MOMENT_SECONDS = 1.0
"""For so long whoever has something to put or to ask waits for others: the process may be about to end."""

_CLOCK = SystemClock()
_log = logging.getLogger("souvenance.outbox")
_T = TypeVar("_T")


class _End(Enum):
    TAKEN = "taken"
    REFUSED = "refused"
    KEPT = "kept"


class SealedWriteQueue:
    """The outbox of a folder. Any number of threads and processes may have it open, also across a fork."""

    def __init__(self, folder: Path, *, clock: Clock = _CLOCK) -> None:
        self._folder = folder
        self._clock = clock
        self._lock = threading.Lock()
        self._file: WriteQueueFile | None = None
        with _entering:
            _outboxes.add(self)

    def put(self, lane: str, body: dict[str, Any], *, held: bool = False) -> str:
        content = json.dumps([lane, body]).encode()
        letter_id = ulid.compose(self._clock.now(), os.urandom(ulid.ENTROPY_BYTES))
        holder = name_of(os.getpid()) if held else None
        try:
            self._within(lambda file: file.add(letter_id, lane, content, holder), None, make=True)
        except StorageBusy:
            self._leave(letter_id, lane, content, holder)
        return letter_id

    def _leave(self, letter_id: str, lane: str, content: bytes, holder: str | None) -> None:
        """Put it beside the file, which another process holds. Raises: StorageUnavailable."""
        from souvenance.adapters.write_queue.database import Seal

        seal = Seal(first_key(self._folder))
        blinded = seal.blinded(lane)
        leave(self._folder, Late(letter_id, blinded, seal.sealed(letter_id, blinded, content), holder))

    def held(self, lane: str) -> int:
        return self._within(lambda file: file.kept_back(lane), 0)

    def release(self, lane: str) -> None:
        self._within(lambda file: file.release(lane), None)

    def deliver(self, carrier: Callable[[Letter], None]) -> bool:
        if not self._is_there():
            return True
        with _turn(self._folder / LOCK_FILE) as ours:
            return ours and self._deliver(carrier)

    def standing(self) -> WriteQueueStatus:
        counted = self._within(lambda file: file.counted(self._clock.now()), (0, 0, 0))
        return WriteQueueStatus(*counted, moved_aside(self._folder))

    def close(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _deliver(self, carrier: Callable[[Letter], None]) -> bool:
        self._within(lambda file: file.release_abandoned(self._clock.now()), None, patience=BUSY_SECONDS)
        delivery = _Delivery()
        while (offer := self._within(delivery.next, None, patience=BUSY_SECONDS)) is not None:
            delivery.last = offer, _end(carrier, offer.letter)
        with self._lock:
            if self._file is not None:
                self._file.tidy()
        return not delivery.stuck

    def _is_there(self) -> bool:
        return exists(self._folder / FILE) or bool(left(self._folder))

    def _within(
        self,
        work: Callable[[WriteQueueFile], _T],
        absent: _T,
        *,
        make: bool = False,
        patience: float = _MOMENT_SECONDS,
    ) -> _T:
        """What the work says in one transaction; `absent` if there is no file, and none is to be made.

        Letters that were left beside the file come into it first. Others may have it for `patience`.
        Raises: StorageUnavailable.
        """
        if not make and not self._is_there():
            return absent
        if not self._lock.acquire(timeout=patience):
            raise StorageBusy(f"{self._folder / FILE} is held by others")
        try:
            late = left(self._folder)

            def in_order(file: WriteQueueFile) -> _T:
                file.take_in(read(late))
                return work(file)

            done = self._transacted(in_order, patience)
            take_away(late)
            return done
        finally:
            self._lock.release()

    def _transacted(self, work: Callable[[WriteQueueFile], _T], patience: float) -> _T:
        from souvenance.adapters.write_queue.database import Moved, opened

        for attempt in range(_TRIES):
            try:
                if self._file is None:
                    self._file = opened(self._folder, patience)
                return self._file.transact(work, patience)
            except Moved:
                self._close()
            except IntegrityError:
                file, self._file = self._file, None
                if file is not None:
                    file.give_up()
            except StorageFull:
                if self._file is None or attempt:
                    raise
                self._file.empty_log()
        raise StorageUnavailable(f"{self._folder / FILE} is damaged again as soon as it is made anew")

    def _before_fork(self) -> None:
        """Let no transaction be under way."""
        self._lock.acquire()

    def _after_fork(self, *, child: bool) -> None:
        """A child opens the file itself: SQLite's locks are its parent's alone."""
        if child:
            self._close()
        self._lock.release()


_outboxes: WeakSet[SealedWriteQueue] = WeakSet()
_entering = threading.Lock()
_forking: list[SealedWriteQueue] = []
_turns: set[int] = set()
"""The descriptors by which this process holds the right to deliver."""


def _before_fork() -> None:
    _entering.acquire()
    _forking.extend(_outboxes)
    for write_queue in _forking:
        write_queue._before_fork()


def _after_fork(*, child: bool) -> None:
    while _forking:
        _forking.pop()._after_fork(child=child)
    _entering.release()
    while child and _turns:
        os.close(_turns.pop())


os.register_at_fork(
    before=_before_fork,
    after_in_parent=partial(_after_fork, child=False),
    after_in_child=partial(_after_fork, child=True),
)


class _Offer(Struct, frozen=True):
    letter: Letter
    place: int
    lane: bytes


class _Delivery:
    """One delivery: each letter in turn, the first of its lane."""

    def __init__(self) -> None:
        self.stuck: set[bytes] = set()
        self.last: tuple[_Offer, _End] | None = None
        self._reached = 0

    def next(self, file: WriteQueueFile) -> _Offer | None:
        """Settle what became of the last letter, and note that the next one is offered."""
        self._settle(file)
        while (row := self._first(file)) is not None:
            place, letter_id, lane, attempts, sealed = row
            self._reached = place
            try:
                letter = file.unsealed(letter_id, lane, attempts, sealed)
            except Tampered:
                file.set_aside(place, letter_id)
            else:
                file.count_attempt(place)
                return _Offer(letter, place, lane)
        return None

    def _settle(self, file: WriteQueueFile) -> None:
        if self.last is None:
            return
        offer, end = self.last
        match end:
            case _End.TAKEN:
                file.remove(offer.place, offer.letter.id)
            case _End.REFUSED:
                file.set_aside(offer.place, offer.letter.id)
            case _End.KEPT:
                self.stuck.add(offer.lane)

    def _first(self, file: WriteQueueFile) -> Row | None:
        """Of the lanes that go on, the first letter that was not reached yet, else the first of all."""
        for start in dict.fromkeys((self._reached, 0)):
            with closing(file.first_of_lanes(start)) as rows:
                for row in rows:
                    if row[2] not in self.stuck:
                        return cast("Row", row)
        return None


def _end(carrier: Callable[[Letter], None], letter: Letter) -> _End:
    try:
        carrier(letter)
    except WriteRefused:
        return _End.REFUSED
    except SouvenanceError as error:
        _log.info("letter %s waits for another time: %s", letter.id, error.code)
        return _End.KEPT
    except Exception:  # noqa: BLE001 - whatever the carrier raises, the letter waits.
        _log.exception("letter %s waits for what went wrong to be mended", letter.id)
        return _End.KEPT
    return _End.TAKEN


@contextmanager
def _turn(path: Path) -> Iterator[bool]:
    """Whether nobody else delivers, in this process or another; until the end nobody else will."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise translation(f"{path} can't be opened", error) from error
    _turns.add(descriptor)
    try:
        yield _flocked(descriptor)
    finally:
        if descriptor in _turns:
            _turns.discard(descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)


def _flocked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise translation(f"{LOCK_FILE} can't be locked", error) from error
    return True
