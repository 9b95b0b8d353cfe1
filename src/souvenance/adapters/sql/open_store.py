"""Opens a store in a file or in a database."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from souvenance.adapters.sql.engine import Engine
from souvenance.adapters.sql.sqlite import SqliteEngine
from souvenance.errors import Misconfigured
from souvenance.extras import install


def in_file(path: Path) -> Engine:
    """Make the file before SQLite does, so that it and the files beside it are the owner's alone.

    One that is there is not touched: to close it would drop the locks of whoever has it open in this process.

    Raises: as `SqliteEngine`.
    """
    with suppress(OSError):  # It is there, or SQLite says why it can't be made, and that is translated.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    return SqliteEngine(path)


def in_database(address: str, *, vectors: str | None = None) -> Engine:
    """`vectors` says how they are to be kept, if any will be made.

    Raises: Misconfigured, also if what speaks to PostgreSQL is not installed; as `PostgresEngine`."""
    try:
        from souvenance.adapters.sql.postgres import PostgresEngine
    except ImportError:
        raise Misconfigured(
            "a store in PostgreSQL needs psycopg, which is not installed",
            hint=f"Run: {install('postgres')}",
        ) from None
    return PostgresEngine(address, vectors=vectors)
