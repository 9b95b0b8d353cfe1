"""The PostgreSQL engine: a pool of connections, one writer per workspace, row-level security around each.

A reader has one snapshot. A writer first takes locks that last as long as its transaction: a writer of one
workspace shares the lock of all and has that workspace's alone; a writer of all has the lock of all alone.
So the statements, which are written for one writer, meet one in each workspace. The workspace that a
transaction names is also told to PostgreSQL, whose policies hide the rows of all others (`schema`).
"""

from __future__ import annotations

import threading
from array import array
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import lru_cache
from hashlib import blake2b
from typing import Any, ClassVar

import psycopg
from psycopg import errors
from psycopg import sql as quoting
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import Int8BinaryDumper

from souvenance.adapters.sql.engine import (
    COMPARTMENT,
    PLACE,
    SealedVectors,
    SqlRow,
    SqlSession,
    Values,
    Vectors,
    noted_form,
)
from souvenance.adapters.sql.schema import (
    CHANNEL,
    TABLES,
    WORKSPACE_SETTING,
    postgres_differences,
    separate_workspaces,
    tell_jobs,
)
from souvenance.domain.embedding import AUTO, PGVECTOR, SEALED
from souvenance.domain.names import ALL, Compartment
from souvenance.domain.seal import unpack
from souvenance.errors import (
    IntegrityError,
    Misconfigured,
    SouvenanceError,
    StorageBusy,
    StorageFull,
    StorageReadOnly,
    StorageUnavailable,
)
from souvenance.patterns import pattern
from souvenance.ports.store import Difference

_HINT = "Check that the database server runs and can be reached. Everything that was acknowledged is safe."
_BUSY = (
    errors.LockNotAvailable,
    errors.DeadlockDetected,
    errors.SerializationFailure,
    errors.TooManyConnections,
    errors.QueryCanceled,
)
_DAMAGED = (errors.DataCorrupted, errors.IndexCorrupted)
_READ_ONLY = (errors.ReadOnlySqlTransaction, errors.InsufficientPrivilege)
_FATAL = pattern(r"FATAL: +([^\n]*)")
"""What a server says that does not let one in: about the role or the database, never the password."""
_BEYOND = "new row violates row-level security policy"


def translation(error: psycopg.Error) -> SouvenanceError:
    """What went wrong; the text of statements, values and passwords is not told."""
    said = error.diag.message_primary or ""
    if isinstance(error, errors.DiskFull):
        return StorageFull(
            "the database's disk is full",
            hint="Free some space there. This request was not stored; all acknowledged before is safe.",
        )
    if said.startswith(_BEYOND):
        return IntegrityError("a write reached beyond its workspace", hint="Please report this.")
    if isinstance(error, _READ_ONLY):
        return StorageReadOnly(
            f"the database can't be written: {said}", hint="Connect to the primary, as the tables' owner."
        )
    if isinstance(error, _BUSY):
        return StorageBusy("the database is busy")
    if isinstance(error, _DAMAGED):
        return IntegrityError("the database is damaged", hint="Restore it from a backup.")
    refusal = _FATAL.search(str(error))
    if refusal is not None and error.sqlstate is None:
        return StorageUnavailable(f"the database refuses the connection: {refusal[1]}", hint=_HINT)
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return StorageUnavailable("the database can't be reached", hint=_HINT)
    return StorageUnavailable(f"the database failed: {said or type(error).__name__}", hint=_HINT)


BUSY_SECONDS = 10
MOST_CONNECTIONS = 20
OLDEST_SERVER = 15
_CONNECT_SECONDS = 5
_RETRY_SECONDS = 1.0
_LOOK_SECONDS = 0.2
"""How often a thread that listens looks whether it is to end."""
_FORGOTTEN_SECONDS = 60
"""After so long a transaction whose process says nothing is given up, and its locks with it."""

_ON_CONNECT = f"""SET idle_in_transaction_session_timeout = '{_FORGOTTEN_SECONDS}s';
    SET client_encoding = 'UTF8'; SET client_min_messages = 'error'"""
_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
_NEED_NOT_LAST = "SET LOCAL synchronous_commit = off"

_COLUMNS = """SELECT c.relname, a.attname,
    COALESCE(array_position(i.indkey::int2[], a.attnum) + 1, 0)
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
    ORDER BY c.relname, a.attnum"""
_AS_OURSELVES = "SET LOCAL ROLE NONE"
"""The role that works behind the policies may not set what counts."""
_RESUME_SERIAL = """SELECT setval(pg_get_serial_sequence('jobs', 'seq'),
    (SELECT COALESCE(MAX(seq), 0) + 1 FROM jobs), false)"""


