"""The SQLite engine: one file in WAL mode, one writer at a time, any number of readers.

A lasting commit is on the disk when it returns: SQLite commits (synchronous=NORMAL), the lock is free for the
next writer, and then we flush SQLite's log ourselves (ADR 0027). Readers and writers draw from one pool the
connection that was used last. One thread of a process writes at a time; other processes are held off by
SQLite's own lock, for which we wait: for both together at most `BUSY_SECONDS`. A write that need not last
waits for one other writer at most, not for all lasting writes in the queue, and for no flush. Once the log is
long, a lasting writer copies it into the file when its own work is done, and nobody waits for that either.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from itertools import count
from pathlib import Path
from time import monotonic, sleep
from typing import ClassVar
from weakref import finalize

from souvenance.adapters.sql.engine import SealedVectors, SqlRow, SqlSession, Values
from souvenance.domain.names import ALL
from souvenance.errors import IntegrityError, StorageBusy, StorageFull, StorageReadOnly, StorageUnavailable
from souvenance.pauses import pause
from souvenance.ports.store import Difference

BUSY_SECONDS = 10.0
_AS_IT_IS = getattr(os, "O_BINARY", 0)
"""Without it, Windows takes some bytes for the ends of lines and of the file."""
_SCRUB_BUSY_MS = 2000
_AGAIN_SECONDS = 0.005
_MOST_IDLE = 8
"""How many connections are kept for readers to come: each keeps up to 2 MB of pages."""

_STATEMENTS = 256
"""How many prepared statements a connection keeps: all doors together use more than SQLite's usual 128."""

_LOG_HEADER, _FRAME_HEADER = 32, 24
"""Bytes at the beginning of SQLite's log, and before each page in it."""
_LONG, _TOO_LONG = 1000, 8000
"""Pages in the log from which on it is copied into the file: by a lasting writer when its work is done, and
where there is none, by any writer as it commits."""
LOOK_EVERY = 16
"""How many lasting writes pass from one look at the log's length to the next."""

_PRIMARY_CODE = 0xFF
_READABLE = partial(str, encoding="utf-8", errors="replace")
"""A text that someone spoiled is still read, so that the row it stands in can be named."""

_COLUMNS = """SELECT m.name, p.name, p.pk FROM sqlite_master m, pragma_table_info(m.name) p
    WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, p.cid"""


