"""The schema of a SQLite file, and the one that the migrations make: in memory, once in a process."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import lru_cache
from typing import TypeVar

from souvenance.adapters.sql.engine import SqlSession
from souvenance.adapters.sql.migrations import make
from souvenance.adapters.sql.schema import Object, Schema
from souvenance.adapters.sql.schema import differences as compared
from souvenance.adapters.sql.sqlite import SqliteConnection, SqliteEngine
from souvenance.ports.store import Difference

_Read = TypeVar("_Read")

_OBJECTS = "SELECT type, name, sql FROM sqlite_master"
_STATISTICS = (Object("table", "sqlite_stat1"), "CREATE TABLE sqlite_stat1(tbl,idx,stat)")
"""What ANALYZE leaves: numbers of rows."""


def differences(session: SqlSession) -> list[Difference]:
    """How this file's schema differs from the one that the migrations make."""
    return compared(_expected(), _objects(session))


def made(read: Callable[[SqliteConnection], _Read]) -> _Read:
    """What is read from an empty store that the migrations make in memory."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        session = SqliteConnection(connection)
        make(session, SqliteEngine.types)
        return read(session)


@lru_cache(1)
def _expected() -> Schema:
    return made(_objects)


def _objects(session: SqlSession) -> Schema:
    found = [(Object(kind, name), _in_one_line(sql)) for kind, name, sql in session.rows(_OBJECTS)]
    return dict(one for one in found if one != _STATISTICS)


def _in_one_line(sql: str | None) -> str | None:
    return None if sql is None else " ".join(sql.split())
