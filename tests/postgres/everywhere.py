"""A plugin that gives PostgreSQL to every test that would have a store in a file.

pytest -p postgres.everywhere tests/conversation tests/gate tests/honcho tests/signin
"""

from __future__ import annotations

import atexit
import tempfile
from functools import cache
from pathlib import Path

from mnemon.adapters.sql.postgres import PostgresEngine
from mnemon.adapters.sql.sqlite import SqliteEngine
from postgres.server import Server


@cache
def server() -> Server:
    one = Server(Path(tempfile.gettempdir()))
    atexit.register(one.remove)
    return one


@cache
def database_of(path: Path) -> str:
    """The database that stands for a file, the same one each time."""
    return server().url(server().create())


def engine_of(kind: type, path: Path) -> PostgresEngine:
    return PostgresEngine(database_of(path))


SqliteEngine.__new__ = engine_of  # type: ignore[assignment,method-assign]
