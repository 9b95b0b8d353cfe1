"""The file of the sealed write queue: a SQLite database, and the key that seals what is in it.

A file that can't be read, or that another key sealed, is moved aside whole (`outbox.db.broken-...`) with what
stands beside it, and a new one is begun: nothing is deleted.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from hashlib import blake2b
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from souvenance.adapters.private_files import exists, locked, make_private_folder, sweep
from souvenance.adapters.processes import is_gone
from souvenance.adapters.sql.sqlite import translated
from souvenance.adapters.write_queue.folder import FILE, Late, key_of, make_file, move_aside
from souvenance.domain import ulid
from souvenance.domain.encoding import frame
from souvenance.errors import IntegrityError, StorageUnavailable, Tampered
from souvenance.ports.write_queue import LONGEST_HOLD_MS, MOST_SET_ASIDE, Letter

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_FORMAT = b"\x01"
_NONCE_BYTES = 12
_LANE_BYTES = 16


class Seal:
    """Seals letters with one key; the cipher is loaded when something is sealed or opened.

        envelope = 0x01 | nonce (12) | AES-256-GCM ciphertext and tag

    A letter's id and lane are bound to its envelope; a lane's name is blinded with the key.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._cipher: AESGCM | None = None

    @property
    def check(self) -> bytes:
        """What tells the key, and does not give it away."""
        return blake2b(b"outbox 1", key=self._key, person=b"souvenance check").digest()

    def blinded(self, lane: str) -> bytes:
        name = lane.encode("utf-8", "surrogatepass")
        return blake2b(name, key=self._key, digest_size=_LANE_BYTES, person=b"souvenance lane").digest()

    def sealed(self, letter_id: str, lane: bytes, content: bytes) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        return _FORMAT + nonce + self._sealer().encrypt(nonce, content, _bound(letter_id, lane))

    def opened(self, letter_id: str, lane: bytes, sealed: bytes) -> bytes:
        """Raises: Tampered."""
        from cryptography.exceptions import InvalidTag

        body = len(_FORMAT) + _NONCE_BYTES
        try:
            if sealed[:1] != _FORMAT:
                raise Tampered(f"letter {letter_id} is not a sealed envelope")
            return self._sealer().decrypt(sealed[1:body], sealed[body:], _bound(letter_id, lane))
        except (InvalidTag, TypeError, ValueError):
            raise Tampered(f"letter {letter_id} does not open: it was altered") from None

    def _sealer(self) -> AESGCM:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        if self._cipher is None:
            self._cipher = AESGCM(self._key)
        return self._cipher


def _bound(letter_id: str, lane: bytes) -> bytes:
    """What is sealed with a letter, so that its envelope opens nowhere else."""
    return frame("souvenance.outbox.v1", letter_id, lane)


_PRIMARY_CODE = 0xFF

_PRAGMAS = (
    "auto_vacuum = INCREMENTAL",
    "journal_mode = WAL",
    "synchronous = FULL",
    "secure_delete = ON",
    "wal_autocheckpoint = 100",
    "busy_timeout = 20",
    "temp_store = MEMORY",
)
_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS letters (
        place INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL,
        lane BLOB NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        holder TEXT,
        sealed BLOB NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS letters_by_lane ON letters (lane, place)",
    """
    CREATE TABLE IF NOT EXISTS set_aside (
        place INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL,
        lane BLOB NOT NULL,
        attempts INTEGER NOT NULL,
        sealed BLOB NOT NULL
    )
    """,
    "CREATE TABLE IF NOT EXISTS key_check (value BLOB NOT NULL)",
)
_FIRST_OF_LANES = """
    SELECT place, id, lane, attempts, sealed FROM letters AS letter
    WHERE place > ? AND holder IS NULL AND NOT EXISTS (
        SELECT 1 FROM letters AS earlier WHERE earlier.lane = letter.lane AND earlier.place < letter.place
    )
    ORDER BY place
"""
_KEPT_BACK = """
    SELECT COUNT(*) FROM letters AS letter
    JOIN (SELECT lane, MIN(place) AS first FROM letters WHERE holder IS NOT NULL GROUP BY lane) AS hold
    ON letter.lane = hold.lane AND letter.place >= hold.first
"""