class SqliteEngine:
    columns = _COLUMNS
    types: ClassVar[dict[str, str]] = {
        "blob": "BLOB",
        "serial": "INTEGER PRIMARY KEY AUTOINCREMENT",
        "clustered": " WITHOUT ROWID",
        "text": "TEXT",
    }

    def __init__(self, path: Path) -> None:
        """Open or create the file.

        Raises: StorageUnavailable and its kind, IntegrityError if the file is no database.
        """
        self._path = path
        self._lock = threading.Lock()
        self._line = threading.Lock()
        """Held by the one lasting writer that has the lock or is the next to have it."""
        self._entrance = threading.Lock()
        self._checkpointing = threading.Lock()
        self._writes = count(1)
        self._idle: deque[SqliteConnection] = deque()
        self._closed = False
        self._flushed = False
        """Whether closing had everything on the disk, for a writer that was about to."""
        with translated(), ExitStack() as opened:
            self._anchor = self._connect()
            """It keeps the log open. A statement that it left unread would keep it from closing."""
            opened.callback(self._anchor.close)
            self._begin_log()
            self._anchor.prepare()
            self._anchor.rows("SELECT 1 FROM sqlite_master")  # This makes the log.
            try:
                # It stays while our own connection is open.
                self._log = os.open(f"{path}-wal", os.O_RDWR | _AS_IT_IS)
            except OSError as error:
                raise _flush_failure(error) from error
            opened.pop_all()
        self._close_log = finalize(self, os.close, self._log)
        self._close_log.atexit = False  # Threads may still write then, and the system closes it anyway.

    def _begin_log(self) -> None:
        """SQLite waits for nobody who makes the same new file at the same moment; so we do."""
        deadline = monotonic() + BUSY_SECONDS
        while True:
            try:
                self._anchor.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if not _is_held(error) or monotonic() >= deadline:
                    raise
                sleep(_AGAIN_SECONDS)

    def _connect(self) -> SqliteConnection:
        connection = sqlite3.connect(
            self._path,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=_STATEMENTS,
        )
        connection.execute("PRAGMA temp_store = MEMORY")
        return SqliteConnection(connection)

    @contextmanager
    def read(self, workspace: str = ALL) -> Iterator[SqliteConnection]:
        """One consistent view, on a connection of its own."""
        try:
            session = self._take()
            session.execute("BEGIN")
            finished = False
            try:
                session.look()
                session.pauses = True
                yield session
                finished = True
            finally:
                if not finished:
                    session.distrust()
                session.pauses = False
                session.execute("ROLLBACK")
                self._give_back(session)
        except sqlite3.Error as error:
            raise _translation(error) from error

    def write(self, workspace: str = ALL, *, lasting: bool = True) -> _Writing:
        """The one writer's transaction: committed at the end, or undone. It is made on the connection used
        last: what that one knows of the store, its pages too, is still true for whoever comes next."""
        return _Writing(self._written(lasting))

    def _written(self, lasting: bool) -> Generator[SqliteConnection, None, None]:
        locks = (self._line, self._lock) if lasting else (self._lock,)
        until = _acquire(locks)
        try:
            session = self._take()
            try:
                if until is None:
                    session.execute("BEGIN IMMEDIATE")
                else:
                    session.begin_writing(until)
                committed = False
                try:
                    session.look()
                    yield session
                    session.execute("COMMIT")
                    committed = True
                finally:
                    if not committed:
                        session.distrust()
                        if session.in_transaction:
                            session.execute("ROLLBACK")
            finally:
                self._give_back(session)
        except sqlite3.Error as error:
            raise _translation(error) from error
        finally:
            for lock in locks:
                lock.release()
        if lasting:
            self.flush()
            self._checkpoint()

    def claim(self) -> AbstractContextManager[SqliteConnection]:
        return self.write(lasting=False)

    def _take(self) -> SqliteConnection:
        """The session that was given back last, or a new one; to be given back."""
        with self._entrance:
            if self._closed:
                raise StorageUnavailable("the store was closed")
            try:
                return self._idle.pop()
            except IndexError:
                with ExitStack() as opened:
                    session = self._connect()
                    opened.callback(session.close)
                    session.prepare()
                    opened.pop_all()
                return session

    def _give_back(self, session: SqliteConnection) -> None:
        if len(self._idle) < _MOST_IDLE and not self._closed:
            self._idle.append(session)
        else:
            session.close()
        if self._closed:  # While it was read, the engine was closed.
            self._close_idle()

    def flush(self) -> None:
        """Have everything that is committed on the disk. Raises: StorageUnavailable."""
        try:
            _sync(self._log)
        except OSError as error:
            if not self._flushed:
                raise _flush_failure(error) from error

    def _checkpoint(self) -> None:
        """Copy the log into the file, if it is time to look, it is long and nobody does. What fails is tried
        again next time."""
        if next(self._writes) % LOOK_EVERY == 0 and self._checkpointing.acquire(blocking=False):
            try:
                if not _is_longer(self._log, _LONG):
                    return
                with suppress(sqlite3.Error):
                    session = self._take()
                    session.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                    self._give_back(session)
            finally:
                self._checkpointing.release()

    def fortify(self, session: SqlSession) -> None:
        """SQLite has no access rights: a process that can read the file can read all of it."""

    def listening(self, heard: Callable[[], None]) -> AbstractContextManager[bool]:
        """SQLite tells nobody what other processes write."""
        return nullcontext(False)

    def vectors(self, session: SqlSession) -> SealedVectors:
        return SealedVectors(session)

    def differences(self, session: SqlSession) -> list[Difference]:
        from souvenance.adapters.sql.schema import differences

        return differences(session)

    def resume(self, session: SqlSession) -> None:
        """SQLite counts on from the highest number that is there."""

    def reclaim(self) -> bool:
        """Rewrite the file without what was deleted, and empty the log. New readers wait meanwhile."""
        with self._lock, self._entrance, translated():
            self._close_idle()
            self._anchor.rows(f"PRAGMA busy_timeout = {_SCRUB_BUSY_MS}")
            try:
                self._anchor.execute("VACUUM")
                [(busy, *_)] = self._anchor.rows("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.OperationalError as error:
                if _is_held(error):
                    return False
                raise
            finally:
                self._anchor.rows(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
                _trim()
            return not busy

    def close(self) -> None:
        with self._lock, self._entrance:
            self._closed = True
            self._close_idle()
            with suppress(OSError):
                _sync(self._log)
                self._flushed = True
            self._close_log()
            self._anchor.close()

    def _close_idle(self) -> None:
        with suppress(IndexError):
            while True:
                self._idle.pop().close()


class _Writing:
    """As `contextmanager` makes it, at half the cost: every write and every audit row pays for it."""

    def __init__(self, steps: Generator[SqliteConnection, None, None]) -> None:
        self._steps = steps

    def __enter__(self) -> SqliteConnection:
        return next(self._steps)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            next(self._steps, None)
        else:
            self._steps.throw(error)


class SqliteConnection(SqlSession):
    """One connection. There is one writer, who takes all."""

    __slots__ = ("_connection", "_seen", "execute", "pauses")

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__()
        self._connection = connection
        self.pauses = False
        """Whether a thread that may pause does so before it reads: nobody waits for it."""
        self._seen: int | None = None
        self.execute = connection.cursor().execute

    def prepare(self) -> None:
        """Let it leave the flushing to us, and the copying of the log as long as we do that."""
        self.execute("PRAGMA synchronous = NORMAL")
        self.execute(f"PRAGMA wal_autocheckpoint = {_TOO_LONG}")

    def begin_writing(self, until: float) -> None:
        """Wait for other processes as long as is left: else, each writer of a queue waits the whole time."""
        left = until - monotonic()
        self.execute(f"PRAGMA busy_timeout = {max(0, int(left * 1000))}")
        try:
            self.execute("BEGIN IMMEDIATE")
        finally:
            self.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")

    def look(self) -> None:
        """Note, inside a transaction, whether another connection wrote since the last committed one."""
        version: int = self.execute("PRAGMA data_version").fetchone()[0]
        self.unchanged = version == self._seen
        self._seen = version

    def distrust(self) -> None:
        """Take what was seen for changed from now on, as after a transaction that was undone."""
        self._seen = None

    def rows(self, sql: str, values: Values = ()) -> list[SqlRow]:
        if self.pauses:
            pause()
        try:
            return self.execute(sql, values).fetchall()
        except sqlite3.OperationalError as error:
            if "decode to UTF-8" not in str(error):  # A column of text holds bytes that nobody wrote here.
                raise
        self._connection.text_factory = _READABLE
        try:
            return self.execute(sql, values).fetchall()
        finally:
            self._connection.text_factory = str

    def run(self, sql: str, values: Values = ()) -> int:
        return self.execute(sql, values).rowcount

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def close(self) -> None:
        self._connection.close()


def _trim() -> None:
    """Give the system back what rewriting the file took: a copy of it in memory, which glibc would keep."""
    import ctypes  # It takes a while to load, and most processes rewrite nothing.

    with suppress(AttributeError, OSError, TypeError):  # Another C library.
        ctypes.CDLL(None).malloc_trim(0)


def _sync(log: int) -> None:
    """As SQLite does it: not when the file was changed, which costs the disk a second write."""
    (os.fdatasync if hasattr(os, "fdatasync") else os.fsync)(log)


def _is_longer(log: int, pages: int) -> bool:
    """Whether the log has more pages. Its file stays long when it begins anew. A frame of today has the
    salts of the header."""
    header = _read_at(log, 0, _LOG_HEADER)
    frame = _FRAME_HEADER + int.from_bytes(header[8:12], "big")
    return header[16:24] == _read_at(log, _LOG_HEADER + pages * frame + 8, 8)


def _read_at(log: int, place: int, size: int) -> bytes:
    """For one thread at a time: Windows has no `pread`."""
    os.lseek(log, place, os.SEEK_SET)
    return os.read(log, size)


def _flush_failure(error: OSError) -> StorageUnavailable:
    if error.errno == errno.ENOSPC:
        return StorageFull("the disk is full")
    return StorageUnavailable(f"the store's log can't be flushed: {error.strerror}")


def _acquire(locks: Sequence[threading.Lock]) -> float | None:
    """Until when other processes may be waited for, if other threads were. Raises: StorageBusy."""
    until = None
    for number, lock in enumerate(locks):
        if lock.acquire(blocking=False):
            continue
        until = until or monotonic() + BUSY_SECONDS
        if not lock.acquire(timeout=max(0.0, until - monotonic())):
            for held in locks[:number]:
                held.release()
            raise StorageBusy("the store is busy")
    return until


def _is_held(error: sqlite3.OperationalError) -> bool:
    """Whether another has what was asked for."""
    return error.sqlite_errorcode & _PRIMARY_CODE in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


@contextmanager
def translated() -> Iterator[None]:
    """SQLite's errors as ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translation(error) from error


def _translation(error: sqlite3.Error) -> StorageUnavailable | IntegrityError:
    code = getattr(error, "sqlite_errorcode", None)
    if code in (sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMMAP):
        return StorageFull("the disk has no room for the store's shared memory")
    match None if code is None else code & _PRIMARY_CODE:
        case sqlite3.SQLITE_FULL:
            return StorageFull("the disk is full")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return StorageReadOnly("the store can't be written")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StorageBusy("the store is busy")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return IntegrityError("the store's file is damaged", hint="Restore it from a backup.")
        case sqlite3.SQLITE_CANTOPEN:
            return StorageReadOnly("the store can't be opened for writing")
        case _:
            return StorageUnavailable(f"the store failed: {error}")