class PostgresEngine:
    columns = _COLUMNS
    types: ClassVar[dict[str, str]] = {
        "blob": "BYTEA",
        "serial": "BIGINT GENERATED BY DEFAULT AS IDENTITY",
        "clustered": "",
        "text": 'TEXT COLLATE "C"',
    }

    def __init__(
        self,
        url: str,
        *,
        most: int = MOST_CONNECTIONS,
        patience: float = BUSY_SECONDS,
        vectors: str | None = None,
    ) -> None:
        """Connect to the database of that address, with at most so many connections.

        A writer waits so many seconds for the one before, and everybody for a connection. `vectors` is how
        they are to be kept, as `settle_vectors` is told.

        Raises: Misconfigured if it is no address or no database for a store, StorageUnavailable and its kind.
        """
        try:
            given = conninfo_to_dict(url)
        except psycopg.ProgrammingError:
            raise Misconfigured(
                "the store's address can't be read",
                hint="Write it as postgresql://USER:PASSWORD@HOST:5432/DATABASE.",
            ) from None
        self._how: dict[str, Any] = {
            "connect_timeout": _CONNECT_SECONDS,
            "application_name": "souvenance",
            "tcp_user_timeout": 1000 * _FORGOTTEN_SECONDS,
            **given,
        }
        self._patience = patience
        self._free = threading.BoundedSemaphore(most)
        self._idle: deque[PostgresSession] = deque()
        self._closed = False
        self._role: str | None = None
        self._asked = vectors
        self._compares = False
        with ExitStack() as otherwise:
            otherwise.callback(self.close)
            with self._session("SELECT 1") as session:
                self._check(session)
            otherwise.pop_all()

    def _check(self, session: PostgresSession) -> None:
        version = session.connection.info.server_version // 10000
        if version < OLDEST_SERVER:
            raise Misconfigured(f"the store's server is PostgreSQL {version}; {OLDEST_SERVER} is the oldest")
        encoding = session.connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise Misconfigured(
                f"the store's database is encoded in {encoding}", hint="Make one with ENCODING 'UTF8'."
            )

    def read(self, workspace: str = ALL) -> AbstractContextManager[PostgresSession]:
        return self._session("; ".join((_READ, *self._begin_with(workspace))))

    def write(self, workspace: str = ALL, *, lasting: bool = True) -> AbstractContextManager[PostgresSession]:
        return self._writing(workspace, _locks(workspace), lasting=lasting)

    def claim(self) -> AbstractContextManager[PostgresSession]:
        """Without the locks of writers: the rows that are claimed are taken one by one."""
        return self._writing(ALL, (), lasting=False)

    def _writing(
        self, workspace: str, locks: Sequence[str], *, lasting: bool
    ) -> AbstractContextManager[PostgresSession]:
        last = () if lasting else (_NEED_NOT_LAST,)
        return self._session("; ".join((_WRITE, *last, *self._begin_with(workspace), *locks)), commits=True)

    @contextmanager
    def _session(self, script: str, *, commits: bool = False) -> Iterator[PostgresSession]:
        """A session that begins with the script. Its transaction is committed at the end, or undone."""
        if not self._free.acquire(timeout=self._patience):
            raise StorageBusy("all connections to the database are in use")
        try:
            session = self._begun(script)
            try:
                yield session
                if commits:
                    session.commit()
            except psycopg.Error as error:
                raise translation(error) from error
            finally:
                session.undo()
                session.attached = None
                self._keep(session)
        finally:
            self._free.release()

    def fortify(self, session: SqlSession) -> None:
        self._compares = settle_vectors(session, self._asked) == PGVECTOR
        self._role = separate_workspaces(session)
        tell_jobs(session)

    @contextmanager
    def listening(self, heard: Callable[[], None]) -> Iterator[bool]:
        """Call back meanwhile, in a thread of its own, whenever jobs may have been added anywhere."""
        over = threading.Event()
        thread = threading.Thread(
            target=self._listen, args=(heard, over), name="souvenance-listen", daemon=True
        )
        thread.start()
        try:
            yield True
        finally:
            over.set()
            thread.join()

    def _listen(self, heard: Callable[[], None], over: threading.Event) -> None:
        """A lost connection is made again, and then it calls back too: something may have been missed."""
        while not over.is_set():
            try:
                with closing(self._connect().connection) as connection:
                    connection.execute(f"LISTEN {CHANNEL}".encode())
                    heard()
                    while not over.is_set():
                        if list(connection.notifies(timeout=_LOOK_SECONDS, stop_after=1)):
                            heard()
            except (SouvenanceError, psycopg.Error):
                over.wait(_RETRY_SECONDS)

    def vectors(self, session: SqlSession) -> Vectors:
        if self._compares:
            return PlainVectors(session)
        return SealedVectors(session, SEALED_ONLY)

    def differences(self, session: SqlSession) -> list[Difference]:
        return postgres_differences(session)

    def resume(self, session: SqlSession) -> None:
        session.run(_AS_OURSELVES)
        session.rows(_RESUME_SERIAL)

    def reclaim(self) -> bool:
        """Make the compartment of deleted rows free to be written over; False if another process is at it.

        What was deleted stays in the server's log, and in its free pages until something is written there.
        """
        with self._session("SELECT 1") as session:
            tables = ", ".join(sorted(table for (table,) in session.rows(TABLES)))
            try:
                session.connection.execute(f"VACUUM (INDEX_CLEANUP ON) {tables}".encode())
            except psycopg.errors.LockNotAvailable:
                return False
        return True

    def close(self) -> None:
        self._closed = True
        while self._idle:
            self._idle.pop().connection.close()

    def _begun(self, script: str) -> PostgresSession:
        """A session in a transaction that began so; a connection that broke while it was idle is replaced."""
        while True:
            known, session = self._take()
            try:
                session.connection.execute(script.encode())
            except psycopg.Error as error:
                session.undo()
                self._keep(session)
                if known and session.connection.closed:
                    continue
                raise translation(error) from error
            return session

    def _begin_with(self, workspace: str) -> list[str]:
        role = [] if self._role is None else [f"SET LOCAL ROLE {self._role}"]
        quoted = quoting.Literal(workspace).as_string(None)
        return [*role, f"SELECT set_config('{WORKSPACE_SETTING}', {quoted}, true)"]

    def _take(self) -> tuple[bool, PostgresSession]:
        """A session, and whether it was there before."""
        if self._closed:
            raise StorageUnavailable("the store is closed")
        try:
            return True, self._idle.pop()
        except IndexError:
            return False, self._connect()

    def _keep(self, session: PostgresSession) -> None:
        if self._closed:
            session.connection.close()
        elif not session.connection.closed:
            self._idle.append(session)

    def _connect(self) -> PostgresSession:
        try:
            connection = psycopg.Connection.connect(
                **self._how, autocommit=True, cursor_factory=psycopg.RawCursor
            )
        except psycopg.Error as error:
            raise translation(error) from error
        try:
            connection.adapters.register_dumper(int, Int8BinaryDumper)
            connection.execute(_ON_CONNECT.encode())
            connection.execute(f"SET lock_timeout = {round(1000 * self._patience)}".encode())
            if connection.execute("SHOW synchronous_commit").fetchone() == ("off",):
                connection.execute("SET synchronous_commit = on")
        except psycopg.Error as error:
            connection.close()
            raise translation(error) from error
        return PostgresSession(connection)


