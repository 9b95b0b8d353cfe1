"""The schema: numbered migrations, and how a database differs from what they make.

Migrations are applied once, in order, each with its hash; forward only. What they make is read from an empty
SQLite database in memory, once in a process.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, TypeVar

from msgspec import Struct

from souvenance.adapters.sql.engine import Engine, SqlSession
from souvenance.adapters.sql.sqlite import SqliteConnection, SqliteEngine
from souvenance.errors import Misconfigured
from souvenance.patterns import pattern
from souvenance.ports.store import Difference

_TEXT = pattern(r"\bTEXT\b")
_TABLE = """CREATE TABLE IF NOT EXISTS migrations (
    number BIGINT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL)"""


class Migration(Struct, frozen=True):
    number: int
    name: str
    text: str

    @property
    def hash(self) -> str:
        return sha256(self.text.encode()).hexdigest()


UNFINISHED = 1_000_000
"""The number of the migration that an unfinished copy of a store claims."""


def shipped() -> list[Migration]:
    """The migrations of this version, in order."""
    folder = Path(__file__).parent / "migrations"
    names = sorted(name for name in os.listdir(folder) if name.endswith(".sql"))
    return [Migration(int(name[:4]), name, (folder / name).read_bytes().decode()) for name in names]


def migrate(engine: Engine, migrations: Sequence[Migration] | None = None) -> None:
    """Bring the schema up to this version, or to these migrations, as the only writer.

    Raises: Misconfigured if the store was written by a newer version or by altered migrations.
    """
    known = shipped() if migrations is None else migrations
    with engine.write() as session:
        session.run(_TABLE)
        applied = session.rows("SELECT number, name, hash FROM migrations ORDER BY number")
        if applied and applied[-1][0] == UNFINISHED:
            raise Misconfigured(
                "the copy of another store into this one is not finished",
                hint="Run the same 'souvenance migrate' again.",
            )
        if len(applied) > len(known):
            raise Misconfigured(
                f"the store has migration {applied[-1][1]}, which this version does not know",
                hint="Upgrade Souvenance; a store is never taken back to an older schema.",
            )
        for (_, name, found), migration in zip(applied, known, strict=False):
            if found != migration.hash:
                raise Misconfigured(f"migration {name} differs from the one this store was made with")
        for migration in known[len(applied) :]:
            _apply(session, migration, engine.types)
        engine.fortify(session)


def make(session: SqlSession, types: Mapping[str, str]) -> None:
    """Make the schema of this version in a database that has nothing yet."""
    session.run(_TABLE)
    for migration in shipped():
        _apply(session, migration, types)


def _apply(session: SqlSession, migration: Migration, types: Mapping[str, str]) -> None:
    for statement in migration.text.split(";\n"):
        if statement.strip():
            session.run(_TEXT.sub(types["text"], statement.format_map(types)))
    session.run(
        "INSERT INTO migrations (number, name, hash) VALUES (?, ?, ?)",
        (migration.number, migration.name, migration.hash),
    )


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
