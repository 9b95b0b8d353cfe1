"""Schemas compared: what is in a database, and what the migrations make in memory, once in a process."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing
from functools import lru_cache
from typing import NamedTuple, TypeVar

from souvenance.adapters.sql.engine import SqlSession
from souvenance.adapters.sql.migrations import make
from souvenance.adapters.sql.sqlite import SqliteConnection, SqliteEngine
from souvenance.ports.store import Difference


class Object(NamedTuple):
    """Something that a schema has: its kind, its name, and the table it belongs to, if that is needed."""

    kind: str
    name: str
    table: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name!a}" + (f" of table {self.table!a}" if self.table else "")


Schema = Mapping[Object, str | None]
"""The definition of each object."""

_OF_TABLE = {"trigger", "rule", "policy"}
_PARTS = {"column", "constraint"}


def compared(expected: Schema, found: Schema, harmless: Collection[str] = ()) -> list[Difference]:
    """How what was found differs from what was expected; things of these kinds can't keep copies of rows."""
    missing = sorted(expected.keys() - found.keys())
    return [
        *_foreign(expected, found, harmless),
        *(Difference(f"{one} is missing", "", foreign=False) for one in missing),
    ]


def _foreign(expected: Schema, found: Schema, harmless: Collection[str]) -> Iterator[Difference]:
    for one, definition in sorted(found.items()):
        if one not in expected:
            remedy = _removal(one)
            yield Difference(f"{one} is not part of this store", remedy, foreign=one.kind not in harmless)
        elif definition != expected[one]:
            yield Difference(f"{one} was altered", "", foreign=one.kind not in harmless)


def _removal(one: Object) -> str:
    """The statement that removes it."""
    name, table = _quoted(one.name), _quoted(one.table)
    if one.kind in _PARTS:
        return f"ALTER TABLE {table} DROP {one.kind.upper()} {name}"
    return f"DROP {one.kind.upper()} {name}" + (f" ON {table}" if one.kind in _OF_TABLE and one.table else "")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


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