class PostgresSession(SqlSession):
    """One connection. It remembers nothing of its transactions."""

    __slots__ = ("_cursor", "connection")

    taking: ClassVar[str] = " FOR UPDATE SKIP LOCKED"

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        super().__init__()
        self.connection = connection
        self._cursor = connection.cursor(binary=True)

    def rows(self, sql: str, values: Values = ()) -> list[SqlRow]:
        return self._cursor.execute(_numbered(sql), values).fetchall()

    def run(self, sql: str, values: Values = ()) -> int:
        return self._cursor.execute(_numbered(sql), values).rowcount

    def commit(self) -> None:
        """Raises: StorageUnavailable if PostgreSQL gave the transaction up before."""
        if self.connection.info.transaction_status is TransactionStatus.INERROR:
            raise StorageUnavailable("the store gave the transaction up")
        self.connection.execute("COMMIT")

    def undo(self) -> None:
        """End the transaction, or, where that can't be done, the connection."""
        if self.connection.closed or self.connection.info.transaction_status is TransactionStatus.IDLE:
            return
        try:
            self.connection.execute("ROLLBACK")
        except psycopg.Error:
            self.connection.close()


def _locks(workspace: str) -> tuple[str, ...]:
    """What a writer waits for: always in this order, so that no two wait for each other."""
    everything = _lock_key(ALL)
    if workspace == ALL:
        return (f"SELECT pg_advisory_xact_lock({everything})",)
    return (
        f"SELECT pg_advisory_xact_lock_shared({everything})",
        f"SELECT pg_advisory_xact_lock({_lock_key(workspace)})",
    )


def _lock_key(workspace: str) -> int:
    """A number for the workspace; two that have the same one only wait for each other."""
    hashed = blake2b(workspace.encode(), digest_size=8, person=b"souvenance")
    return int.from_bytes(hashed.digest(), "big", signed=True)


@lru_cache(512)
def _numbered(sql: str) -> bytes:
    """The statement with PostgreSQL's own parameters; no text of ours holds a question mark."""
    first, *rest = sql.split("?")
    return (first + "".join(f"${number}{part}" for number, part in enumerate(rest, 1))).encode()


