"""The write queue in a folder: every write is a sealed file of its own, on the disk when `put` returns.

    queue.key      the key that seals them
    *.waiting      a write that waits
    *.refused      a write that was set aside

The name of a write tells its place in the order, its id, its lane, the key that sealed it, how often it was
offered, and whether it was set aside. So every change is one renaming, and nobody waits for another process
to put a write. No file is made before the first `put`, and the cipher is loaded when something is sealed.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, convert
from msgspec.structs import replace

from souvenance.adapters.private_files import (
    add_private,
    exists,
    make_private_folder,
    names_in,
    read_private,
    sweep,
)
from souvenance.adapters.system_clock import SystemClock
from souvenance.decoders import settled
from souvenance.domain import ulid
from souvenance.domain.encoding import frame
from souvenance.errors import Misconfigured, SouvenanceError, StorageBusy, StorageUnavailable, Tampered
from souvenance.files import locked, sync_folder, translated
from souvenance.patterns import pattern
from souvenance.ports.clock import Clock
from souvenance.ports.write_queue import MOST_SET_ASIDE, QueuedWrite, WriteQueueStatus, WriteRefused

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_FILE = "queue.key"
WAITING, REFUSED = "waiting", "refused"

_KEY_BYTES = 32
_NONCE_BYTES = 12
_LANE_BYTES = 16
_KEY_WAIT_SECONDS = 1.0
_NAME = pattern(
    r"(?P<place>\d{12})\.(?P<id>[0-9A-Z]{26})\.(?P<lane>[0-9a-f]{32})\.(?P<key>[0-9a-f]{16})"
    rf"\.(?P<attempts>\d{{1,9}})\.(?P<state>{WAITING}|{REFUSED})\Z"
)

_CLOCK = SystemClock()
_log = logging.getLogger("souvenance.write_queue")


class _WriteFile(Struct, frozen=True, order=True):
    """A write as the name of its file tells it; in the order of `put`."""

    place: str
    """Twelve digits."""
    id: str
    lane: str
    """Blinded."""
    key: str
    """Which key sealed it."""
    attempts: int = 0
    state: str = WAITING

    @property
    def name(self) -> str:
        return ".".join(map(str, (self.place, self.id, self.lane, self.key, self.attempts, self.state)))


class SealedWriteQueue:
    """The queue of a folder. Any number of threads and processes may have it open, also across a fork."""

    def __init__(self, folder: Path, *, clock: Clock = _CLOCK) -> None:
        self._folder = folder
        self._clock = clock

    def put(self, lane: str, body: dict[str, Any]) -> str:
        content = json.dumps([lane, body]).encode()
        write_id = ulid.compose(self._clock.now(), os.urandom(ulid.ENTROPY_BYTES))
        for one in (self._folder.parent, self._folder):  # The outer one is the store's own, made later.
            make_private_folder(one)
        seal = self._seal() or _Seal(_made_key(self._folder))
        blinded = seal.blinded(lane)
        places = (int(name[:12]) for name in names_in(self._folder) if name[:12].isdecimal())
        place = f"{max(places, default=0) + 1:012d}"
        entry = _WriteFile(place, write_id, blinded, seal.name)
        add_private(self._folder / entry.name, seal.sealed(write_id, blinded, content))
        return write_id

    def deliver(self, handler: Callable[[QueuedWrite], None]) -> bool:
        if not self._entries():
            return True
        try:
            with locked(self._folder, patience=0):
                return self._deliver(handler)
        except StorageBusy:
            return False

    def standing(self) -> WriteQueueStatus:
        seal, entries = self._seal(), self._entries()
        waiting = [entry.key for entry in entries if entry.state == WAITING]
        ours = 0 if seal is None else waiting.count(seal.name)
        return WriteQueueStatus(ours, len(entries) - len(waiting), len(waiting) - ours)

    def _entries(self) -> list[_WriteFile]:
        found = filter(None, map(_NAME.match, names_in(self._folder)))
        return sorted(convert(name.groupdict(), settled(_WriteFile), strict=False) for name in found)

    def _waiting(self) -> list[_WriteFile]:
        seal, waiting = self._seal(), (entry for entry in self._entries() if entry.state == WAITING)
        return [entry for entry in waiting if seal is not None and entry.key == seal.name]

    def _change(self, entry: _WriteFile, changed: _WriteFile) -> bool:
        """Rename a write; whether it was still there. Raises: StorageUnavailable."""
        with translated(f"{self._folder / entry.name} can't be renamed"):
            try:
                os.rename(self._folder / entry.name, self._folder / changed.name)
            except FileNotFoundError:
                return False
        return True

    def _deliver(self, handler: Callable[[QueuedWrite], None]) -> bool:
        sweep(self._folder)
        stuck: set[str] = set()
        while offered := [entry for entry in self._waiting() if entry.lane not in stuck]:
            for entry in offered:
                if entry.lane not in stuck and not self._offer(entry, handler):
                    stuck.add(entry.lane)
        for entry in [one for one in self._entries() if one.state == REFUSED][:-MOST_SET_ASIDE]:
            self._remove(entry)
        return not stuck

    def _offer(self, entry: _WriteFile, handler: Callable[[QueuedWrite], None]) -> bool:
        """Offer a write, and do with it what the handler says; whether its lane may go on."""
        counted = replace(entry, attempts=entry.attempts + 1)
        if not self._change(entry, counted):
            return True
        sync_folder(self._folder)
        try:
            queued = self._opened(entry, self._folder / counted.name)
        except Tampered:
            return self._change(counted, replace(counted, state=REFUSED))
        except StorageUnavailable as error:
            _log.warning("write %s waits: %s", entry.id, error.detail)
            return False
        try:
            handler(queued)
        except WriteRefused:
            self._change(counted, replace(counted, state=REFUSED))
        except SouvenanceError as error:
            _log.info("write %s waits for another time: %s", entry.id, error.code)
            return False
        except Exception:  # noqa: BLE001 - whatever the handler raises, the write waits.
            _log.exception("write %s waits for what went wrong to be mended", entry.id)
            return False
        else:
            self._remove(counted)
        return True

    def _opened(self, entry: _WriteFile, path: Path) -> QueuedWrite:
        """Raises: Tampered, StorageUnavailable."""
        seal = self._seal()
        if seal is None:
            raise StorageUnavailable(f"the key of {self._folder} is gone")
        with translated(f"{path} can't be read"):
            sealed = path.read_bytes()
        lane, body = json.loads(seal.opened(entry.id, entry.lane, sealed))
        return QueuedWrite(entry.id, lane, ulid.milliseconds(entry.id), body, entry.attempts)

    def _remove(self, entry: _WriteFile) -> None:
        with translated(f"{self._folder / entry.name} can't be removed"):
            (self._folder / entry.name).unlink(missing_ok=True)

    def _seal(self) -> _Seal | None:
        """What seals with the key of the folder; None if it has none. Raises: StorageUnavailable."""
        key = _present_key(self._folder)
        return None if key is None else _Seal(key)


def _present_key(folder: Path) -> bytes | None:
    """The key of the folder; None if there is none, or none that can be read. Raises: StorageUnavailable."""
    if not exists(folder / KEY_FILE):
        return None
    try:
        key = bytes.fromhex(read_private(folder / KEY_FILE))
    except ValueError:
        return None
    except Misconfigured as error:
        raise StorageUnavailable(error.detail, hint=error.hint) from error
    return key if len(key) == _KEY_BYTES else None


def _made_key(folder: Path) -> bytes:
    """A new key; one that can't be read is moved aside. Raises: StorageUnavailable."""
    path = folder / KEY_FILE
    if exists(path):
        with locked(folder, _KEY_WAIT_SECONDS):
            if _present_key(folder) is None and exists(path):
                path.rename(path.with_name(f"{KEY_FILE}.broken-{os.urandom(8).hex()}"))
    add_private(path, f"{os.urandom(_KEY_BYTES).hex()}\n".encode())
    key = _present_key(folder)
    if key is None:
        raise StorageBusy(f"another process changes the key of {folder}")
    return key


