"""The SQLite engine: one file in WAL mode, one writer at a time, any number of readers.

A commit is on the disk when it returns (synchronous=FULL). Threads of one process share one
writing connection under a lock and draw reading connections from a pool; other processes are
held off by SQLite's own lock, for which we wait.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from mnemon.adapters.sql.engine import SqlRow, Values
from mnemon.errors import (
    IntegrityError,
    StorageBusy,
    StorageFull,
    StorageReadOnly,
    StorageUnavailable,
)

BUSY_SECONDS = 10.0
_SCRUB_BUSY_MS = 2000

_PRIMARY_CODE = 0xFF


class SqliteEngine:
    types: ClassVar[dict[str, str]] = {"blob": "BLOB", "clustered": " WITHOUT ROWID"}

    def __init__(self, path: Path) -> None:
        """Open or create the file.

        Raises: StorageUnavailable and its kind, IntegrityError if the file is no database.
        """
        self._path = path
        self._lock = threading.Lock()
        self._idle: deque[sqlite3.Connection] = deque()
        with translated():
            self._writer = self._connect()
            self._writer.execute("PRAGMA journal_mode = WAL")

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
        return connection

    @contextmanager
    def read(self) -> Iterator[SqliteSession]:
        with translated():
            try:
                connection = self._idle.pop()
            except IndexError:
                connection = self._connect()
            connection.execute("BEGIN")
            try:
                yield SqliteSession(connection)
            finally:
                connection.execute("ROLLBACK")
                self._idle.append(connection)

    @contextmanager
    def write(self) -> Iterator[SqliteSession]:
        with self._lock, translated():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield SqliteSession(self._writer)
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    def reclaim(self) -> bool:
        with self._lock, translated():
            while self._idle:
                self._idle.pop().close()
            self._writer.execute(f"PRAGMA busy_timeout = {_SCRUB_BUSY_MS}")
            try:
                self._writer.execute("VACUUM")
                busy, *_ = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & _PRIMARY_CODE in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                    return False
                raise
            finally:
                self._writer.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
            return not busy

    def close(self) -> None:
        with self._lock:
            while self._idle:
                self._idle.pop().close()
            self._writer.close()


class SqliteSession:
    __slots__ = ("_execute",)

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute

    def rows(self, sql: str, values: Values = ()) -> list[SqlRow]:
        return self._execute(sql, values).fetchall()

    def row(self, sql: str, values: Values = ()) -> SqlRow | None:
        found: SqlRow | None = self._execute(sql, values).fetchone()
        return found

    def run(self, sql: str, values: Values = ()) -> int:
        return self._execute(sql, values).rowcount


@contextmanager
def translated() -> Iterator[None]:
    """SQLite's errors as ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translation(error) from error


def _translation(error: sqlite3.Error) -> StorageUnavailable | IntegrityError:
    code = getattr(error, "sqlite_errorcode", None)
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