SEALED_ONLY = " AND length(v.sealed) > 0"
"""What finds the sealed vectors where there may be others."""

_OLDEST_PGVECTOR = (0, 8)
_UNAVAILABLE = (errors.FeatureNotSupported, errors.UndefinedFile, errors.InsufficientPrivilege)
_VERSION = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
_HAS_TYPE = "SELECT 1 WHERE to_regtype('vector') IS NOT NULL"
_HAS_COLUMN = """SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('vectors') AND attname = 'place'
    AND NOT attisdropped"""
_HAS_SEALED = "SELECT 1 FROM vectors WHERE length(sealed) > 0 LIMIT 1"
_KEEP_VECTOR = f"""INSERT INTO vectors ({PLACE}, space, seq, id, sealed, place)
    VALUES (?, ?, ?, ?, ?, ?, '', CAST(? AS vector))"""
_IN_COMPARTMENT = f"{COMPARTMENT} AND space = ? AND vector_dims(place) = {{size}}"
_COMPARE = f"""SELECT id, near FROM (SELECT id, -(place <#> CAST(? AS vector)) AS near FROM vectors
    WHERE {_IN_COMPARTMENT} OFFSET 0) AS compared WHERE near > 0"""
_PLACE = f"""SELECT CAST(place AS real[]) FROM vectors
    WHERE {COMPARTMENT} AND space = ? AND id = ? AND place IS NOT NULL"""


def settle_vectors(session: SqlSession, asked: str | None) -> str:
    """In which form vectors are kept from now on; the store notes what it was told, and goes by that later.

    Left to the store (`AUTO`), they stay sealed where they are, and go into the clear where there are none.
    Where none will be made (None) nothing is changed. Raises: Misconfigured.
    """
    noted = noted_form(session)
    if asked is None:
        return SEALED if noted == SEALED or session.row(_HAS_COLUMN) is None else PGVECTOR
    form = asked
    if form == AUTO:
        form = noted or (PGVECTOR if session.row(_HAS_SEALED) is None else SEALED)
    if form == PGVECTOR:
        _install(session)
    if form != noted:
        session.run("DELETE FROM vector_form")
        session.run("INSERT INTO vector_form (form) VALUES (?)", (form,))
    return form


def _install(session: SqlSession) -> None:
    """Make the extension and the column, as far as they are missing. Raises: Misconfigured."""
    version = session.value(_VERSION)
    if version is None:
        try:
            session.run("CREATE EXTENSION vector")
        except _UNAVAILABLE as error:
            raise Misconfigured(
                f"the database has no pgvector: {error.diag.message_primary}",
                hint="Install pgvector on its server and run CREATE EXTENSION vector there as a superuser; "
                "or set SOUVENANCE_VECTORS=sealed to have each server compare vectors that stay sealed, "
                "or SOUVENANCE_VECTORS=none to keep none.",
            ) from None
        version = session.value(_VERSION)
    if tuple(int(part) for part in version.split(".")[:2] if part.isdigit()) < _OLDEST_PGVECTOR:
        raise Misconfigured(
            f"the database's pgvector is {version}; 0.8.0 is the oldest",
            hint="Install a newer one on its server and run ALTER EXTENSION vector UPDATE.",
        )
    if session.row(_HAS_TYPE) is None:
        raise Misconfigured(
            "pgvector is in a schema of the database that is not looked into",
            hint="Add its schema to the search_path of the role that connects.",
        )
    if session.row(_HAS_COLUMN) is None:
        session.run("ALTER TABLE vectors ADD COLUMN place vector")


class PlainVectors:
    """The vectors of one transaction, in the clear, in a column beside that of the sealed ones.

    pgvector compares a compartment line by line, and so exactly, however many vectors others have.
    """

    form = PGVECTOR
    kept = " AND v.place IS NOT NULL"

    def __init__(self, session: SqlSession) -> None:
        self._session = session

    @property
    def comparing(self) -> PlainVectors:
        return self

    def keep(self, place: Values, vector: bytes) -> None:
        self._session.run(_KEEP_VECTOR, (*place, _literal(unpack(vector))))

    def near(
        self, compartment: Compartment, space: str, question: bytes, most: int | None = None
    ) -> list[tuple[str, float]]:
        asked = array("f", question)
        sql, values = _COMPARE.format(size=len(asked)), [_literal(asked), *compartment, space]
        if most is not None:
            sql += f" ORDER BY near DESC LIMIT {most}"
        return [(line_id, near) for line_id, near in self._session.rows(sql, values)]

    def place(self, compartment: Compartment, space: str, line_id: str) -> bytes | None:
        found = self._session.value(_PLACE, (*compartment, space, line_id))
        return None if found is None else array("f", found).tobytes()


def _literal(components: array[float]) -> str:
    return f"[{','.join(map(repr, components))}]"