_T = TypeVar("_T")

Row = tuple[int, str, bytes, int, bytes]
"""The place, the id, the blinded lane, the attempts and the envelope of a letter."""


class Moved(Exception):
    """The file in the folder is not the one that is open."""


class WriteQueueFile:
    """The open file. What reads or changes letters is called by `transact`."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, key: bytes) -> None:
        self._folder = folder
        self._path = folder / FILE
        self._inode = _inode(self._path)
        self._connection = connection
        self._execute = connection.execute
        self._seal = Seal(key)

    def transact(self, work: Callable[[WriteQueueFile], _T], patience: float) -> _T:
        """Raises: StorageUnavailable, StorageBusy if others have it for so long, IntegrityError, Moved."""
        with translated():
            self._begin(patience)
            try:
                if not self._is_in_place():
                    raise Moved
                done = work(self)
                self._execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._execute("ROLLBACK")
            return done

    def _begin(self, patience: float) -> None:
        """Ask often: as SQLite asks, there is hardly a chance beside a process that writes on and on."""
        deadline = monotonic() + patience
        while True:
            try:
                self._execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & _PRIMARY_CODE != sqlite3.SQLITE_BUSY or monotonic() > deadline:
                    raise

    def prepare(self) -> None:
        """Raises: IntegrityError if another key sealed what is there."""
        for table in _TABLES:
            self._execute(table)
        expected = self._seal.check
        found = self._execute("SELECT value FROM key_check").fetchall()
        if not found:
            self._execute("INSERT INTO key_check VALUES (?)", (expected,))
        elif found != [(expected,)]:
            raise IntegrityError(f"{self._path} was sealed with another key")

    def add(self, letter_id: str, lane: str, content: bytes, holder: str | None) -> None:
        blinded = self._seal.blinded(lane)
        self._insert(Late(letter_id, blinded, self._seal.sealed(letter_id, blinded, content), holder), 0)

    def take_in(self, late: Iterable[Late]) -> None:
        """Letters that were put while another had the file.

        They count as offered once: who took one in may have been killed before its own file was gone.
        """
        for letter in late:
            if not self._number("SELECT COUNT(*) FROM letters WHERE id = ?", (letter.id,)):
                self._insert(letter, 1)

    def _insert(self, letter: Late, attempts: int) -> None:
        self._execute(
            "INSERT INTO letters (id, lane, attempts, holder, sealed) VALUES (?, ?, ?, ?, ?)",
            (letter.id, letter.lane, attempts, letter.holder, letter.sealed),
        )

    def first_of_lanes(self, after: int) -> sqlite3.Cursor:
        """The first letter of every lane that is not held, in the order they were put."""
        return self._execute(_FIRST_OF_LANES, (after,))

    def unsealed(self, letter_id: str, lane: bytes, attempts: int, sealed: bytes) -> Letter:
        """Raises: Tampered."""
        content = self._seal.opened(letter_id, lane, sealed)
        name, said = json.loads(content)
        return Letter(letter_id, name, ulid.milliseconds(letter_id), said, attempts)

    def count_attempt(self, place: int) -> None:
        self._execute("UPDATE letters SET attempts = attempts + 1 WHERE place = ?", (place,))

    def remove(self, place: int, letter_id: str) -> None:
        self._execute("DELETE FROM letters WHERE place = ? AND id = ?", (place, letter_id))

    def set_aside(self, place: int, letter_id: str) -> None:
        self._execute(
            "INSERT INTO set_aside (id, lane, attempts, sealed)"
            " SELECT id, lane, attempts, sealed FROM letters WHERE place = ? AND id = ?",
            (place, letter_id),
        )
        self.remove(place, letter_id)
        self._execute(
            "DELETE FROM set_aside WHERE place <= (SELECT MAX(place) FROM set_aside) - ?", (MOST_SET_ASIDE,)
        )

    def kept_back(self, lane: str) -> int:
        """How many letters of the lane are held, or stand behind one that is."""
        return self._number(f"{_KEPT_BACK} WHERE letter.lane = ?", (self._seal.blinded(lane),))

    def release(self, lane: str) -> None:
        self._execute(
            "UPDATE letters SET holder = NULL WHERE lane = ? AND holder IS NOT NULL",
            (self._seal.blinded(lane),),
        )

    def release_abandoned(self, now: int) -> None:
        """Release what is held by a process that is gone, or was held for too long."""
        oldest = ulid.floor(now - LONGEST_HOLD_MS)
        self._execute("UPDATE letters SET holder = NULL WHERE holder IS NOT NULL AND id < ?", (oldest,))
        holders = self._execute("SELECT DISTINCT holder FROM letters WHERE holder IS NOT NULL").fetchall()
        for (holder,) in holders:
            if is_gone(holder):
                self._execute("UPDATE letters SET holder = NULL WHERE holder = ?", (holder,))

    def counted(self, now: int) -> tuple[int, int, int]:
        """How many letters wait, are held and are set aside."""
        self.release_abandoned(now)
        held = self._number(_KEPT_BACK)
        waiting = self._number("SELECT COUNT(*) FROM letters") - held
        return waiting, held, self._number("SELECT COUNT(*) FROM set_aside")

    def tidy(self) -> None:
        """Give back what is free, and leave nothing in SQLite's log: now, or when nobody reads it."""
        if self._log_size():
            with suppress(StorageUnavailable, IntegrityError), translated():
                self._connection.executescript("PRAGMA incremental_vacuum")
            self.empty_log()

    def empty_log(self) -> None:
        """Move what is in SQLite's log to where it belongs, if nobody reads it now."""
        with suppress(StorageUnavailable, IntegrityError), translated():
            self._execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def give_up(self) -> None:
        """Close the file and move it aside, unless another process did. Raises: StorageUnavailable."""
        with locked(self._folder):
            self.move_aside()

    def move_aside(self) -> None:
        """To be called in `locked`. While the file can be held, nobody puts a letter into it meanwhile."""
        with suppress(sqlite3.Error):
            self._execute("BEGIN IMMEDIATE")
        try:
            if self._is_in_place():
                move_aside(self._folder)
        finally:
            self.close()

    def close(self) -> None:
        self._connection.close()

    def _number(self, sql: str, values: tuple[Any, ...] = ()) -> int:
        (number,) = self._execute(sql, values).fetchone()
        return int(number)

    def _log_size(self) -> int:
        try:
            return self._path.with_name(f"{FILE}-wal").stat().st_size
        except OSError:
            return 0

    def _is_in_place(self) -> bool:
        return self._inode is not None and self._inode == _inode(self._path)