class _Seal:
    """Seals writes with one key; the cipher is loaded when something is sealed or opened.

        envelope = nonce (12) | AES-256-GCM ciphertext and tag

    A write's id and lane are bound to its envelope; a lane's name is blinded with the key.
    """

    def __init__(self, key: bytes) -> None:
        self.key = key
        self.name = blake2b(key=key, digest_size=8, person=b"souvenance key").hexdigest()
        """What tells the key, and does not give it away."""

    def blinded(self, lane: str) -> str:
        name = lane.encode("utf-8", "surrogatepass")
        return blake2b(name, key=self.key, digest_size=_LANE_BYTES, person=b"souvenance lane").hexdigest()

    def sealed(self, write_id: str, lane: str, content: bytes) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._sealer().encrypt(nonce, content, _bound(write_id, lane))

    def opened(self, write_id: str, lane: str, sealed: bytes) -> bytes:
        """Raises: Tampered."""
        from cryptography.exceptions import InvalidTag

        try:
            nonce, content = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
            return self._sealer().decrypt(nonce, content, _bound(write_id, lane))
        except (InvalidTag, ValueError):
            raise Tampered(f"write {write_id} does not open: it was altered") from None

    def _sealer(self) -> AESGCM:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(self.key)


def _bound(write_id: str, lane: str) -> bytes:
    """What is sealed with a write, so that its envelope opens nowhere else."""
    return frame("souvenance.write_queue.v1", write_id, lane)
