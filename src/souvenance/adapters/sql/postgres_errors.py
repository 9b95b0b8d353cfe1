"""PostgreSQL's errors as ours."""

from __future__ import annotations

import psycopg
from psycopg import errors

from souvenance.errors import (
    IntegrityError,
    SouvenanceError,
    StorageBusy,
    StorageFull,
    StorageReadOnly,
    StorageUnavailable,
)
from souvenance.patterns import pattern

_HINT = "Check that the database's server runs and can be reached; nothing acknowledged was lost."
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
            hint="Free space there; nothing acknowledged was lost, this request was not stored.",
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