def opened(folder: Path, patience: float) -> WriteQueueFile:
    """The file of the folder, made if it is missing.

    Raises: StorageUnavailable, StorageBusy if others have the folder or the file for so long.
    """
    for one in (folder.parent, folder):  # The outer one is the store's own, where that is made later.
        make_private_folder(one)
    with locked(folder, patience):
        sweep(folder)
        key = key_of(folder)
        if not exists(folder / FILE):
            move_aside(folder)
        try:
            return _prepared(folder, key, patience)
        except IntegrityError:
            return _prepared(folder, key, patience)


def _prepared(folder: Path, key: bytes, patience: float) -> WriteQueueFile:
    """Raises: StorageUnavailable, IntegrityError if the file can't be used, and was moved aside."""
    make_file(folder)
    try:
        file = WriteQueueFile(folder, _connected(folder / FILE, patience), key)
    except IntegrityError:
        move_aside(folder)
        raise
    with ExitStack() as undone:
        undone.callback(file.close)
        try:
            file.transact(WriteQueueFile.prepare, patience)
        except IntegrityError:
            file.move_aside()
            raise
        undone.pop_all()
    return file


def _connected(path: Path, patience: float) -> sqlite3.Connection:
    """Raises: StorageUnavailable, IntegrityError if the file is no database."""
    with ExitStack() as undone, translated():
        connection = sqlite3.connect(path, timeout=patience, isolation_level=None, check_same_thread=False)
        undone.callback(connection.close)
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}").fetchall()
        undone.pop_all()
    return connection


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None
